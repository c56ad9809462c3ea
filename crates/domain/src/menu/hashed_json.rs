//! `HashedJson`: JSON of which a store keeps each text once, found by its hash. A clone shares the text.

use std::sync::Arc;

use super::content_hash;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashedJson {
    text: Arc<str>,
    hash: i64,
}

impl HashedJson {
    /// `json` is JSON that `jsonb` takes.
    pub fn new(json: String) -> HashedJson {
        HashedJson { hash: content_hash::of_text(&json), text: json.into() }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Hash of the text alone: key order and white space count.
    pub fn hash(&self) -> i64 {
        self.hash
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_kept_and_decides_the_hash() {
        let json = HashedJson::new("[1, 2]".to_owned());
        assert_eq!((json.as_str(), json.hash()), ("[1, 2]", content_hash::of_text("[1, 2]")));
        assert_ne!(json.hash(), HashedJson::new("[1,2]".to_owned()).hash());
    }
}

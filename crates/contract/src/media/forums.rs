//! Forums, whose watched threads `forum_scrape` reads.

use chrono::{DateTime, Utc};
use url::Url;

use super::Fields;
use super::record::record;
use crate::checks::{BadField, bad, check_text};
use domain::media::forum::{ForumKind, SelectorOverrides};
use domain::vocabulary::Word;

/// Maximum bytes of an address.
const MAX_URL: usize = 500;

record! {
    Forums: Forum {
        /// The source of its items, and the platform of its credential.
        name: String,
        #[schema(value_type = ForumKind)]
        kind: Word<ForumKind>,
        base_url: String,
        /// The credential that its pages need; null: guests may read it.
        credential_id: Option<i64>,
        selectors: SelectorOverrides,
        created_at: DateTime<Utc>,
        updated_at: DateTime<Utc>,
    }
    draft ForumDraft {
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        name: String,
        kind: ForumKind,
        /// Address below which its pages are: `https://forum.example/board`.
        #[schema(max_length = 500, example = "https://forum.example/")]
        base_url: String,
        /// A credential whose platform is the forum's name: cookies or, for Discourse, an api_key with a user name, or a
        /// user's token.
        credential_id: Option<i64>,
        /// Discourse has none.
        #[serde(default)]
        selectors: SelectorOverrides,
    }
    /// A change of the name or the kind requires another forum.
    change ForumChange {
        #[schema(max_length = 500, example = "https://forum.example/")]
        base_url: String,
        /// Null: guests may read it.
        credential_id: Option<i64>,
        selectors: SelectorOverrides,
    }
}

impl Fields for ForumDraft {
    fn check(&self) -> Result<(), BadField> {
        check_text("name", Some(&self.name))?;
        check_base_url(&self.base_url)?;
        match self.kind == ForumKind::Discourse && self.selectors != SelectorOverrides::default() {
            true => Err(bad("selectors", "Discourse answers in JSON and has none: leave them out")),
            false => Ok(()),
        }
    }

    fn address(&self) -> Option<(&'static str, &str)> {
        Some(("base_url", &self.base_url))
    }

    fn selectors(&self) -> Option<&SelectorOverrides> {
        Some(&self.selectors)
    }
}

impl Fields for ForumChange {
    fn check(&self) -> Result<(), BadField> {
        self.check_not_empty("base_url")?;
        self.base_url.as_deref().map_or(Ok(()), check_base_url)
    }

    fn address(&self) -> Option<(&'static str, &str)> {
        Some(("base_url", self.base_url.as_deref()?))
    }

    fn selectors(&self) -> Option<&SelectorOverrides> {
        self.selectors.as_ref()
    }
}

fn check_base_url(text: &str) -> Result<(), BadField> {
    let fault = match Url::parse(text) {
        _ if text.len() > MAX_URL => format!("is longer than {MAX_URL} bytes"),
        Ok(url) if !matches!(url.scheme(), "http" | "https") => "must begin with https:// or http://".to_owned(),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => {
            "has a user name or a password in it: keep them as a credential".to_owned()
        }
        Ok(url) if url.query().is_some() || url.fragment().is_some() => "must end before ? and #".to_owned(),
        Ok(_) => return Ok(()),
        Err(error) => format!("is not an address: {error}"),
    };
    Err(bad("base_url", fault))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn draft(kind: &str, changes: Value) -> Result<(), BadField> {
        let mut draft = json!({"name": "board", "kind": kind, "base_url": "https://forum.example/board"});
        draft.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        serde_json::from_value::<ForumDraft>(draft).unwrap().check()
    }

    #[rstest]
    #[case::an_address("phpbb", json!({}), None)]
    #[case::selectors("xenforo", json!({"selectors": {"post": "li.reply"}}), None)]
    #[case::selectors_of_discourse("discourse", json!({"selectors": {"post": "li"}}), Some("selectors"))]
    #[case::a_file("phpbb", json!({"base_url": "file:///etc/passwd"}), Some("base_url"))]
    #[case::a_word("phpbb", json!({"base_url": "forum"}), Some("base_url"))]
    #[case::a_log_in("phpbb", json!({"base_url": "https://ann:secret@forum.example"}), Some("base_url"))]
    #[case::a_query("phpbb", json!({"base_url": "https://forum.example/viewtopic.php?t=1"}), Some("base_url"))]
    #[case::long("phpbb", json!({"base_url": format!("https://forum.example/{}", "a".repeat(500))}), Some("base_url"))]
    #[case::a_line_break("phpbb", json!({"name": "a\nb"}), Some("name"))]
    fn a_forum_is_checked(#[case] kind: &str, #[case] changes: Value, #[case] fault: Option<&str>) {
        assert_eq!(draft(kind, changes).err().map(|bad| bad.field), fault);
    }

    #[test]
    fn no_refusal_repeats_a_password() {
        let refused = draft("phpbb", json!({"base_url": "https://ann:canary@forum.example"})).unwrap_err();
        assert!(!refused.to_string().contains("canary"), "{refused}");
    }
}

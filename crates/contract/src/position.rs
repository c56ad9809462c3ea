//! `Position`: the end of a page of a list that is not ordered by descending ids. Clients send it back as
//! they received it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};

const NO_POSITION: &str = "not a cursor of this list";
const NUL: &[u8] = b"\\u0000";

/// The next page begins after this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position<T>(pub T);

impl<T: Serialize> Position<T> {
    pub fn text(&self) -> String {
        // an unwritable position would lead to no page; none is, since all are numbers and texts
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&self.0).unwrap_or_default())
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Position<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = URL_SAFE_NO_PAD.decode(String::deserialize(deserializer)?).ok();
        // a NUL character, which no text of the database holds
        let bytes = bytes.filter(|bytes| !bytes.windows(NUL.len()).any(|window| window == NUL));
        let position = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        position.map(Position).ok_or_else(|| D::Error::custom(NO_POSITION))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;
    use crate::products::ProductCursor;

    #[test]
    fn a_position_reads_back_and_that_of_another_list_does_not() {
        let ended = Position(ProductCursor { number: -7, text: "ä b".to_owned(), id: i64::MAX });
        assert_eq!(from_value::<Position<ProductCursor>>(json!(ended.text())).unwrap(), ended);
        assert!(from_value::<Position<ProductCursor>>(json!(Position(7_i64).text())).is_err());
        assert!(from_value::<Position<i64>>(json!("")).is_err());
        let nul = Position(ProductCursor { number: 0, text: "a\0".to_owned(), id: 0 });
        assert!(from_value::<Position<ProductCursor>>(json!(nul.text())).is_err());
    }
}

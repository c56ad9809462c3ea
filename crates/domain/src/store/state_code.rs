//! `StateCode`: the two letters of a US state, and such letters elsewhere. In: text in any letter case. Out:
//! capital letters. It must not know which states there are.

use std::fmt::{self, Display, Formatter};
use std::ops::Deref;
use std::str::FromStr;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct StateCode(String);

#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("must be two letters, for example AZ")]
pub struct NotAStateCode;

/// Two letters, as capitals; None: the text is something else.
pub fn two_letters(text: &str) -> Option<String> {
    let is_code = text.len() == 2 && text.bytes().all(|letter| letter.is_ascii_alphabetic());
    is_code.then(|| text.to_ascii_uppercase())
}

/// The two letters by which a list is filtered, for `deserialize_with`.
pub fn optional_letters<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    two_letters(&text).map(Some).ok_or_else(|| D::Error::custom("not two letters such as AZ"))
}

impl FromStr for StateCode {
    type Err = NotAStateCode;

    fn from_str(text: &str) -> Result<StateCode, NotAStateCode> {
        two_letters(text).map(StateCode).ok_or(NotAStateCode)
    }
}

impl TryFrom<String> for StateCode {
    type Error = NotAStateCode;

    fn try_from(text: String) -> Result<StateCode, NotAStateCode> {
        text.parse()
    }
}

impl Deref for StateCode {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Display for StateCode {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::capital("AZ", Some("AZ"))]
    #[case::small("az", Some("AZ"))]
    #[case::a_name("Arizona", None)]
    #[case::a_number("A1", None)]
    #[case::two_bytes("ñ", None)]
    #[case::nothing("", None)]
    fn a_state_is_two_letters_in_any_case(#[case] text: &str, #[case] code: Option<&str>) {
        assert_eq!(text.parse::<StateCode>().ok().as_deref(), code);
    }

    #[derive(serde::Deserialize)]
    struct Filter {
        #[serde(default, deserialize_with = "optional_letters")]
        state: Option<String>,
    }

    #[rstest]
    #[case::none("{}", Ok(None))]
    #[case::small(r#"{ "state": "az" }"#, Ok(Some("AZ")))]
    #[case::a_name(r#"{ "state": "Arizona" }"#, Err("not two letters such as AZ"))]
    fn a_list_may_be_filtered_by_two_letters(#[case] request: &str, #[case] expected: Result<Option<&str>, &str>) {
        match (serde_json::from_str::<Filter>(request), expected) {
            (Ok(filter), Ok(state)) => assert_eq!(filter.state.as_deref(), state),
            (Err(error), Err(why)) => assert!(error.to_string().starts_with(why), "{error}"),
            (read, expected) => panic!("{:?}, not {expected:?}", read.map(|filter| filter.state)),
        }
    }

    #[test]
    fn a_code_is_shown_as_its_letters() {
        assert_eq!("az".parse::<StateCode>().unwrap().to_string(), "AZ");
    }
}

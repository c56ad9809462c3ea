//! Closed vocabularies: enums whose variants are words in the database and in JSON, such as `payload_fetch`.
//!
//! In: the variants. Out: their words, lists and `Display`, derived by `strum`, so that no list has to be
//! kept beside the enum. It must not know what a word means.

use std::fmt::{Display, Formatter, Result};

use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// An enum of words, and all that such an enum can do. The crate that calls it needs serde, strum and utoipa.
#[macro_export]
macro_rules! vocabulary {
    ($(#[$($about:tt)*])* pub enum $name:ident { $($(#[$($meaning:tt)*])* $variant:ident,)+ }) => {
        #[derive(
            Clone,
            Copy,
            Debug,
            PartialEq,
            Eq,
            PartialOrd,
            Ord,
            Hash,
            serde::Serialize,
            serde::Deserialize,
            strum::Display,
            strum::IntoStaticStr,
            strum::VariantArray,
            utoipa::ToSchema,
        )]
        #[serde(rename_all = "snake_case")]
        #[strum(serialize_all = "snake_case")]
        $(#[$($about)*])*
        pub enum $name {
            $($(#[$($meaning)*])* $variant,)+
        }

        impl $name {
            /// The word in the database, in JSON and on the command line.
            pub fn name(self) -> &'static str {
                self.into()
            }
        }
    };
}

pub use vocabulary;

/// Reads a vocabulary's words from text. The error names all of them: `unknown role 'x': the roles are …`.
macro_rules! from_text {
    ($name:ident: $unknown:ident, $noun:literal, $nouns:literal) => {
        #[derive(Debug, thiserror::Error, PartialEq, Eq)]
        #[error("unknown {} '{given}': the {} are {}", $noun, $nouns, $crate::vocabulary::words::<$name>())]
        pub struct $unknown {
            pub given: String,
        }

        impl std::str::FromStr for $name {
            type Err = $unknown;

            fn from_str(text: &str) -> Result<Self, $unknown> {
                $crate::vocabulary::find(text).ok_or_else(|| $unknown { given: text.to_owned() })
            }
        }
    };
}

pub(crate) use from_text;

/// The variant with this word.
pub fn find<T: VariantArray + Copy + Into<&'static str>>(word: &str) -> Option<T> {
    T::VARIANTS.iter().copied().find(|variant| (*variant).into() == word)
}

/// The variants whose words stand in a list with commas. The error names all words: `the topics are task, counts`.
pub fn listed<T: VariantArray + Copy + Into<&'static str>>(
    list: &str,
    nouns: &str,
) -> std::result::Result<Vec<T>, String> {
    let found: Option<Vec<T>> = list.split(',').map(|word| find(word.trim())).collect();
    found.ok_or_else(|| format!("the {nouns} are {}", words::<T>()))
}

/// All words, for an error's text: `pending, claimed, running`.
pub fn words<T: VariantArray + Copy + Into<&'static str>>() -> String {
    T::VARIANTS.iter().map(|variant| (*variant).into()).collect::<Vec<&str>>().join(", ")
}

/// A word of the vocabulary `T`, or one that it does not have: written by a newer program, or by hand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Word<T> {
    Known(T),
    Other(String),
}

impl<T: VariantArray + Copy + Into<&'static str>> From<String> for Word<T> {
    fn from(word: String) -> Self {
        find(&word).map_or(Word::Other(word), Word::Known)
    }
}

impl<T: Display> Display for Word<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Word::Known(known) => known.fmt(f),
            Word::Other(word) => word.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::task::role::Role;

    #[rstest]
    #[case::known("payload_fetch", Word::Known(Role::PayloadFetch))]
    #[case::other("of_a_newer_program", Word::Other("of_a_newer_program".to_owned()))]
    fn a_word_is_kept_whether_it_is_known_or_not(#[case] text: &str, #[case] word: Word<Role>) {
        assert_eq!(Word::from(text.to_owned()), word);
        assert_eq!(word.to_string(), text);
        assert_eq!(serde_json::from_value::<Word<Role>>(serde_json::to_value(&word).unwrap()).unwrap(), word);
    }
}

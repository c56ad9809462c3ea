//! `DutchieData`: the known hashes and the query documents, from `data.toml` or a file that
//! replaces it.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use super::OPERATIONS;
use domain::query_hash::QueryHash;

const SHIPPED: &str = include_str!("data.toml");
const SCHEMA: u32 = 1;
/// Operation that is known, and sent by no adapter of this program.
const UNUSED_OPERATION: &str = "DispensarySearch";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DutchieData {
    hashes: Vec<QueryHash>,
    documents: BTreeMap<String, String>,
}

/// The caller adds the file's name.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DataError {
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    #[error("schema {0} is not known; this program reads schema {SCHEMA}")]
    Schema(u32),
    #[error("the hash '{hash}' of {operation} is not 64 hex digits")]
    BadHash { operation: String, hash: String },
    #[error("'{operation}' is not an operation of this platform; known are {}, {UNUSED_OPERATION}", OPERATIONS.join(", "))]
    UnknownOperation { operation: String },
    #[error("{operation} has neither a [[hash]] nor a text under [document]: give one of them")]
    NoQuery { operation: &'static str },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    #[serde(default)]
    hash: Vec<Hash>,
    #[serde(default)]
    document: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hash {
    operation: String,
    sha256: String,
    /// Time when it was seen; a note for people.
    #[serde(default, rename = "seen")]
    _seen: String,
}

impl DutchieData {
    /// Reads the text of a file that replaces the shipped one; none = the shipped one.
    pub fn load(replacement: Option<&str>) -> Result<Self, DataError> {
        let file: File = toml::from_str(replacement.unwrap_or(SHIPPED))?;
        if file.schema != SCHEMA {
            return Err(DataError::Schema(file.schema));
        }
        let hashes = file.hash.into_iter().map(Hash::checked).collect::<Result<_, _>>()?;
        let data = DutchieData { hashes, documents: file.document };
        data.check_operations()?;
        Ok(data)
    }

    fn check_operations(&self) -> Result<(), DataError> {
        let given = self.hashes.iter().map(|known| &known.operation).chain(self.documents.keys());
        if let Some(unknown) = given.clone().find(|operation| !is_known(operation)) {
            return Err(DataError::UnknownOperation { operation: unknown.clone() });
        }
        match OPERATIONS.into_iter().find(|sent| !given.clone().any(|operation| operation == sent)) {
            Some(operation) => Err(DataError::NoQuery { operation }),
            None => Ok(()),
        }
    }

    /// The known hashes, newest first within an operation.
    pub fn hashes(&self) -> &[QueryHash] {
        &self.hashes
    }

    pub fn document(&self, operation: &str) -> Option<&str> {
        self.documents.get(operation).map(|text| text.trim())
    }
}

fn is_known(operation: &str) -> bool {
    operation == UNUSED_OPERATION || OPERATIONS.contains(&operation)
}

impl Hash {
    fn checked(self) -> Result<QueryHash, DataError> {
        let Hash { operation, sha256: hash, .. } = self;
        if hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(DataError::BadHash { operation, hash });
        }
        Ok(QueryHash { operation, hash })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn every_operation_is_shipped_with_hashes_and_a_document() {
        let data = DutchieData::load(None).unwrap();
        for (operation, hashes) in [("FilteredProducts", 3), ("ConsumerDispensaries", 2), ("DispensarySearch", 1)] {
            assert_eq!(
                data.hashes().iter().filter(|known| known.operation == operation).count(),
                hashes,
                "{operation}"
            );
            assert!(data.document(operation).is_some_and(|text| text.starts_with(&format!("query {operation}("))));
        }
        assert!(data.hashes()[0].hash.starts_with("b26a4938"), "newest first");
    }

    #[rstest]
    #[case::no_toml("schema", "expected")]
    #[case::another_schema("schema = 2", "schema 2")]
    #[case::short_hash("schema = 1\n[[hash]]\noperation = \"A\"\nsha256 = \"abc\"", "'abc' of A")]
    #[case::unknown_key("schema = 1\nhashes = 3", "hashes")]
    #[case::nothing_in_it("schema = 1", "FilteredProducts")]
    #[case::one_operation_alone("schema = 1\n[document]\nFilteredProducts = \"query\"", "ConsumerDispensaries")]
    #[case::a_misspelt_operation(
        "schema = 1\n[document]\nFilteredProducts = \"q\"\nConsumerDispensaries = \"q\"\nFilterdProducts = \"q\"",
        "'FilterdProducts'"
    )]
    #[case::a_hash_of_a_misspelt_one(
        "schema = 1\n[[hash]]\noperation = \"FilterdProducts\"\nsha256 = \"0000000000000000000000000000000000000000000000000000000000000000\"\n[document]\nFilteredProducts = \"q\"\nConsumerDispensaries = \"q\"",
        "'FilterdProducts'"
    )]
    fn a_wrong_file_is_refused(#[case] text: &str, #[case] offender: &str) {
        let error = DutchieData::load(Some(text)).unwrap_err().to_string();
        assert!(error.contains(offender), "{error}");
    }
}

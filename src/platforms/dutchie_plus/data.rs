//! `DutchiePlusData`: the query documents, from `data.toml` or a file that replaces it.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use super::MENU_OPERATION;

const SHIPPED: &str = include_str!("data.toml");
const SCHEMA: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DutchiePlusData {
    menu: String,
}

/// The caller adds the file's name.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DataError {
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    #[error("schema {0} is not known; this program reads schema {SCHEMA}")]
    Schema(u32),
    #[error("[document] has a text for '{0}', and {MENU_OPERATION} is the only one that is sent")]
    UnknownOperation(String),
    #[error("[document] has no text for {MENU_OPERATION}")]
    NoMenu,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    document: BTreeMap<String, String>,
}

impl DutchiePlusData {
    /// Reads the text of a file that replaces the shipped one; none = the shipped one.
    pub fn load(replacement: Option<&str>) -> Result<Self, DataError> {
        let File { schema, mut document } = toml::from_str(replacement.unwrap_or(SHIPPED))?;
        if schema != SCHEMA {
            return Err(DataError::Schema(schema));
        }
        let menu = document.remove(MENU_OPERATION).ok_or(DataError::NoMenu)?;
        match document.into_keys().next() {
            Some(other) => Err(DataError::UnknownOperation(other)),
            None => Ok(DutchiePlusData { menu: menu.trim().to_owned() }),
        }
    }

    pub fn menu_document(&self) -> &str {
        &self.menu
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::another_schema("schema = 2\n[document]\nmenu = 'x'", "schema 2 is not known")]
    #[case::no_menu("schema = 1\n[document]", "no text for menu")]
    #[case::another_operation("schema = 1\n[document]\nmenu = 'x'\nretailers = 'y'", "'retailers'")]
    #[case::another_key("schema = 1\nx = 1\n[document]\nmenu = 'x'", "unknown field")]
    fn a_wrong_file_is_refused(#[case] text: &str, #[case] says: &str) {
        let message = DutchiePlusData::load(Some(text)).unwrap_err().to_string();
        assert!(message.contains(says), "{message}");
    }
}

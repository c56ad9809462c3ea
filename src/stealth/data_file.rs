//! Reading of data files: `identities.toml` and `states.toml`. All that is wrong with a file is said at once.

use thiserror::Error;
use toml::Table;

#[derive(Debug, Error)]
#[error("{file}: {}", errors.join("; "))]
pub struct DataFileError {
    pub file: &'static str,
    pub errors: Vec<String>,
}

pub(super) fn parse(text: &str) -> Result<Table, Vec<String>> {
    text.parse().map_err(|error: toml::de::Error| vec![error.to_string()])
}

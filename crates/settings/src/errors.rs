//! `ConfigErrors`: every fault of a configuration at once, each with its origin and key.

use std::fmt;

use serde::Serialize;
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Fault {
    /// The file, variable or flag that set it; empty when there is no single one.
    pub origin: String,
    /// `section.key`; empty when the whole file is at fault.
    pub key: String,
    pub problem: String,
}

impl Fault {
    pub fn new(origin: impl Into<String>, key: impl Into<String>, problem: impl Into<String>) -> Self {
        Fault { origin: origin.into(), key: key.into(), problem: problem.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.origin, &self.key] {
            if !part.is_empty() {
                write!(f, "{part}: ")?;
            }
        }
        f.write_str(&self.problem)
    }
}

#[derive(Clone, Debug, Default, Error, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<Fault>);

impl ConfigErrors {
    pub fn push(&mut self, origin: impl Into<String>, key: impl Into<String>, problem: impl Into<String>) {
        self.0.push(Fault::new(origin, key, problem));
    }

    /// Adds the faults of others.
    pub fn extend(&mut self, others: impl IntoIterator<Item = ConfigErrors>) {
        self.0.extend(others.into_iter().flat_map(|others| others.0));
    }

    /// Ok when there is no fault.
    pub fn into_result(mut self) -> Result<(), ConfigErrors> {
        if self.0.is_empty() {
            return Ok(());
        }
        self.0.sort();
        Err(self)
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration cannot be used:")?;
        for fault in &self.0 {
            write!(f, "\n  {fault}")?;
        }
        Ok(())
    }
}

//! `Limit`: maximum length of a page of a list.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

const DEFAULT: i64 = 50;
const MAX: i64 = 500;

/// The length of a page, from 1 to 500.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(minimum = 1, maximum = 500, default = 50)]
pub struct Limit(i64);

impl Limit {
    /// One row more than asked for shows whether there is another page.
    pub fn with_next(self) -> i64 {
        self.0 + 1
    }

    pub fn rows(self) -> i64 {
        self.0
    }

    /// Removes the extra row that shows whether there is another page; returns the beginning of that page.
    pub fn next<T, C>(self, rows: &mut Vec<T>, position: impl Fn(&T) -> C) -> Option<C> {
        let has_next = rows.len() as i64 > self.0;
        rows.truncate(self.0 as usize);
        rows.last().filter(|_| has_next).map(position)
    }
}

impl Default for Limit {
    fn default() -> Self {
        Limit(DEFAULT)
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let size = i64::deserialize(deserializer)?;
        match (1..=MAX).contains(&size) {
            true => Ok(Limit(size)),
            false => Err(serde::de::Error::custom(format_args!("{size} is out of range (1 to {MAX})"))),
        }
    }
}

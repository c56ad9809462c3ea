//! Watched people, whose appearances `appearances_sync` reads.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Fields, NO_CHANGE, Record, RecordKind, yes};
use crate::checks::{BadField, bad, check_text};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Person {
    pub id: i64,
    pub tmdb_id: i64,
    pub name: String,
    pub enabled: bool,
    /// Why the last sync failed; null: it did not.
    pub last_error: Option<String>,
    pub created_at: DateTime<Utc>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonDraft {
    /// The number in the person's address at TMDb.
    #[schema(minimum = 1)]
    pub tmdb_id: i64,
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub name: String,
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub enabled: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(min_properties = 1)]
pub struct PersonChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

impl Record for Person {
    const KIND: RecordKind = RecordKind::People;
    type Draft = PersonDraft;
    type Change = PersonChange;

    fn id(&self) -> i64 {
        self.id
    }
}

impl Fields for PersonDraft {
    fn check(&self) -> Result<(), BadField> {
        if self.tmdb_id < 1 {
            return Err(bad("tmdb_id", "must be at least 1"));
        }
        check_text("name", Some(&self.name))
    }
}

impl Fields for PersonChange {
    fn check(&self) -> Result<(), BadField> {
        match (&self.name, self.enabled) {
            (None, None) => Err(bad("enabled", NO_CHANGE)),
            (name, _) => check_text("name", name.as_deref()),
        }
    }
}

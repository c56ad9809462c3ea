//! Watched people, whose appearances `appearances_sync` reads.

use chrono::{DateTime, Utc};

use super::record::record;
use super::{Fields, yes};
use crate::checks::{BadField, bad, check_text};

record! {
    People: Person {
        tmdb_id: i64,
        name: String,
        enabled: bool,
        /// Why the last sync failed; null: it did not.
        last_error: Option<String>,
        created_at: DateTime<Utc>,
    }
    draft PersonDraft {
        /// The number in the person's address at TMDb.
        #[schema(minimum = 1)]
        tmdb_id: i64,
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        name: String,
        #[serde(default = "yes")]
        #[schema(default = true)]
        enabled: bool,
    }
    change PersonChange {
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        name: String,
        enabled: bool,
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
        self.check_not_empty("enabled")?;
        check_text("name", self.name.as_deref())
    }
}

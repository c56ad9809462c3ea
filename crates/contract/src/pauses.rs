//! Pauses: an operator stops the claims of everything, or of one family, role, pod, worker, host or store.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::checks::{BadField, bad, check_text};
use domain::host::MAX_LATER;
use domain::task::pause::{BadTarget, PauseScope, PauseTarget};
use domain::vocabulary::Word;

/// A pause in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Pause {
    pub id: i64,
    #[schema(value_type = PauseScope)]
    pub scope: Word<PauseScope>,
    /// Name of the family, role, pod, worker or host, or id of the store; null for the scope `all`.
    pub of: Option<String>,
    pub reason: String,
    /// Time when it ends by itself; null: it lasts until it is resumed.
    pub until: Option<DateTime<Utc>>,
    pub created_at: DateTime<Utc>,
    /// Name of the token that created it, or `local` or `command line` without a token.
    pub created_by: String,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct PauseList {
    /// The widest scope first.
    pub pauses: Vec<Pause>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseRequest {
    pub scope: PauseScope,
    /// Name of a family (`crawl`, `media`, `service`), role, pod, worker or host, or id of a store. Leave it out for the scope `all`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 255)]
    pub of: Option<String>,
    /// The reason, shown to everyone who sees the pause.
    #[schema(min_length = 1, max_length = 200)]
    pub reason: String,
    /// Time when it ends by itself, at most a year ahead. Without it, the pause lasts until it is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
}

impl Pause {
    /// None for a scope or name of a newer program.
    pub fn parsed(&self) -> Option<PauseTarget> {
        match self.scope {
            Word::Known(scope) => PauseTarget::parse(scope, self.of.as_deref()).ok(),
            Word::Other(_) => None,
        }
    }

    /// `everything`, `role product_refresh`.
    pub fn target(&self) -> String {
        match &self.of {
            None => "everything".to_owned(),
            Some(of) => format!("{} {of}", self.scope),
        }
    }
}

impl PauseRequest {
    /// Returns what it stops, or the first fault. `now` is the database's.
    pub fn check(&self, now: DateTime<Utc>) -> Result<PauseTarget, BadField> {
        let target = PauseTarget::parse(self.scope, self.of.as_deref()).map_err(|fault: BadTarget| bad("of", fault))?;
        check_text("reason", Some(self.reason.trim()))?;
        match self.until {
            Some(until) if until <= now => Err(bad("until", "has passed")),
            Some(until) if until - now > MAX_LATER => Err(bad("until", "is more than a year away")),
            _ => Ok(target),
        }
    }
}

//! `paid_content_sync`: syncs all creators, one task each.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use serde::{Deserialize, Deserializer, Serialize};

use super::within_limit;
use crate::task::kind::{Kind, Schedule, minutes};

pub const KIND: Kind = Kind {
    time_limit: minutes(24 * 60),
    schedules: &[Schedule::WithRows {
        table: "media_accounts",
        event: "INSERT OR UPDATE OF kind",
        only: Some("NEW.kind = 'creator'"),
        hours: 6,
    }],
    title: "Paid Content Sync",
    description: "Syncs all creators, one task each",
    ..Kind::MEDIA
};

/// Creators to sync; none: all that are enabled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Args {
    #[serde(deserialize_with = "creator_ids")]
    pub creator_ids: Option<Vec<i64>>,
}

fn creator_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<i64>>, D::Error> {
    Option::deserialize(deserializer)?.map(|ids| within_limit("creator_ids", ids)).transpose()
}

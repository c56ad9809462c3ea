//! `forum_scrape`: reads the watched threads of forums.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use serde::{Deserialize, Deserializer, Serialize};

use super::within_limit;
use crate::task::kind::{Key, Kind, Schedule, minutes};

pub const KIND: Kind = Kind {
    key: Key { argument: Some("thread_ids"), ..Key::NONE },
    time_limit: minutes(2 * 60),
    schedules: &[Schedule::with_rows("watched_threads", 6)],
    title: "Forum Scrape",
    description: "Reads the watched threads of forums",
    ..Kind::MEDIA
};

/// Threads to read; none: all that are watched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Args {
    #[serde(deserialize_with = "thread_ids")]
    pub thread_ids: Option<Vec<i64>>,
}

fn thread_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<i64>>, D::Error> {
    Option::deserialize(deserializer)?.map(|ids| within_limit("thread_ids", ids)).transpose()
}

//! `easynews_monitor`: runs the saved searches.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use serde::{Deserialize, Serialize};

use crate::task::kind::{Key, Kind, Schedule, minutes};

pub const KIND: Kind = Kind {
    key: Key { argument: Some("search_queries"), ..Key::NONE },
    time_limit: minutes(15),
    schedules: &[Schedule::with_rows("saved_searches", 6)],
    title: "Easynews Monitor",
    description: "Runs the saved searches",
    ..Kind::MEDIA
};

/// Searches to run; none: the saved ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Args {
    pub search_queries: Option<Vec<String>>,
}

//! `analytics_refresh`: refreshes the materialized views.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use serde::{Deserialize, Serialize};

use crate::task::kind::{DefaultSchedule, Kind, Schedule, minutes};

pub const KIND: Kind = Kind {
    per_store: false,
    needs_proxy: false,
    time_limit: minutes(30),
    schedules: &[Schedule::Always(DefaultSchedule::new("analytics_refresh", 6))],
    title: "Analytics Refresh",
    description: "Refreshes the materialized views",
    ..Kind::CRAWL
};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Args {}

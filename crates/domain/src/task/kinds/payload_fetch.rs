//! `payload_fetch`: fetches a store's menu and keeps the raw answer.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use serde::{Deserialize, Serialize};

use super::Role;
use crate::task::kind::{DefaultSchedule, Kind, Schedule};

pub const KIND: Kind = Kind {
    follow_up: Some(Role::ProductRefresh),
    schedules: &[Schedule::Always(DefaultSchedule::new("payload_fetch_all", 4))],
    title: "Payload Fetch",
    description: "Fetches a store's menu and keeps the raw answer",
    ..Kind::CRAWL
};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Args {}

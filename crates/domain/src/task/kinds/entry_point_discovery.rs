//! `entry_point_discovery`: resolves a store's menu address to its platform id.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use serde::{Deserialize, Serialize};

use super::Role;
use crate::task::kind::{Kind, minutes};

pub const KIND: Kind = Kind {
    priority: 10,
    time_limit: minutes(5),
    follow_up: Some(Role::ProductDiscovery),
    origin: Some("for a new store"),
    title: "Entry Point Discovery",
    description: "Resolves a store's menu address to its platform id",
    ..Kind::CRAWL
};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Args {}

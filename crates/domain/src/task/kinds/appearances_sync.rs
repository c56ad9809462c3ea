//! `appearances_sync`: reads the credits of watched people.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use serde::{Deserialize, Serialize};

use crate::task::kind::{Kind, Schedule, minutes};

pub const KIND: Kind = Kind {
    time_limit: minutes(30),
    schedules: &[Schedule::with_rows("people", 24)],
    title: "Appearances Sync",
    description: "Reads the credits of watched people",
    ..Kind::MEDIA
};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Args {}

//! `youtube_monitor`: looks for new videos of watched channels.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use serde::{Deserialize, Serialize};

use crate::task::kind::{Kind, Schedule, minutes};

pub const KIND: Kind = Kind {
    time_limit: minutes(15),
    schedules: &[Schedule::with_rows("watched_channels", 1)],
    title: "YouTube Monitor",
    description: "Looks for new videos of watched channels",
    ..Kind::MEDIA
};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Args {}

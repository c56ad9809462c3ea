//! `paid_content_creator`: syncs one creator.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use serde::{Deserialize, Serialize};

use crate::task::kind::{Key, Kind};

pub const KIND: Kind = Kind {
    key: Key { account: Some("creator_id"), ..Key::NONE },
    title: "Paid Content Creator",
    description: "Syncs one creator",
    ..Kind::MEDIA
};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Args {
    pub creator_id: i64,
}

//! `store_discovery`: finds the stores of a platform and promotes the valid ones.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use serde::{Deserialize, Serialize};

use crate::task::kind::{Kind, minutes};

pub const KIND: Kind = Kind {
    per_store: false,
    time_limit: minutes(60),
    title: "Store Discovery",
    description: "Finds the stores of a platform and promotes the valid ones",
    ..Kind::CRAWL
};

/// Asks every state's discovery points, one state's, or some of one state's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Args {
    pub state_code: Option<String>,
    /// Numbers of the state's points, from 0, as the configuration lists them; none = all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<u32>>,
}

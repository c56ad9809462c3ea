//! `product_refresh`: turns a kept answer into products, snapshots and stock.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use serde::{Deserialize, Serialize};

use crate::task::kind::{Kind, minutes};

pub const KIND: Kind = Kind {
    needs_proxy: false,
    time_limit: minutes(10),
    origin: Some("after a fetch"),
    title: "Product Refresh",
    description: "Turns a stored answer into products, snapshots and stock",
    ..Kind::CRAWL
};

/// The payload to turn into products; none means the store's latest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Args {
    pub payload_id: Option<i64>,
}

//! `product_discovery`: fetches a new store's menu for the first time, as `payload_fetch` does.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use super::Role;
use crate::task::kind::Kind;

pub use super::payload_fetch::Args;

pub const KIND: Kind = Kind {
    priority: 10,
    follow_up: Some(Role::ProductRefresh),
    origin: Some("for a new store"),
    title: "Product Discovery",
    description: "Fetches a new store's menu for the first time",
    ..Kind::CRAWL
};

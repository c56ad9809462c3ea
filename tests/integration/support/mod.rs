//! What every test stands on: a database of its own, the built program as a child, and waiting without sleeping.

#![allow(dead_code, unused_imports, reason = "a topic uses what it needs")]

mod database;
mod farm;
mod process;
mod wait;

pub use database::{TestDatabase, connect, database, database_settings, empty_database, server_dir, server_options};
pub use farm::{Farm, LEASE, PATIENCE};
pub use process::{Child, drover};
pub use wait::{until, until_some};

//! The only module with SQL (beside `migrations/`): a folder per subject, and in it a file per table. `views` reads what
//! is shown, `requests` makes the changes that people request. The statements of `stores/groups.rs` are the files of
//! `sql/stores/groups/`, one per statement. A statement of four or more values has names for them
//! ([`statements::named!`]).
//!
//! It must not know roles' bodies, actors or HTTP. Domain values go in and come out; no row type leaves it.
//! Every call has a deadline, here and on the server; a connection whose call exceeded it is cancelled and
//! dropped.

pub mod access;
pub mod analytics;
pub mod changes;
pub mod connection;
pub mod counts;
pub mod demo;
pub mod error;
pub mod exports;
pub mod hosts;
pub mod media;
pub mod notifications;
pub mod payloads;
pub mod products;
pub mod proxies;
pub mod retailers;
pub mod retention_runs;
pub mod schedules;
pub mod schema;
pub mod statements;
pub mod stores;
pub mod tasks;
pub mod workers;

pub use connection::client::{Client, Tx};
pub use connection::pipeline::pipeline;
pub use connection::pools::{Db, PoolSizes};
pub use error::DbError;

/// Maximum rows that one statement binds as arrays: both sides hold a message whole.
const MAX_BATCH: usize = 1000;

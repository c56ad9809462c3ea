//! The only module with SQL (beside `migrations/`): one file per table, statements in `sql/<table>/<verb>.sql`.
//!
//! It must not know roles' bodies, actors or HTTP. Domain values go in and come out; no row type leaves it.
//! Every call has a deadline, here and on the server; a connection whose call met it is cancelled and dropped.

pub mod analytics;
pub mod connect;
pub mod crawls;
pub mod discovery;
pub mod embedded;
pub mod error;
pub mod installation;
pub mod listen;
pub mod migrate;
pub mod open;
pub mod payloads;
pub mod products;
pub mod proxies;
pub mod query_hashes;
pub mod schedules;
pub mod snapshots;
pub mod stores;
pub mod task_requests;
pub mod task_views;
pub mod tasks;
pub mod vitals;
pub mod workers;

mod client;
mod columns;
mod pools;

pub use client::{Client, Tx};
pub use error::DbError;
pub use pools::{Db, PoolSizes};

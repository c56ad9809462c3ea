//! The only module with SQL (beside `migrations/`): one file per table, statements in
//! `sql/<table>/<verb>.sql`. A statement of four or more values has names for them ([`named`]).
//!
//! It must not know roles' bodies, actors or HTTP. Domain values go in and come out; no row type leaves it.
//! Every call has a deadline, here and on the server; a connection whose call exceeded it is cancelled and
//! dropped.

pub mod analytics;
pub mod api_tokens;
pub mod appearances;
pub mod audit_log;
pub mod brands;
pub mod charts;
pub mod connect;
pub mod credentials;
#[cfg(feature = "demo")]
pub mod demo_history;
#[cfg(feature = "demo")]
pub mod demo_limits;
#[cfg(feature = "demo")]
pub mod demo_report;
#[cfg(feature = "demo")]
pub mod demo_schedules;
pub mod demo_tasks;
pub mod discovery;
pub mod error;
pub mod fetch_minute;
pub mod fetch_store_day;
pub mod forecast;
pub mod forum_posts;
pub mod forums;
pub mod generation;
pub mod groups;
pub mod hosts;
pub mod idempotency_keys;
pub mod images;
pub mod indexes;
pub mod installation;
pub mod job_imports;
pub mod jobs;
pub mod legacy;
pub mod listen;
pub mod media_accounts;
pub mod media_items;
pub mod media_records;
pub mod migrate;
pub mod notifications;
pub mod operations;
pub mod overview;
pub mod partitions;
pub mod pauses;
pub mod payload_removals;
pub mod payload_replays;
pub mod payload_views;
pub mod payloads;
pub mod pod_names;
pub mod product_search;
pub mod product_series;
pub mod product_views;
pub mod products;
pub mod proxies;
pub mod proxy_passwords;
pub mod proxy_requests;
pub mod proxy_usage;
pub mod quality;
pub mod query_hashes;
pub mod retention_runs;
pub mod robots;
pub mod saved_searches;
pub mod schedules;
pub mod server_info;
pub mod snapshots;
pub mod specials;
pub mod statements;
pub mod stats_minute;
pub mod store_bulk;
pub mod store_requests;
pub mod store_views;
pub mod stores;
pub mod switches;
pub mod task_requests;
pub mod task_views;
pub mod tasks;
pub mod variant_history;
pub mod variants;
pub mod visitors;
pub mod watched_channels;
pub mod watched_threads;
pub mod workers;

mod arrays;
mod client;
mod columns;
mod copy;
mod named;
mod numbered;
mod parameter_types;
mod pipeline;
mod pools;
mod proxy_benches;
mod proxy_hosts;
mod row;
mod sql_type;
mod storable;
mod task_kinds;

pub use client::{Client, Tx};
pub use error::DbError;
pub use pipeline::pipeline;
pub use pools::{Db, PoolSizes};

/// Maximum rows that one statement binds as arrays: both sides hold a message whole.
const MAX_BATCH: usize = 1000;

//! Pure rules and the words they are made of.
//!
//! Nothing here knows tokio, hyper, Postgres, the environment or the clock: values go in, values come out.

pub mod access;
pub mod args;
pub mod bulk_action;
pub mod capacity;
pub mod content_hash;
pub mod disposition;
pub mod fetch_counts;
pub mod group;
pub mod host;
pub mod image;
pub mod legacy;
pub mod menu;
pub mod menu_diff;
pub mod pause;
pub mod payload;
pub mod payload_diff;
pub mod place;
pub mod pod;
pub mod product;
pub mod proxy;
pub mod public_host;
pub mod quality;
pub mod query_hash;
pub mod retention;
pub mod retry;
pub mod retry_state;
pub mod robots;
pub mod role;
pub mod schedule;
pub mod series;
pub mod shown_status;
pub mod skipped;
pub mod span;
pub mod state_code;
pub mod stock;
pub mod store;
pub mod store_fetch_counts;
pub mod task;
pub mod us_states;
pub mod variant_diff;
pub mod vocabulary;
pub mod worker;
pub mod years;

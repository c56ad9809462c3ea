//! Pure rules and the words they are made of.
//!
//! Nothing here knows tokio, hyper, Postgres, the environment or the clock: values go in, values come out.

pub mod access;
pub mod amounts;
pub mod counts;
pub mod credential;
pub mod host;
pub mod http;
pub mod legacy;
pub mod media;
pub mod menu;
pub mod notification;
pub mod payload;
pub mod platform_list;
pub mod product_match;
pub mod proxy;
pub mod query_hash;
pub mod retailer;
pub mod retention;
pub mod retry;
pub mod schedule;
pub mod span;
pub mod store;
pub mod switches;
pub mod task;
mod text;
pub mod vocabulary;
pub mod worker;
pub mod years;

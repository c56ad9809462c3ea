//! drover: a durable, supervised crawler of dispensary menus on Postgres.
//!
//! The modules in reading order; the allowed imports are in ARCHITECTURE.md, and `tests/tidy` checks them.

pub mod authorities;
pub mod clock;
pub mod config;
pub mod cpu;
pub mod digest;
pub mod events;
pub mod inflate;
pub mod log;
pub mod memory;
pub mod metrics;
pub mod private_server;
pub mod process_limits;
pub mod secrets;
pub mod spelling;

pub mod domain;

pub mod geo;

pub mod db;
pub mod proxy_draft;
pub mod stealth;
pub mod storage;
pub mod store_draft;

pub mod platforms;

pub mod downloads;
pub mod images;

pub mod handlers;

pub mod actors;

pub mod api;
pub mod app;
#[cfg(feature = "demo")]
pub mod simulated;

pub mod cli;

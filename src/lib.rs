//! drover: a durable, supervised crawler of dispensary menus on Postgres.
//!
//! The modules in reading order; the allowed imports are in ARCHITECTURE.md.

pub mod stealth;

pub mod platforms;

pub mod downloads;

pub mod handlers;

pub mod actors;

pub mod app;
#[cfg(feature = "demo")]
pub mod simulated;

mod features;

pub mod cli;

/// The program's allocator: a crawl allocates much on many threads, and takes a tenth less CPU than with that of glibc.
pub use tikv_jemallocator::Jemalloc as Allocator;

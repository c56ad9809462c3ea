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

/// A crawl allocates much on many threads: a tenth less CPU than with the allocator of glibc, in as much memory.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

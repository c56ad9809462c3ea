//! The base of every test: a configuration, a database of its own, the built program as a child, captured
//! data, and waiting for conditions.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod actor;
mod administration;
mod database;
mod fake_cluster;
mod farm;
mod fault_proxy;
mod fixture;
pub mod geo_files;
pub mod market;
mod media_tools;
mod menu;
mod names;
mod pooler;
mod port;
mod process;
mod replicated;
mod s3;
mod slow_link;
pub mod typos;
mod wait;

pub use actor::start_actor;
pub use database::{
    TestDatabase, WAITING_FOR_LOCKS, WORK_CONNECTIONS, connect, database, database_settings, empty_database, fast_dir,
    filled_database, server_dir, server_options,
};
pub use fake_cluster::{ClusterMood, FakeCluster};
pub use farm::{Farm, LONG_LEASE, PATIENCE};
pub use fault_proxy::FaultProxy;
pub use fixture::fixture;
pub use media_tools::{has_media_tool, is_there_or_skipped, media_tool};
pub use menu::page;
pub use names::NAMES;
pub use pooler::{POOLER_CONNECTIONS, Pooler};
pub use port::free_port;
pub use process::{Child, drover, memory_of_test, program};
pub use replicated::Replicated;
pub use s3::{S3, S3_SECRET};
pub use slow_link::SlowLink;
pub use wait::{until, until_some};

use std::path::Path;
use std::sync::LazyLock;

use settings::Config;

/// The checkout.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The product's defaults with these settings, such as `("queue.lease", "2s")`. The defaults alone are read once: every
/// database and server of a test asks for them.
pub fn config(settings: &[(&'static str, &str)]) -> Config {
    static DEFAULTS: LazyLock<Config> = LazyLock::new(|| Config::with(&[]).unwrap());
    match settings {
        [] => DEFAULTS.clone(),
        changed => Config::with(changed).unwrap(),
    }
}

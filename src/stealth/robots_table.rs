//! `RobotsTable`: hosts' answers to robots.txt, shared by all processes.
//!
//! Errors are for people: nothing is known then. It must not know how it is stored.

use std::time::Duration;

use futures_util::future::BoxFuture;

use domain::http::robots::{RobotsAnswer, RobotsRecord};

/// The owner of the shared answers. An authority is a host, with its port where that is not the scheme's own.
pub trait RobotsTable: Send + Sync {
    fn read(&self, authority: &str) -> BoxFuture<'static, Result<RobotsRecord, String>>;

    /// Whether this process is to fetch the file, within `limit`: it is due, and no other does.
    fn take(&self, authority: &str, host: &str, limit: Duration) -> BoxFuture<'static, Result<bool, String>>;

    fn store(&self, authority: &str, answer: RobotsAnswer) -> BoxFuture<'static, Result<(), String>>;

    /// Notes that a request to `path` breaks `rule`; returns whether to report it, which is once a day.
    fn report(&self, authority: &str, rule: &str, path: &str) -> BoxFuture<'static, Result<bool, String>>;
}

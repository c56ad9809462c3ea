//! Handlers with a real database: what each role writes.

mod captured_page;
mod crawl;
mod desk;
mod histories;
mod housekeeping;
pub mod outside;
mod refresh;
mod shelf;
mod simulated;

//! Handlers with a real database: what each role writes.

mod crawl;
mod histories;
mod shelf;

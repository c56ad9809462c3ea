//! Counts that a process keeps until they are written, and the series and distributions that charts make of them.

pub mod duration_buckets;
pub mod fetches;
pub mod series;
pub mod store_fetches;

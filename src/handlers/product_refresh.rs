//! x

pub mod crawl;

//! Counts by minute, hour and day, as processes write them and charts read them. Sums of prices and stock are
//! [`crate::analytics`].

pub mod charts;
pub mod fetch_minute;
pub mod fetch_store_day;
pub mod stats_minute;
pub mod visitors;

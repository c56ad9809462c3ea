//! Log lines, the events that write them, and the metrics that count them.

pub mod events;
pub mod log;
pub mod metrics;

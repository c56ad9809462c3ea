//! Reads and writes that only a demo's database needs.

#[cfg(feature = "demo")]
pub mod history;
#[cfg(feature = "demo")]
pub mod limits;
#[cfg(feature = "demo")]
pub mod report;
#[cfg(feature = "demo")]
pub mod schedules;
pub mod tasks;

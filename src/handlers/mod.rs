//! What runs when a task is claimed: one file per role, one exhaustive match, one vocabulary of endings.
//!
//! A handler never touches `worker_tasks`, opens no transaction and logs nothing: it returns an [`Outcome`], whose writes
//! and follow-ups are settled by the caller in one transaction. It may run twice. It must not know actors or HTTP.

pub mod outcome;
pub mod product_refresh;

pub use outcome::{Chained, Done, Learned, Outcome, TaskError};

//! What runs when a task is claimed: one file per role, one exhaustive match, one vocabulary of endings.
//!
//! A handler never touches `worker_tasks`, opens no transaction and logs nothing: it returns an [`Outcome`], whose writes
//! and follow-ups are settled by the caller in one transaction. It may run twice. It must not know actors or HTTP.

pub mod analytics_refresh;
pub mod context;
pub mod housekeeping;
pub mod outcome;
pub mod product_refresh;

use serde_json::Value;

pub use context::{Context, Services};
pub use outcome::{Chained, Done, Learned, Outcome, TaskError};

use crate::domain::args::Args;
use crate::domain::role::Role;

/// Runs one task's body. `payload` is the column of that name.
pub async fn run(ctx: &Context, role: Role, payload: &Value) -> Result<Outcome, TaskError> {
    fail::fail_point!(&format!("handler.{role}"));
    match Args::read(role, payload).map_err(|fault| TaskError::permanent(fault.to_string()))? {
        Args::ProductRefresh(args) => product_refresh::run(ctx, args).await,
        Args::AnalyticsRefresh(args) => analytics_refresh::run(ctx, args).await,
        _ => Err(TaskError::permanent("not here yet")),
    }
}

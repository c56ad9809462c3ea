//! The bodies of claimed tasks. [`run`] maps a role to its file; [`outcome`] is how a run can end; the other
//! files are shared.
//!
//! A handler never touches `worker_tasks`, opens no transaction and logs nothing of its run: it returns an
//! [`Outcome`], whose writes and follow-ups the caller commits in one transaction ([`commit()`]). It may run
//! twice. It must not know actors or HTTP.

pub mod commit;
pub mod context;
pub mod hand_over;
pub mod hash_alarm;
pub mod housekeeping;
pub mod outcome;
pub mod product_refresh;
pub mod retention;

mod analytics_refresh;
mod entry_point_discovery;
mod known_hashes;
mod payload_fetch;
mod platform_client;
mod progress;
mod store_discovery;

use serde_json::Value;

pub use commit::{CommitError, Committed, Slot, StartedTask, commit};
pub use context::{Context, Services};
pub use hand_over::HandOver;
pub use hash_alarm::ExhaustedHashAlarm;
pub use known_hashes::KnownHashes;
pub use outcome::{After, Done, FollowUp, Outcome, TaskError, Write, Written};
pub use progress::Progress;

use crate::domain::args::Args;
use crate::domain::role::Role;

/// Runs one task's body. `payload` is the column of that name; `hand_over` comes from the run that started
/// the task in its own slot.
pub async fn run(
    ctx: &Context,
    role: Role,
    payload: &Value,
    hand_over: Option<HandOver>,
) -> Result<Outcome, TaskError> {
    fail::fail_point!(&format!("handler.{role}"));
    match Args::read(role, payload).map_err(|error| TaskError::permanent(error.to_string()))? {
        Args::StoreDiscovery(args) => store_discovery::run(ctx, args).await,
        Args::EntryPointDiscovery(args) => entry_point_discovery::run(ctx, args).await,
        Args::ProductDiscovery(args) | Args::PayloadFetch(args) => payload_fetch::run(ctx, args).await,
        Args::ProductRefresh(args) => product_refresh::run(ctx, args, hand_over).await,
        Args::AnalyticsRefresh(args) => analytics_refresh::run(ctx, args).await,
    }
}

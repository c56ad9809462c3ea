//! The queue in a process: a task from its claim to its end.
//!
//! ```text
//! claimer       claims for all task actors, and completes runs without effects
//! starter       starts claimed tasks, many at once
//! execute       a run: start, body, end
//! work          the body of a run, which the queue does not know
//! outcome       how a body can end, and what it leaves to be written
//! commit        the end of a finished run, in one transaction
//! settle        how every end is written; lost_run: when its lease is gone
//! save          writes of a run before its end
//! after_hooks   what follows a commit
//! pauses        the pauses in force, as this process knows them
//! held_tasks    every lease of the process; task_guard keeps one task among them
//! heartbeat     renews these leases, on a thread of its own
//! ```
//!
//! In: claims. Out: settled tasks. It must not know what a task does, nor actors.

mod after_hooks;
pub mod claimer;
mod commit;
pub mod execute;
mod hand_over;
pub mod heartbeat;
pub mod held_tasks;
mod lost_run;
mod outcome;
pub mod pauses;
mod save;
mod settle;
mod starter;
mod task_guard;
mod work;

pub use commit::{CommitError, Committed, Slot, StartedTask, commit, commit_await};
pub use hand_over::HandOver;
pub use outcome::{AfterHook, Await, Done, FollowUp, MAX_CHILDREN, Outcome, TaskError, Write, WriteOf, WriteResults};
pub use save::{SaveError, save};
pub use work::{Body, Work};

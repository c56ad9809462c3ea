//! A task in this process, from its claim to its end.
//!
//! ```text
//! claimer       claims for all task actors, and completes runs without effects
//! task          TaskActor, one for a slot: asks, spawns the run, beats
//! execute       a run: start, body, end
//! settle        how its end is written; lost_run: when its lease is gone
//! after_hooks   what follows its commit
//! held_tasks    every lease of the process; task_guard keeps one task among them
//! heartbeat     renews these leases, on a thread of its own
//! ```
//!
//! In: asks of workers. Out: settled tasks. It must not know what a task does.

mod after_hooks;
pub mod claimer;
pub mod execute;
pub mod heartbeat;
pub mod held_tasks;
mod lost_run;
mod settle;
pub mod task;
mod task_guard;

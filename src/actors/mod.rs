//! The tree of actors that runs tasks, and what keeps it alive.
//!
//! ```text
//! SupervisorActor                       drains the process when a child fails too often
//! ├── SchedulerActor                    periodic work: schedules, sweeps, recovery, pruning
//! │   and in a process that runs tasks
//! ├── ProxyPoolActor                    who may use which proxy now
//! └── PodActor (one a pod)              wakes and commands its workers
//!     └── WorkerActor (a few a pod)     slots, back-off, registry
//!         └── TaskActor (one a slot)    asks the Claimer for a task and spawns its run
//! above it      Root, which restarts the supervisor
//! beside them   Lifecycle · Watchdog (own thread) · Claimer · Executor · Heartbeat (own thread) · HeldTasks (every lease)
//! ```
//!
//! Actors do bookkeeping only: no I/O is awaited and no CPU burnt in an actor's handler. Bodies run on the multi-thread
//! runtime. Actors must not know HTTP routes, platforms or files.

pub mod after_hooks;
pub mod cgroup;
pub mod chore;
pub mod claimer;
pub mod decommissioned_workers;
pub mod deps;
pub mod execute;
pub mod fetch_counts;
pub mod heartbeat;
pub mod held_tasks;
pub mod hosts;
pub mod lifecycle;
pub mod lost_run;
pub mod messages;
pub mod panics;
pub mod plan;
pub mod pod;
pub mod pods;
pub mod proxy_pool;
pub mod prune;
pub mod recovery;
pub mod registration;
pub mod resources;
pub mod restart_limit;
pub mod robots;
pub mod root;
pub mod runner;
pub mod scheduler;
pub mod settle;
pub mod supervision;
pub mod supervisor;
pub mod task;
pub mod task_guard;
pub mod tree;
pub mod watchdog;
pub mod worker;

//! The tree of actors that runs tasks, and what keeps it alive.
//!
//! ```text
//! SupervisorActor                       exits the process when a branch fails too often
//! ├── ProxyPoolActor                    who may use which proxy now
//! ├── SchedulerActor                    periodic work: schedules, sweeps, recovery, pruning
//! └── PodActor (one a pod)              wakes and commands its workers
//!     └── WorkerActor (a few a pod)     slots, back-off, registry
//!         └── TaskActor (one a slot)    claims a task, watches over its body and its lease
//! beside them   Claimer · Heartbeat (own thread) · Watchdog (own thread) · Ledger of what is held
//! ```
//!
//! Actors do bookkeeping only: no I/O is awaited and no CPU burnt in an actor's handler. Bodies run on the multi-thread
//! runtime. Actors must not know HTTP routes, platforms or files.

pub mod cell;
pub mod claimer;
pub mod custody;
pub mod execute;
pub mod heartbeat;
pub mod intensity;
pub mod ledger;
pub mod lifecycle;
pub mod plan;
pub mod pod;
pub mod proxy_pool;
pub mod resources;
pub mod root;
pub mod scheduler;
pub mod shared;
pub mod supervision;
pub mod supervisor;
pub mod task;
pub mod tree;
pub mod watchdog;
pub mod worker;

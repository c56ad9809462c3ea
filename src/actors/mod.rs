//! The tree of actors that runs tasks, and its supervision.
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
//! ```text
//! tree          starts and ends all of it, by a plan
//! supervisor    SupervisorActor, and Root above it
//! scheduler     SchedulerActor and the chores that it begins
//! proxy_pool    ProxyPoolActor, the handle that sessions hold, the counts of requests
//! pods          PodActor, WorkerActor and TaskActor, the worker's row of the registry, recovery
//! names         names of pods
//! load          memory and CPU, by which workers back off
//! ```
//!
//! The crate `supervision` runs and restarts actors of any kind; the crate `queue` claims tasks, runs and
//! settles them.
//!
//! Actors do bookkeeping only: no I/O is awaited and no CPU burnt in an actor's handler. Bodies run on the
//! multi-thread runtime. Actors must not know HTTP routes, platforms or files.

pub mod load;
pub mod names;
pub mod plan;
pub mod pods;
pub mod proxy_pool;
pub mod scheduler;
pub mod supervisor;
pub mod tree;

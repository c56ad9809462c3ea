//! The configuration's types: one struct a section of `config/default.toml`, which is its manual.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Config {
    pub database: Database,
    pub queue: Queue,
    pub worker: Worker,
    pub topology: Topology,
    pub supervision: Supervision,
    pub proxies: Proxies,
    pub http: Http,
    pub politeness: Politeness,
    pub platform: Platforms,
    pub storage: Storage,
    pub api: Api,
    pub retention: Retention,
    pub log: Log,
}

#[derive(Clone, Debug)]
pub struct Database {
    /// Empty = the private server in `dir`.
    pub url: String,
    /// Empty = the user's data home (as root `/var/lib/drover`).
    pub dir: Option<PathBuf>,
    pub pool_work: usize,
    pub pool_api: usize,
    pub connect_timeout: Duration,
    pub statement_timeout: Duration,
    pub transaction_timeout: Duration,
    pub maintenance_timeout: Duration,
}

#[derive(Clone, Debug)]
pub struct Queue {
    pub lease: Duration,
    /// None = min(30 s, lease / 4).
    pub heartbeat: Option<Duration>,
    pub recovery_tick: Duration,
    pub poll_interval: Duration,
    /// How often what became due is looked for.
    pub sweep_due: Duration,
    /// How often everything is looked through.
    pub sweep_all: Duration,
    pub schedule_tick: Duration,
    pub retry_base: Duration,
    pub retry_cap: Duration,
    /// Retry base by role, where it differs.
    pub retry_base_by_role: BTreeMap<String, Duration>,
    /// Longest time a task may be snoozed in a row.
    pub snooze_limit: Duration,
}

#[derive(Clone, Debug)]
pub struct Worker {
    /// WORKER_ROLE as written.
    pub role: String,
    /// WORKER_ID; empty = made up.
    pub id: String,
    /// Where `drover worker` serves /livez and /metrics; empty = nowhere.
    pub listen: String,
    /// Share of memory above which nothing is claimed; 0 = off.
    pub memory_backoff_threshold: f64,
    /// Share of CPU above which nothing is claimed; 0 = off.
    pub cpu_backoff_threshold: f64,
    pub backoff_duration: Duration,
    /// How long a stopping worker lets its tasks run.
    pub grace: Duration,
}

#[derive(Clone, Debug)]
pub struct Topology {
    pub pods: usize,
    pub workers_per_pod: usize,
    /// MAX_CONCURRENT_TASKS: tasks a worker runs at once.
    pub slots: usize,
    pub pod_names: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Supervision {
    pub restarts: usize,
    pub window: Duration,
    pub backoff: Duration,
    pub backoff_max: Duration,
    pub ping: Duration,
    pub hung_after: Duration,
    pub stop_grace: Duration,
}

#[derive(Clone, Debug)]
pub struct Proxies {
    pub sessions: usize,
    /// How long a session waits for a free proxy before its task is snoozed.
    pub wait: Duration,
    pub snooze: Duration,
    pub rotations_per_request: u32,
    pub rotations_per_task: u32,
    pub bench_base: Duration,
    pub bench_cap: Duration,
    pub failures_to_bench: u32,
    pub blocks_to_bench: u32,
    /// How often the oldest benched proxy is tried while none is active.
    pub revive_every: Duration,
    pub flush_every: Duration,
}

#[derive(Clone, Debug)]
pub struct Http {
    pub connect_timeout: Duration,
    pub first_byte_timeout: Duration,
    pub idle_timeout: Duration,
    pub whole_timeout: Duration,
    /// Bytes of a body after inflating.
    pub max_body_bytes: usize,
    pub max_pages: u32,
    pub extra_ca_file: Option<PathBuf>,
    /// Hosts that may be contacted beside the platforms' own.
    pub host_allowlist: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Politeness {
    /// Per host; 0 = no limit.
    pub requests_per_second: f64,
    /// Per host; 0 = no limit.
    pub concurrency: usize,
    pub page_pause_min: Duration,
    pub page_pause_max: Duration,
    pub retry_after_cap: Duration,
}

#[derive(Clone, Debug)]
pub struct Platforms {
    pub dutchie: Dutchie,
}

#[derive(Clone, Debug)]
pub struct Dutchie {
    /// Scheme, host and port of the platform's own API; a store's api_host replaces host and port only.
    pub base_url: String,
    pub api_path: String,
    pub per_page: u32,
    /// A crawl that holds less of the announced products fails.
    pub min_coverage: f64,
}

#[derive(Clone, Debug)]
pub struct Storage {
    /// STORAGE_DRIVER; only `local` now.
    pub driver: String,
    /// None = the data directory.
    pub root: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub struct Api {
    pub listen: String,
    pub max_body_bytes: usize,
    pub request_timeout: Duration,
}

#[derive(Clone, Debug)]
pub struct Retention {
    pub completed: Duration,
    pub failed: Duration,
    pub prune_every: Duration,
    pub prune_batch: i64,
}

#[derive(Clone, Debug)]
pub struct Log {
    pub level: String,
    /// `auto` (pretty on a terminal, JSON lines otherwise), `pretty` or `json`.
    pub format: String,
}

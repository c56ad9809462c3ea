//! The configuration: one struct a section of `config/default.toml`, which is its manual and its schema.
//!
//! The only reader of the environment. [`Config::load`] merges the layers, reports all faults at once and
//! keeps the origin of each value; it must not know who uses a setting, beyond the rules of `validate`.

mod database_url;
pub mod durations;
mod errors;
mod files;
pub mod kept;
mod layers;
mod live;
mod load;
mod own_name;
mod platforms;
mod secret;
mod show;
mod sizes;
#[cfg(test)]
mod tests;
mod validate;
mod validate_storage;
mod variables;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Deserializer};
use url::Url;

pub use database_url::DatabaseUrl;
pub use errors::{ConfigErrors, Fault};
pub use files::{Overlay, Overlays};
pub use live::{Live, LiveConfig, SettingChange, changes};
pub use load::{Flag, LoadedConfig, Sources};
pub use platforms::PlatformSettings;
pub use secret::Secret;
pub use show::Setting;

use domain::host::HostLimits;
use domain::http::robots::RobotsPolicy;
use domain::media::account::AddressTemplate;
use domain::proxy::Budgets;
use domain::store::per_platform::PerPlatform;
use domain::task::LeaseTimes;
use domain::task::role::RoleSet;
use domain::vocabulary;
use foundation::secrets::SecretKeys;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub database: Database,
    pub queue: Queue,
    pub worker: Worker,
    pub topology: Topology,
    pub supervision: Supervision,
    pub proxies: Proxies,
    pub secrets: Secrets,
    pub http: Http,
    pub politeness: Politeness,
    pub platform: PerPlatform<PlatformSettings>,
    pub storage: Storage,
    pub images: Images,
    pub media: Media,
    pub probes: Probes,
    pub api: Api,
    pub client: ApiClient,
    pub geo: Geo,
    pub kubernetes: Kubernetes,
    pub changes: Changes,
    pub retention: Retention,
    pub log: Log,
    /// Data files of `--config DIR` that replace the compiled ones.
    #[serde(skip)]
    pub overlays: Overlays,
    /// Directory of data when `database.dir` is empty.
    #[serde(skip)]
    pub data_home: PathBuf,
}

impl Config {
    /// The data directory, as an absolute or relative path that may not exist yet.
    pub fn data_dir(&self) -> &Path {
        self.database.dir.as_deref().unwrap_or(&self.data_home)
    }

    /// Hosts from which images of any platform may be downloaded.
    pub fn image_hosts(&self) -> Vec<String> {
        self.platform.iter().flat_map(|(_, settings)| &settings.image_hosts).cloned().collect()
    }

    /// Directory in which `payloads/…` is.
    pub fn storage_root(&self) -> &Path {
        self.storage.root.as_deref().unwrap_or(self.data_dir())
    }

    /// Directory of media files until they are whole.
    pub fn media_work_dir(&self) -> PathBuf {
        let beside_files = || self.data_dir().join("media-work");
        self.media.work_dir.clone().unwrap_or_else(beside_files)
    }

    /// Number of workers in each pod of this process.
    pub fn workers_per_pod(&self) -> usize {
        if self.has_media_workers() { self.media.workers } else { self.topology.workers_per_pod }
    }

    /// Tasks that each worker of this process runs at once.
    pub fn slots(&self) -> usize {
        if self.has_media_workers() { self.media.slots } else { self.topology.slots }
    }

    /// How often each worker of this process asks for tasks when no notification wakes it.
    pub fn poll_interval(&self) -> Duration {
        if self.has_media_workers() { self.media.poll_interval } else { self.queue.poll_interval }
    }

    /// Whether the workers of this process have media roles alone.
    fn has_media_workers(&self) -> bool {
        self.worker.role.parse::<RoleSet>().is_ok_and(|roles| roles.is_media())
    }

    /// The lease with its heartbeat, set or derived.
    pub fn lease_times(&self) -> LeaseTimes {
        let lease = self.queue.lease;
        let heartbeat = self.queue.heartbeat.unwrap_or_else(|| LeaseTimes::default_heartbeat(lease));
        LeaseTimes { lease, heartbeat }
    }

    /// How long after its task actor's last beat a lease is still renewed, set or derived.
    pub fn beat_grace(&self) -> Duration {
        self.queue.beat_grace.unwrap_or_else(|| self.min_beat_grace() + self.lease_times().heartbeat)
    }

    /// Time from the last beat before an actor hangs until the watchdog has noticed it: a shorter grace would cost leases that
    /// the drain which follows still needs.
    fn min_beat_grace(&self) -> Duration {
        self.lease_times().heartbeat + self.supervision.hung_after + 2 * self.supervision.ping
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Database {
    /// Empty = the private server in `dir`. May hold a password: [`DatabaseUrl::masked`] is its printable
    /// form.
    pub url: Secret,
    /// Empty = the user's data home (as root `/var/lib/drover`).
    #[serde(deserialize_with = "path_unless_empty")]
    pub dir: Option<PathBuf>,
    /// Directory of the private server's programs; None = looked for.
    #[serde(deserialize_with = "path_unless_empty")]
    pub pg_bin: Option<PathBuf>,
    /// A pooler in transaction mode is in front of the server.
    pub pooler: bool,
    pub pool_work: usize,
    pub pool_api: usize,
    #[serde(with = "durations")]
    pub connect_timeout: Duration,
    #[serde(with = "durations")]
    pub statement_timeout: Duration,
    #[serde(with = "durations")]
    pub transaction_timeout: Duration,
    #[serde(with = "durations")]
    pub maintenance_timeout: Duration,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Queue {
    #[serde(with = "durations")]
    pub lease: Duration,
    /// None = min(30 s, lease / 4).
    #[serde(with = "durations::optional")]
    pub heartbeat: Option<Duration>,
    /// None = [`Config::min_beat_grace`] and one heartbeat.
    #[serde(with = "durations::optional")]
    pub beat_grace: Option<Duration>,
    #[serde(with = "durations")]
    pub recovery_tick: Duration,
    #[serde(with = "durations")]
    pub poll_interval: Duration,
    /// How often tasks that became due are made ready.
    #[serde(with = "durations")]
    pub sweep_due: Duration,
    /// How often all open tasks and reservations are checked.
    #[serde(with = "durations")]
    pub sweep_all: Duration,
    #[serde(with = "durations")]
    pub schedule_tick: Duration,
    #[serde(with = "durations")]
    pub retry_base: Duration,
    #[serde(with = "durations")]
    pub retry_cap: Duration,
    /// Retry base by role, where it differs.
    #[serde(with = "durations::by_name")]
    pub retry_base_by_role: BTreeMap<String, Duration>,
    /// Longest time a task may be snoozed in a row.
    #[serde(with = "durations")]
    pub snooze_limit: Duration,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worker {
    /// WORKER_ROLE as written.
    pub role: String,
    /// WORKER_ID; empty = made up.
    pub id: String,
    /// The host's name, whose trailing number picks the pod's name; empty = not used.
    pub host: String,
    /// Share of memory above which nothing is claimed; 0 = off.
    pub memory_backoff_threshold: f64,
    /// Share of CPU above which nothing is claimed; 0 = off.
    pub cpu_backoff_threshold: f64,
    #[serde(with = "durations")]
    pub backoff_duration: Duration,
    /// How long a stopping worker lets its tasks run.
    #[serde(with = "durations")]
    pub grace: Duration,
    /// Runs after which a process of `drover worker` ends; 0 = never.
    pub recycle_after: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    pub pods: usize,
    pub workers_per_pod: usize,
    /// MAX_CONCURRENT_TASKS: tasks a worker runs at once.
    pub slots: usize,
    pub pod_names: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Supervision {
    pub restarts: usize,
    #[serde(with = "durations")]
    pub window: Duration,
    #[serde(with = "durations")]
    pub backoff: Duration,
    #[serde(with = "durations")]
    pub backoff_max: Duration,
    #[serde(with = "durations")]
    pub ping: Duration,
    #[serde(with = "durations")]
    pub hung_after: Duration,
    #[serde(with = "durations")]
    pub stop_grace: Duration,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proxies {
    pub sessions: usize,
    /// How long a session waits for a free proxy before its task is snoozed.
    #[serde(with = "durations")]
    pub wait: Duration,
    #[serde(with = "durations")]
    pub snooze: Duration,
    pub rotations_per_request: u32,
    pub rotations_per_task: u32,
    #[serde(with = "durations")]
    pub bench_base: Duration,
    #[serde(with = "durations")]
    pub bench_cap: Duration,
    pub failures_to_bench: u32,
    pub blocks_to_bench: u32,
    /// How often the oldest benched proxy is tried while none is active, and the last active one while it
    /// fails.
    #[serde(with = "durations")]
    pub revive_every: Duration,
    #[serde(with = "durations")]
    pub flush_every: Duration,
    /// Budget of each proxy, for all processes together.
    #[serde(with = "sizes::optional")]
    pub budget_bytes_per_day: Option<usize>,
    #[serde(with = "sizes::optional")]
    pub budget_bytes_per_day_in_all: Option<usize>,
    /// Roots that https proxies may have beside the public ones.
    #[serde(deserialize_with = "path_unless_empty")]
    pub extra_ca_file: Option<PathBuf>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secrets {
    /// Empty = passwords are stored as they are.
    pub key: Secret,
    pub previous_keys: Vec<Secret>,
}

impl Proxies {
    pub fn budgets(&self) -> Budgets {
        let bytes = |size: usize| i64::try_from(size).unwrap_or(i64::MAX);
        Budgets { each: self.budget_bytes_per_day.map(bytes), in_all: self.budget_bytes_per_day_in_all.map(bytes) }
    }
}

impl Secrets {
    pub fn keys(&self) -> SecretKeys {
        // they were checked when they were read
        SecretKeys::parse(self.key.reveal(), self.revealed_previous()).unwrap_or_default()
    }

    fn revealed_previous(&self) -> impl Iterator<Item = &str> {
        self.previous_keys.iter().map(Secret::reveal)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Http {
    #[serde(with = "durations")]
    pub connect_timeout: Duration,
    #[serde(with = "durations")]
    pub first_byte_timeout: Duration,
    #[serde(with = "durations")]
    pub idle_timeout: Duration,
    #[serde(with = "durations")]
    pub whole_timeout: Duration,
    /// Bytes of a body after inflating.
    #[serde(with = "sizes")]
    pub max_body_bytes: usize,
    pub max_pages: u32,
    #[serde(deserialize_with = "path_unless_empty")]
    pub extra_ca_file: Option<PathBuf>,
    /// Hosts that may be contacted beside the platforms' own.
    pub host_allowlist: Vec<String>,
    /// Empty = drover and its version.
    pub own_name: String,
    /// Empty = none.
    pub own_contact: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Politeness {
    /// Per host, of all processes together; 0 = no limit.
    pub requests_per_second: f64,
    /// Per host, of all processes together; 0 = no limit.
    pub concurrency: usize,
    #[serde(with = "durations")]
    pub page_pause_min: Duration,
    #[serde(with = "durations")]
    pub page_pause_max: Duration,
    #[serde(with = "durations")]
    pub retry_after_cap: Duration,
    /// Share of refused requests that opens a host's breaker; 0 = it never opens.
    pub breaker_share: f64,
    pub breaker_requests: u32,
    #[serde(with = "durations")]
    pub breaker_window: Duration,
    /// Holds in a row that open it as well; 0 = none do.
    pub breaker_holds: u32,
    #[serde(with = "durations")]
    pub breaker_base: Duration,
    #[serde(with = "durations")]
    pub breaker_cap: Duration,
    /// A word of [`RobotsPolicy`].
    pub robots: String,
    /// `host=policy`, where it differs.
    pub robots_by_host: Vec<String>,
}

impl Politeness {
    pub fn robots_policy(&self, host: &str) -> RobotsPolicy {
        let mut entries = self.robots_by_host.iter().filter_map(|entry| RobotsPolicy::of_host(entry));
        let own = entries.find(|(name, _)| name.eq_ignore_ascii_case(host)).map(|(_, policy)| policy);
        // the words were checked when they were read
        own.or_else(|| vocabulary::find(&self.robots)).unwrap_or(RobotsPolicy::Report)
    }

    /// Settings for the rules of `domain::host`; a probe may take as long as a `whole` request.
    pub fn host_limits(&self, whole: Duration) -> HostLimits {
        HostLimits {
            rate: self.requests_per_second,
            share_to_open: self.breaker_share,
            min_requests: f64::from(self.breaker_requests),
            window: self.breaker_window,
            holds_to_open: self.breaker_holds,
            open_base: self.breaker_base,
            open_cap: self.breaker_cap,
            // one that died with its process must not keep the host shut for longer than a pause may take
            probe_time: whole.min(self.breaker_cap),
            hold_cap: self.retry_after_cap,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storage {
    /// `local`, `s3`, `gcs` or `azure`.
    pub driver: String,
    /// None = the data directory.
    #[serde(deserialize_with = "path_unless_empty")]
    pub root: Option<PathBuf>,
    /// Name of the bucket; with Azure, of the container.
    pub bucket: String,
    /// Begins each object's name; without slashes at its ends.
    pub prefix: String,
    /// Empty = the service's own.
    pub endpoint: String,
    pub region: String,
    /// Whether plain HTTP is allowed, for a loopback address only.
    pub allow_http: bool,
    /// Roots that the service may have beside the public ones.
    #[serde(deserialize_with = "path_unless_empty")]
    pub extra_ca_file: Option<PathBuf>,
    /// The storage account of Azure.
    pub account: String,
    pub account_key: Secret,
    /// Goes before `account_key`.
    #[serde(deserialize_with = "path_unless_empty")]
    pub account_key_file: Option<PathBuf>,
    pub access_key_id: Secret,
    /// Goes before `access_key_id`.
    #[serde(deserialize_with = "path_unless_empty")]
    pub access_key_id_file: Option<PathBuf>,
    pub secret_access_key: Secret,
    /// Goes before `secret_access_key`.
    #[serde(deserialize_with = "path_unless_empty")]
    pub secret_access_key_file: Option<PathBuf>,
    /// The key of a service account of Google, a JSON file.
    #[serde(deserialize_with = "path_unless_empty")]
    pub service_account_file: Option<PathBuf>,
}

impl Storage {
    /// Whether files are in a directory of this machine.
    pub fn is_local(&self) -> bool {
        self.driver == Storage::LOCAL
    }

    pub const LOCAL: &str = "local";
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Images {
    pub download: bool,
    /// Maximum number of downloads at once in this process.
    pub concurrency: usize,
    /// Maximum time for one answer.
    #[serde(with = "durations")]
    pub timeout: Duration,
    #[serde(with = "durations")]
    pub retry_base: Duration,
    /// `open` or `token`.
    pub access: String,
    /// Empty = addresses need no signature.
    pub signing_key: Secret,
    /// Maximum size of the variants on disk.
    #[serde(with = "sizes")]
    pub cache_bytes: usize,
    pub render_queue: usize,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Media {
    /// Number of workers in a pod with media roles alone.
    pub workers: usize,
    /// WORKER_CONCURRENCY: tasks that a worker with media roles alone runs at once.
    pub slots: usize,
    /// WORKER_POLL_INTERVAL: how often such a worker asks for tasks when no notification wakes it.
    #[serde(with = "durations")]
    pub poll_interval: Duration,
    /// Addresses of private networks may be asked.
    pub allow_private: bool,
    /// Tools get a proxy.
    pub use_proxies: bool,
    /// None = beside the data.
    #[serde(deserialize_with = "path_unless_empty")]
    pub work_dir: Option<PathBuf>,
    #[serde(with = "sizes")]
    pub max_file_bytes: usize,
    pub youtube_url: Url,
    pub easynews_url: Url,
    pub tmdb_url: Url,
    /// Minimum time between two requests to a forum.
    #[serde(with = "durations")]
    pub forum_interval: Duration,
    /// Hosts whose pages, linked in forums, are downloaded.
    pub page_hosts: Vec<String>,
    pub yt_dlp: PathBuf,
    pub gallery_dl: PathBuf,
    /// Directories with colons between them.
    pub tool_path: String,
    /// Platforms by their names.
    pub platforms: BTreeMap<String, MediaPlatform>,
}

/// A platform with accounts.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MediaPlatform {
    pub url: AddressTemplate,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probes {
    /// Empty = probes are not served apart from the API.
    pub listen: String,
    /// Minimum time between the signal to stop and the end of API and probes.
    #[serde(with = "durations")]
    pub drain_delay: Duration,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Api {
    pub listen: String,
    /// Begins with a slash and ends without one; empty = the root.
    pub base_path: String,
    /// Names by which clients call the server, beside the loopback names.
    pub hosts: Vec<String>,
    #[serde(with = "sizes")]
    pub max_body_bytes: usize,
    #[serde(with = "durations")]
    pub request_timeout: Duration,
    /// Maximum number of connections from one address; 0 = no limit.
    pub connections_per_address: usize,
    /// Maximum requests of each token; 0 = unlimited.
    pub requests_per_minute: u32,
    /// Maximum requests of each token with the access role consumer.
    pub consumer_requests_per_minute: u32,
}

/// Places of addresses.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Geo {
    /// An IP2Location BIN or MMDB file; None = lookups are off.
    #[serde(deserialize_with = "path_unless_empty")]
    pub database: Option<PathBuf>,
}

/// The workers' StatefulSet.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kubernetes {
    pub namespace: String,
    pub statefulset: String,
    pub min_replicas: u32,
    pub max_replicas: u32,
    /// Deadline of one call.
    #[serde(with = "durations")]
    pub timeout: Duration,
    /// None = the service account of this process's pod.
    #[serde(deserialize_with = "path_unless_empty")]
    pub kubeconfig: Option<PathBuf>,
}

/// How commands reach the API.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiClient {
    /// Empty = the API of the process itself, on the database.
    pub url: String,
    pub token: Secret,
}

impl Api {
    /// Whether only this machine can connect.
    pub fn is_loopback(&self) -> bool {
        self.listen.parse().is_ok_and(|address: SocketAddr| address.ip().is_loopback())
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changes {
    /// Maximum quantity of an option that is few.
    pub low_stock: i32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    #[serde(with = "durations")]
    pub completed: Duration,
    #[serde(with = "durations")]
    pub failed: Duration,
    /// The same of media jobs, in place of `completed`.
    #[serde(with = "durations")]
    pub completed_jobs: Duration,
    #[serde(with = "durations")]
    pub failed_jobs: Duration,
    #[serde(with = "durations")]
    pub prune_every: Duration,
    pub prune_batch: i64,
    /// Retention of counts by minute.
    #[serde(with = "durations")]
    pub stats: Duration,
    /// Retention of the log of changes by request.
    #[serde(with = "durations")]
    pub audit: Duration,
    /// None = kept forever.
    #[serde(with = "durations::optional")]
    pub payloads: Option<Duration>,
    /// None = kept forever.
    #[serde(with = "durations::optional")]
    pub snapshots: Option<Duration>,
    #[serde(with = "durations")]
    pub changes: Duration,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub level: String,
    /// `auto` (pretty on a terminal, JSON lines otherwise), `pretty` or `json`.
    pub format: String,
    /// `auto`, `always` or `never`.
    pub color: String,
}

fn path_unless_empty<'de, D: Deserializer<'de>>(from: D) -> Result<Option<PathBuf>, D::Error> {
    let text = String::deserialize(from)?;
    Ok((!text.is_empty()).then(|| PathBuf::from(text)))
}

//! `LiveConfig`: the configuration of a running process, of which some keys follow their files.
//!
//! In: the sources, read again. Out: which keys changed, which of them wait for a restart, and the new configuration for all that
//! watch it. A faulty file changes nothing. It must not know when the files change, or what the keys do.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::{Config, ConfigErrors, LoadedConfig, Setting, Sources};

/// Names the keys that take effect in a running process, and takes them over.
macro_rules! live_keys {
    ($($section:ident.$key:ident),+ $(,)?) => {
        const LIVE_KEYS: &[&str] = &[$(concat!(stringify!($section), ".", stringify!($key))),+];

        impl Config {
            fn with_live_keys_of(&self, new: &Config) -> Config {
                let mut config = self.clone();
                $(config.$section.$key.clone_from(&new.$section.$key);)+
                config
            }
        }
    };
}

live_keys! {
    changes.low_stock,
    log.level,
    media.slots,
    media.workers,
    politeness.breaker_base,
    politeness.breaker_cap,
    politeness.breaker_holds,
    politeness.breaker_requests,
    politeness.breaker_share,
    politeness.breaker_window,
    politeness.concurrency,
    politeness.page_pause_max,
    politeness.page_pause_min,
    politeness.requests_per_second,
    politeness.retry_after_cap,
    politeness.robots,
    politeness.robots_by_host,
    proxies.bench_base,
    proxies.bench_cap,
    proxies.blocks_to_bench,
    proxies.budget_bytes_per_day,
    proxies.budget_bytes_per_day_in_all,
    proxies.failures_to_bench,
    proxies.flush_every,
    proxies.revive_every,
    proxies.rotations_per_request,
    proxies.rotations_per_task,
    proxies.sessions,
    proxies.snooze,
    proxies.wait,
    retention.audit,
    retention.changes,
    retention.completed,
    retention.completed_jobs,
    retention.failed,
    retention.failed_jobs,
    retention.payloads,
    retention.prune_batch,
    retention.snapshots,
    topology.pods,
    topology.slots,
    topology.workers_per_pod,
    worker.backoff_duration,
    worker.cpu_backoff_threshold,
    worker.memory_backoff_threshold,
}

/// Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct LiveConfig(Arc<watch::Sender<Arc<LoadedConfig>>>);

/// A key whose value in the sources differs from the one in use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SettingChange {
    pub key: String,
    /// The value in use.
    pub from: serde_json::Value,
    pub to: serde_json::Value,
    /// The running process keeps the value in use until it is started again.
    pub needs_restart: bool,
}

/// A part of the configuration, as it is at each look. Cheap to clone.
#[derive(Clone)]
pub struct Live<T>(Arc<dyn Fn() -> T + Send + Sync>);

impl<T> Live<T> {
    pub fn current(&self) -> T {
        (self.0)()
    }
}

/// A part that never changes.
impl<T: Clone + Send + Sync + 'static> From<T> for Live<T> {
    fn from(fixed: T) -> Live<T> {
        Live(Arc::new(move || fixed.clone()))
    }
}

impl LiveConfig {
    /// A part that follows the configuration.
    pub fn part<T: 'static>(&self, of: fn(&Config) -> T) -> Live<T> {
        let live = self.clone();
        Live(Arc::new(move || of(&live.current().config)))
    }

    pub fn new(loaded: LoadedConfig) -> LiveConfig {
        LiveConfig(Arc::new(watch::Sender::new(Arc::new(loaded))))
    }

    /// A configuration without files that it could follow.
    pub fn fixed(config: Config) -> LiveConfig {
        LiveConfig::new(LoadedConfig { config, environment: String::new(), settings: Vec::new() })
    }

    pub fn current(&self) -> Arc<LoadedConfig> {
        self.0.borrow().clone()
    }

    /// Changes with each reload that changed something.
    pub fn subscribe(&self) -> watch::Receiver<Arc<LoadedConfig>> {
        self.0.subscribe()
    }

    /// Reads the sources again and takes over what may change. Returns all changes.
    pub fn reload(&self, sources: &Sources) -> Result<Vec<SettingChange>, ConfigErrors> {
        let (old, new) = (self.current(), Config::load(sources)?);
        let changes = changes(&old.settings, &new.settings);
        if changes.iter().any(|change| !change.needs_restart) {
            self.0.send_replace(Arc::new(old.with_live_keys_of(&new)));
        }
        Ok(changes)
    }
}

/// Differences between the settings in use and those of the sources. Of a secret, only whether there is one is known.
pub fn changes(in_use: &[Setting], sources: &[Setting]) -> Vec<SettingChange> {
    let value_in_use = |key: &str| in_use.iter().find(|setting| setting.key == key).map(|setting| &setting.value);
    let changed = sources.iter().filter_map(|Setting { key, value, .. }| {
        let from = value_in_use(key).filter(|from| *from != value)?;
        Some(SettingChange { key: key.clone(), from: from.clone(), to: value.clone(), needs_restart: !is_live(key) })
    });
    changed.collect()
}

fn is_live(key: &str) -> bool {
    LIVE_KEYS.contains(&key)
}

impl LoadedConfig {
    fn with_live_keys_of(&self, new: &LoadedConfig) -> LoadedConfig {
        let settings = self.settings.iter().map(|old| {
            let newer = new.settings.iter().find(|setting| setting.key == old.key && is_live(&old.key));
            newer.unwrap_or(old).clone()
        });
        LoadedConfig {
            config: self.config.with_live_keys_of(&new.config),
            environment: self.environment.clone(),
            settings: settings.collect(),
        }
    }
}

impl Display for SettingChange {
    /// `topology.slots 3 -> 5`
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} -> {}", self.key, self.from, self.to)
    }
}

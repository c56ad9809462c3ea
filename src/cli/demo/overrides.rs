//! The settings that a demo sets by itself, as the page and the command of settings show them: with the demo as their
//! origin.

use std::time::Duration;

use serde_json::{Value, json};

use domain::store::Platform;
use settings::{Config, LiveConfig, LoadedConfig, PlatformSettings, Setting};

const ORIGIN: &str = "the demo";

/// The settings of `loaded`, with the values of `config` in the place of those that it has changed.
pub fn shown(loaded: &LoadedConfig, config: &Config) -> LiveConfig {
    let mut settings = loaded.settings.clone();
    let before = values(&loaded.config);
    for (key, value) in values(config).into_iter().filter(|value| !before.contains(value)) {
        match settings.iter_mut().find(|setting| setting.key == key) {
            Some(setting) => *setting = Setting { key, value, origin: ORIGIN.to_owned() },
            None => settings.push(Setting { key, value, origin: ORIGIN.to_owned() }),
        }
    }
    settings.sort_by(|one, other| one.key.cmp(&other.key));
    LiveConfig::new(LoadedConfig { config: config.clone(), environment: loaded.environment.clone(), settings })
}

/// Every value that `world::adapt`, `limits::adapt` and the demo itself may change.
fn values(config: &Config) -> Vec<(String, Value)> {
    let Config { politeness, worker, queue, retention, platform, .. } = config;
    let mut values = vec![
        ("http.host_allowlist", json!(config.http.host_allowlist)),
        ("http.own_contact", json!(config.http.own_contact)),
        ("images.cache_bytes", json!(config.images.cache_bytes)),
        ("politeness.breaker_share", json!(politeness.breaker_share)),
        ("politeness.concurrency", json!(politeness.concurrency)),
        ("politeness.page_pause_max", duration(politeness.page_pause_max)),
        ("politeness.page_pause_min", duration(politeness.page_pause_min)),
        ("politeness.requests_per_second", json!(politeness.requests_per_second)),
        ("politeness.robots", json!(politeness.robots)),
        ("queue.lease", duration(queue.lease)),
        ("queue.recovery_tick", duration(queue.recovery_tick)),
        ("queue.retry_base", duration(queue.retry_base)),
        ("retention.completed", duration(retention.completed)),
        ("retention.failed", duration(retention.failed)),
        ("retention.prune_every", duration(retention.prune_every)),
        ("retention.stats", duration(retention.stats)),
        ("storage.driver", json!(config.storage.driver)),
        ("worker.cpu_backoff_threshold", json!(worker.cpu_backoff_threshold)),
        ("worker.grace", duration(worker.grace)),
        ("worker.memory_backoff_threshold", json!(worker.memory_backoff_threshold)),
        ("worker.role", json!(worker.role)),
    ];
    values.extend(queue.heartbeat.map(|every| ("queue.heartbeat", duration(every))));
    values.extend(retention.payloads.map(|age| ("retention.payloads", duration(age))));
    let values = values.into_iter().map(|(key, value)| (key.to_owned(), value));
    values.chain(platform.iter().flat_map(|(platform, settings)| of_platform(platform, settings))).collect()
}

fn of_platform(platform: Platform, settings: &PlatformSettings) -> [(String, Value); 6] {
    let PlatformSettings { enabled, base_url, stores_url, page_url, image_hosts, key, .. } = settings;
    let values = [
        ("enabled", json!(enabled)),
        ("base_url", json!(base_url)),
        ("stores_url", json!(stores_url)),
        ("page_url", json!(page_url)),
        ("image_hosts", json!(image_hosts)),
        ("key", json!(if key.reveal().is_empty() { "" } else { "***" })),
    ];
    values.map(|(name, value)| (format!("platform.{platform}.{name}"), value))
}

fn duration(value: Duration) -> Value {
    json!(humantime::format_duration(value).to_string())
}

#[cfg(test)]
mod tests {
    use settings::Sources;

    use super::*;

    #[test]
    fn what_a_demo_sets_has_the_demo_as_its_origin_and_the_rest_has_its_own() {
        let loaded = Config::load(&Sources::default()).unwrap();
        let mut config = loaded.config.clone();
        config.queue.lease = Duration::from_secs(10);
        config.politeness.requests_per_second = 0.0;
        let shown = shown(&loaded, &config).current();
        let origin_of = |key: &str| shown.settings.iter().find(|setting| setting.key == key).unwrap();
        assert_eq!(
            (&origin_of("queue.lease").value, origin_of("queue.lease").origin.as_str()),
            (&json!("10s"), ORIGIN)
        );
        let set = shown.settings.iter().filter(|setting| setting.origin == ORIGIN);
        assert_eq!(
            set.map(|setting| setting.key.as_str()).collect::<Vec<_>>(),
            ["politeness.requests_per_second", "queue.lease"]
        );
        assert_eq!(shown.settings.len(), loaded.settings.len());
    }
}

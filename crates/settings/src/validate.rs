//! Rules beyond a setting's type: ranges, and settings that must agree with each other. All faults are
//! reported at once.

use std::net::SocketAddr;
use std::time::Duration;

use strum::VariantArray;

use super::platforms::IDENTITIES;
use super::{Config, ConfigErrors, PlatformSettings, Setting};
use domain::http::host_name::HostName;
use domain::http::robots::RobotsPolicy;
use domain::media::account::check_platform;
use domain::task::role::{Role, RoleSet};
use foundation::secrets::SecretKeys;

const MIN_LEASE: Duration = Duration::from_millis(500);
const MIN_TICK: Duration = Duration::from_millis(10);
/// Minimum age of data that retention removes, so that it never removes freshly crawled data.
const MIN_AGE: Duration = Duration::from_secs(24 * 3600);
/// Minimum: with a shorter one, no chart would show anything.
const MIN_STATS_AGE: Duration = Duration::from_secs(3600);
/// A request may have more, and each would be read of the database.
const MIN_BUDGET: usize = 1 << 20;
const MIN_SIGNING_KEY: usize = 32;
/// The database ends a transaction that waits for 10 s.
const MAX_CLUSTER_CALL: Duration = Duration::from_secs(8);
/// Maximum length of a name in Kubernetes.
const MAX_LABEL: usize = 63;
/// A platform may send four times as many, and no more than that are read from one page.
const MAX_PER_PAGE: u32 = 1000;

impl Config {
    pub(super) fn validate(&self, settings: &[Setting], errors: &mut ConfigErrors) {
        let mut rules = Rules { settings, errors };
        self.database_rules(&mut rules);
        self.queue_rules(&mut rules);
        self.worker_rules(&mut rules);
        self.actor_rules(&mut rules);
        self.proxy_rules(&mut rules);
        self.crawl_rules(&mut rules);
        self.image_rules(&mut rules);
        self.media_rules(&mut rules);
        rules.storage(&self.storage);
        self.server_rules(&mut rules);
    }

    fn database_rules(&self, rules: &mut Rules) {
        let database = &self.database;
        rules.min_count("database.pool_work", database.pool_work, 1);
        rules.min_count("database.pool_api", database.pool_api, 1);
        rules.min_duration("database.connect_timeout", database.connect_timeout, MIN_TICK);
        rules.min_duration("database.statement_timeout", database.statement_timeout, MIN_TICK);
        rules.min_duration("database.transaction_timeout", database.transaction_timeout, MIN_TICK);
        rules.min_duration("database.maintenance_timeout", database.maintenance_timeout, MIN_TICK);
        let url = database.url.reveal();
        rules.require(
            !database.pooler || !url.is_empty(),
            "database.pooler",
            "needs database.url: no pooler is in front of the private server",
        );
        let looks_right = url.is_empty() || url.starts_with("postgres") || url.contains('=');
        rules.require(looks_right, "database.url", "is not of the form postgresql://user@host:port/name");
    }

    fn queue_rules(&self, rules: &mut Rules) {
        let queue = &self.queue;
        rules.min_duration("queue.lease", queue.lease, MIN_LEASE);
        rules.min_duration("queue.recovery_tick", queue.recovery_tick, MIN_LEASE);
        for (key, tick) in [
            ("queue.heartbeat", self.lease_times().heartbeat),
            ("queue.poll_interval", queue.poll_interval),
            ("queue.sweep_due", queue.sweep_due),
            ("queue.sweep_all", queue.sweep_all),
            ("queue.schedule_tick", queue.schedule_tick),
            ("queue.retry_cap", queue.retry_cap),
        ] {
            rules.min_duration(key, tick, MIN_TICK);
        }
        let late = self.lease_times().heartbeat > queue.lease / 2;
        rules.require(
            !late,
            "queue.heartbeat",
            "must be at most half of queue.lease, or leases run out between two beats",
        );
        rules.require(
            self.beat_grace() >= self.min_beat_grace(),
            "queue.beat_grace",
            "must be at least a heartbeat, supervision.hung_after and two supervision.ping together, in which a hung actor is noticed",
        );
        rules.require(
            queue.retry_base <= queue.retry_cap,
            "queue.retry_base",
            "must not be longer than queue.retry_cap",
        );
        for role in queue.retry_base_by_role.keys() {
            if let Err(unknown) = role.parse::<Role>() {
                rules.refuse(&format!("queue.retry_base_by_role.{role}"), unknown.to_string());
            }
        }
    }

    fn worker_rules(&self, rules: &mut Rules) {
        let worker = &self.worker;
        if let Err(unknown) = worker.role.parse::<RoleSet>() {
            rules.refuse("worker.role", unknown.to_string());
        }
        rules.share("worker.memory_backoff_threshold", worker.memory_backoff_threshold);
        rules.share("worker.cpu_backoff_threshold", worker.cpu_backoff_threshold);
        rules.min_duration("worker.backoff_duration", worker.backoff_duration, MIN_TICK);
    }

    fn actor_rules(&self, rules: &mut Rules) {
        let topology = &self.topology;
        rules.min_count("topology.pods", topology.pods, 1);
        rules.min_count("topology.workers_per_pod", topology.workers_per_pod, 1);
        rules.min_count("topology.slots", topology.slots, 1);
        rules.require(!topology.pod_names.is_empty(), "topology.pod_names", "needs at least one name");
        let supervision = &self.supervision;
        rules.min_duration("supervision.ping", supervision.ping, MIN_TICK);
        rules.min_duration("supervision.window", supervision.window, MIN_TICK);
        let patient = supervision.hung_after > supervision.ping;
        rules.require(patient, "supervision.hung_after", "must be longer than supervision.ping");
        let grows = supervision.backoff <= supervision.backoff_max;
        rules.require(grows, "supervision.backoff", "must not be longer than supervision.backoff_max");
    }

    fn proxy_rules(&self, rules: &mut Rules) {
        let proxies = &self.proxies;
        rules.min_count("proxies.sessions", proxies.sessions, 1);
        rules.min_count("proxies.failures_to_bench", proxies.failures_to_bench as usize, 1);
        rules.min_count("proxies.blocks_to_bench", proxies.blocks_to_bench as usize, 1);
        rules.min_duration("proxies.revive_every", proxies.revive_every, MIN_TICK);
        rules.min_duration("proxies.flush_every", proxies.flush_every, MIN_TICK);
        for (key, budget) in [
            ("proxies.budget_bytes_per_day", proxies.budget_bytes_per_day),
            ("proxies.budget_bytes_per_day_in_all", proxies.budget_bytes_per_day_in_all),
        ] {
            rules.require(budget.is_none_or(|bytes| bytes >= MIN_BUDGET), key, "must be at least 1MiB, or empty");
        }
        let keeps_a_day = !proxies.budgets().is_set() || self.retention.stats >= 2 * MIN_AGE;
        rules.require(keeps_a_day, "retention.stats", "must be at least 2d, from which budgets of proxies are counted");
        let grows = proxies.bench_base <= proxies.bench_cap;
        rules.require(grows, "proxies.bench_base", "must not be longer than proxies.bench_cap");
        if let Err(error) = SecretKeys::parse(self.secrets.key.reveal(), []) {
            rules.refuse("secrets.key", error.to_string());
        }
        if let Err(error) = SecretKeys::parse("", self.secrets.revealed_previous()) {
            rules.refuse("secrets.previous_keys", format!("one of them {error}"));
        }
    }

    fn crawl_rules(&self, rules: &mut Rules) {
        rules.min_count("http.max_pages", self.http.max_pages as usize, 1);
        rules.min_count("http.max_body_bytes", self.http.max_body_bytes, 1);
        for (key, timeout) in [
            ("http.connect_timeout", self.http.connect_timeout),
            ("http.first_byte_timeout", self.http.first_byte_timeout),
            ("http.idle_timeout", self.http.idle_timeout),
            ("http.whole_timeout", self.http.whole_timeout),
        ] {
            rules.min_duration(key, timeout, MIN_TICK);
        }
        for host in &self.http.host_allowlist {
            rules.require(is_host(host), "http.host_allowlist", &format!("'{host}' is not a host name or address"));
        }
        rules.own_name(&self.http);
        let pause = &self.politeness;
        let ordered = pause.page_pause_min <= pause.page_pause_max;
        rules.require(ordered, "politeness.page_pause_min", "must not be longer than politeness.page_pause_max");
        let rate = pause.requests_per_second;
        rules.require(rate.is_finite() && rate >= 0.0, "politeness.requests_per_second", "must be 0 or more");
        rules.share("politeness.breaker_share", pause.breaker_share);
        rules.min_count("politeness.breaker_requests", pause.breaker_requests as usize, 1);
        rules.min_duration("politeness.breaker_window", pause.breaker_window, Duration::from_secs(1));
        rules.min_duration("politeness.breaker_base", pause.breaker_base, MIN_TICK);
        let grows = pause.breaker_base <= pause.breaker_cap;
        rules.require(grows, "politeness.breaker_base", "must not be longer than politeness.breaker_cap");

        let policies: Vec<&str> = RobotsPolicy::VARIANTS.iter().map(|policy| (*policy).into()).collect();
        rules.one_of("politeness.robots", &pause.robots, &policies);
        for entry in &pause.robots_by_host {
            let is_good = RobotsPolicy::of_host(entry).is_some_and(|(host, _)| is_host(host));
            let expected =
                format!("'{entry}' is not a host and one of {}, as in menu.example.com=obey", policies.join(", "));
            rules.require(is_good, "politeness.robots_by_host", &expected);
        }

        for (platform, settings) in self.platform.iter() {
            platform_rules(settings, |field| format!("platform.{platform}.{field}"), rules);
        }
    }

    fn media_rules(&self, rules: &mut Rules) {
        rules.min_count("media.workers", self.media.workers, 1);
        rules.min_count("media.slots", self.media.slots, 1);
        rules.min_duration("media.poll_interval", self.media.poll_interval, MIN_TICK);
        for (name, platform) in &self.media.platforms {
            let key = format!("media.platforms.{name}.url");
            if let Err(fault) = check_platform(name) {
                rules.refuse(&key, format!("the platform's name {fault}"));
            }
            if let Err(fault) = platform.url.check() {
                rules.refuse(&key, fault.to_string());
            }
        }
    }

    fn image_rules(&self, rules: &mut Rules) {
        let images = &self.images;
        rules.min_count("images.concurrency", images.concurrency, 1);
        rules.min_duration("images.timeout", images.timeout, MIN_TICK);
        rules.min_duration("images.retry_base", images.retry_base, MIN_TICK);
        rules.one_of("images.access", &images.access, &["open", "token"]);
        let key = images.signing_key.reveal();
        let is_long = key.is_empty() || key.len() >= MIN_SIGNING_KEY;
        rules.require(is_long, "images.signing_key", &format!("must have at least {MIN_SIGNING_KEY} characters"));
        rules.min_count("images.render_queue", images.render_queue, 1);
    }

    fn server_rules(&self, rules: &mut Rules) {
        if !self.probes.listen.is_empty() {
            rules.address("probes.listen", &self.probes.listen);
        }
        rules.address("api.listen", &self.api.listen);
        let base_path =
            "must begin with a slash, end without one, and hold only letters, digits and - _ . between slashes";
        rules.require(is_base_path(&self.api.base_path), "api.base_path", base_path);
        rules.min_duration("media.forum_interval", self.media.forum_interval, MIN_TICK);
        for host in &self.media.page_hosts {
            rules.require(
                is_host(host),
                "media.page_hosts",
                "must be host names or addresses, without scheme and port",
            );
        }
        for host in &self.api.hosts {
            rules.require(is_host(host), "api.hosts", "must be host names or addresses, without scheme and port");
        }
        rules.min_count("api.max_body_bytes", self.api.max_body_bytes, 1);
        rules.min_duration("api.request_timeout", self.api.request_timeout, MIN_TICK);
        self.kubernetes_rules(rules);
        rules.min_duration("retention.prune_every", self.retention.prune_every, MIN_TICK);
        rules.require(self.retention.prune_batch >= 1, "retention.prune_batch", "must be at least 1");
        rules.min_duration("retention.stats", self.retention.stats, MIN_STATS_AGE);
        rules.min_duration("retention.audit", self.retention.audit, MIN_AGE);
        rules.min_duration("retention.changes", self.retention.changes, MIN_AGE);
        rules.require(self.changes.low_stock >= 0, "changes.low_stock", "must be at least 0");
        for (key, age) in
            [("retention.payloads", self.retention.payloads), ("retention.snapshots", self.retention.snapshots)]
        {
            rules.min_duration(key, age.unwrap_or(MIN_AGE), MIN_AGE);
        }
        rules.one_of("log.format", &self.log.format, &["auto", "pretty", "json"]);
        rules.one_of("log.color", &self.log.color, &["auto", "always", "never"]);
        if let Err(error) = self.log.level.parse::<tracing_subscriber::filter::Targets>() {
            rules.refuse("log.level", format!("'{}' is not a log level: {error}", self.log.level));
        }
    }

    fn kubernetes_rules(&self, rules: &mut Rules) {
        let kubernetes = &self.kubernetes;
        for (key, name) in
            [("kubernetes.namespace", &kubernetes.namespace), ("kubernetes.statefulset", &kubernetes.statefulset)]
        {
            let problem = "must have 1 to 63 lower-case letters, digits and -, and neither begin nor end with -";
            rules.require(is_label(name), key, problem);
        }
        let ordered = kubernetes.min_replicas <= kubernetes.max_replicas;
        rules.require(ordered, "kubernetes.min_replicas", "must not be greater than kubernetes.max_replicas");
        rules.min_count("kubernetes.max_replicas", kubernetes.max_replicas as usize, 1);
        rules.min_duration("kubernetes.timeout", kubernetes.timeout, MIN_TICK);
        let is_short = kubernetes.timeout <= MAX_CLUSTER_CALL;
        rules.require(is_short, "kubernetes.timeout", "must be at most 8s: a transaction waits for the call");
    }
}

fn platform_rules(settings: &PlatformSettings, key_of: impl Fn(&str) -> String, rules: &mut Rules) {
    let (identity, stores_url) = (key_of("identity"), key_of("stores_url"));
    if rules.has(&identity) {
        rules.one_of(&identity, &settings.identity, &IDENTITIES);
    }
    if rules.has(&stores_url) {
        let is_web = settings.parse_stores_url().is_ok_and(|url| has_host(&url));
        rules.require(is_web, &stores_url, "must be an http or https address");
    }
    let per_page = key_of("per_page");
    if rules.has(&per_page) {
        rules.min_count(&per_page, settings.per_page as usize, 1);
        let fits = settings.per_page <= MAX_PER_PAGE;
        rules.require(fits, &per_page, &format!("must be at most {MAX_PER_PAGE}"));
    }
    rules.share(&key_of("min_coverage"), settings.min_coverage);
    let paths = [("api_path", &settings.api_path), ("stores_path", &settings.stores_path)];
    for (key, path) in paths.map(|(field, path)| (key_of(field), path)) {
        rules.require(!rules.has(&key) || path.starts_with('/'), &key, "must begin with a slash");
    }
    for host in &settings.image_hosts {
        rules.require(is_host(host), &key_of("image_hosts"), &format!("'{host}' is not a host name or address"));
    }

    let page_url = key_of("page_url");
    if rules.has(&page_url) {
        let is_web = settings.parse_page_url().is_ok_and(|url| has_host(&url));
        rules.require(is_web, &page_url, "must be an http or https address");
    }

    let (base_url, key) = (settings.parse_base_url(), key_of("key"));
    if !rules.has(&key) {
        let is_web = base_url.is_ok_and(|url| has_host(&url));
        return rules.require(is_web, &key_of("base_url"), "must be an http or https address");
    }
    let is_sealed = base_url.is_ok_and(|url| keeps_a_key_secret(&url));
    rules.require(is_sealed, &key_of("base_url"), "must be an https address: proxies would read the key");
    let fits_a_header = settings.key.reveal().bytes().all(|byte| byte.is_ascii_graphic());
    rules.require(fits_a_header, &key, "contains a blank or a character that a header cannot have");
}

/// Whether it is a name in Kubernetes, as it is written in a path.
fn is_label(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=MAX_LABEL).contains(&text.len())
        && text.bytes().all(is_plain)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// Whether a key stays secret on its way through a proxy; a loopback address is a test's.
pub(super) fn keeps_a_key_secret(url: &url::Url) -> bool {
    let is_loopback = match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        _ => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback)
}

/// Collects faults, with the origin of each key.
pub(super) struct Rules<'a> {
    settings: &'a [Setting],
    errors: &'a mut ConfigErrors,
}

impl Rules<'_> {
    /// Whether the schema has this key.
    fn has(&self, key: &str) -> bool {
        self.settings.iter().any(|setting| setting.key == key)
    }

    fn refuse(&mut self, key: &str, problem: String) {
        let setting = self.settings.iter().find(|setting| setting.key == key);
        self.errors.push(setting.map_or("", |setting| setting.origin.as_str()), key, problem);
    }

    pub(super) fn require(&mut self, holds: bool, key: &str, problem: &str) {
        if !holds {
            self.refuse(key, problem.to_owned());
        }
    }

    fn min_count(&mut self, key: &str, value: usize, min: usize) {
        self.require(value >= min, key, &format!("must be at least {min}, got {value}"));
    }

    fn min_duration(&mut self, key: &str, value: Duration, min: Duration) {
        let problem = format!("must be at least {}", humantime::format_duration(min));
        self.require(value >= min, key, &problem);
    }

    fn share(&mut self, key: &str, value: f64) {
        self.require((0.0..=1.0).contains(&value), key, &format!("must be between 0 and 1, got {value}"));
    }

    pub(super) fn one_of(&mut self, key: &str, value: &str, allowed: &[&str]) {
        let problem = format!("must be one of {}, got '{value}'", allowed.join(", "));
        self.require(allowed.contains(&value), key, &problem);
    }

    fn address(&mut self, key: &str, listen: &str) -> Option<SocketAddr> {
        let address = listen.parse().ok();
        if address.is_none() {
            self.refuse(key, format!("expected an address and a port such as 127.0.0.1:8080, got '{listen}'"));
        }
        address
    }
}

/// `/a/b`, or nothing.
pub(super) fn is_base_path(text: &str) -> bool {
    let is_plain = |name: &str| {
        !matches!(name, "" | "." | "..")
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
    };
    text.is_empty() || text.strip_prefix('/').is_some_and(|names| names.split('/').all(is_plain))
}

/// A bare host: no scheme, port, path or wildcard.
pub(super) fn is_host(text: &str) -> bool {
    text.parse::<HostName>().is_ok()
}

/// Whether the host of an address is one that can exist.
pub(super) fn has_host(url: &url::Url) -> bool {
    url.host_str().is_some_and(is_host)
}

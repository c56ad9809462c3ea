//! The configuration's promises to its authors.

use std::time::Duration;

use rstest::rstest;

use super::*;

/// Sources with no variables but these, and an empty directory.
fn variables(set: &[(&str, &str)]) -> (tempfile::TempDir, Sources) {
    let dir = tempfile::tempdir().unwrap();
    let variables = set.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect();
    let sources = Sources { dir: Some(dir.path().to_owned()), variables, ..Sources::default() };
    (dir, sources)
}

fn loaded(set: &[(&str, &str)]) -> Config {
    let (_dir, sources) = variables(set);
    Config::load(&sources).unwrap().config
}

fn errors(set: &[(&str, &str)]) -> Vec<String> {
    let (_dir, sources) = variables(set);
    Config::load(&sources).unwrap_err().0.iter().map(ToString::to_string).collect()
}

#[test]
fn the_defaults_are_usable_in_every_environment() {
    for environment in ["", "development", "test", "production"] {
        let config = loaded(&[("DROVER_ENV", environment)]);
        assert_eq!(config.topology.pods * config.topology.workers_per_pod * config.topology.slots, 75);
        assert_eq!(config.lease_times().heartbeat, Duration::from_secs(30));
    }
}

#[test]
fn established_variables_reach_their_keys() {
    let config = loaded(&[
        ("WORKER_ROLE", "payload_fetch"),
        ("WORKER_ID", "007"),
        ("POLL_INTERVAL_MS", "250"),
        ("HEARTBEAT_INTERVAL_MS", "1500"),
        ("MAX_CONCURRENT_TASKS", "9"),
        ("MEMORY_BACKOFF_THRESHOLD", "0.5"),
        ("CPU_BACKOFF_THRESHOLD", "1"),
        ("BACKOFF_DURATION_MS", "20"),
        ("STORAGE_DRIVER", "s3"),
        ("DROVER__STORAGE__BUCKET", "menus"),
        ("AWS_REGION", "eu-north-1"),
        ("AWS_ACCESS_KEY_ID", "AKID"),
        ("AWS_SECRET_ACCESS_KEY", "a/secret"),
        ("K8S_NAMESPACE", "menus"),
        ("K8S_WORKER_STATEFULSET", "crawler"),
        ("PORT", "9999"),
        ("DATABASE_URL", "postgresql://me@db/x"),
        ("NO_COLOR", "1"),
    ]);
    assert_eq!(config.worker.role, "payload_fetch");
    assert_eq!(config.worker.id, "007", "an all-digit string stays a string");
    assert_eq!(config.queue.poll_interval, Duration::from_millis(250));
    assert_eq!(config.queue.heartbeat, Some(Duration::from_millis(1500)));
    assert_eq!(config.topology.slots, 9);
    assert_eq!(config.worker.memory_backoff_threshold, 0.5);
    assert_eq!(config.worker.cpu_backoff_threshold, 1.0);
    assert_eq!(config.worker.backoff_duration, Duration::from_millis(20));
    assert_eq!((config.kubernetes.namespace.as_str(), config.kubernetes.statefulset.as_str()), ("menus", "crawler"));
    assert_eq!(config.api.listen, "127.0.0.1:9999");
    assert_eq!(config.database.url.reveal(), "postgresql://me@db/x");
    assert_eq!(config.log.color, "never");
    assert_eq!((config.storage.driver.as_str(), config.storage.region.as_str()), ("s3", "eu-north-1"));
    assert_eq!(config.storage.access_key_id.reveal(), "AKID");
    assert_eq!(config.storage.secret_access_key.reveal(), "a/secret");
}

#[rstest]
#[case::of_crawls("any", 5, 9, 250)]
#[case::of_media("media", 1, 4, 7000)]
#[case::of_one_media_role("youtube_monitor", 1, 4, 7000)]
#[case::of_both("payload_fetch,download_media", 5, 9, 250)]
fn workers_with_media_roles_alone_have_numbers_of_their_own(
    #[case] role: &str,
    #[case] workers: usize,
    #[case] slots: usize,
    #[case] poll: u64,
) {
    let config = loaded(&[
        ("WORKER_ROLE", role),
        ("MAX_CONCURRENT_TASKS", "9"),
        ("POLL_INTERVAL_MS", "250"),
        ("WORKER_CONCURRENCY", "4"),
        ("WORKER_POLL_INTERVAL", "7"),
    ]);
    assert_eq!((config.workers_per_pod(), config.slots()), (workers, slots));
    assert_eq!(config.poll_interval(), Duration::from_millis(poll));
}

#[rstest]
#[case::empty_ones(&[("DATABASE_URL", ""), ("PORT", ""), ("DROVER__QUEUE__HEARTBEAT", ""), ("DROVER__QUEUE__LEASE", ""), ("DROVER__TOPOLOGY__PODS", "")])]
#[case::of_others(&[("PATH", "/bin"), ("DROVER_FIXTURES", "/x")])]
fn variables_that_say_nothing_are_let_be(#[case] set: &[(&str, &str)]) {
    let config = loaded(set);
    assert_eq!(config.topology.pods, 5);
    assert_eq!(config.queue.lease, Duration::from_secs(600));
    assert_eq!(config.api.listen, "127.0.0.1:8080");
}

#[test]
fn the_last_layer_wins_and_is_named() {
    let (dir, mut sources) = variables(&[
        ("MAX_CONCURRENT_TASKS", "4"),
        ("DROVER__TOPOLOGY__SLOTS", "5"),
        ("PORT", "1111"),
        ("POLL_INTERVAL_MS", "100"),
    ]);
    let file = "[topology]\npods = 7\nslots = 2\n[api]\nlisten = '[::1]:80'\n[queue]\npoll_interval = '9s'";
    std::fs::write(dir.path().join("development.toml"), file).unwrap();
    sources.flags.push(Flag { name: "--pods", key: "topology.pods", value: "8".to_owned() });

    let LoadedConfig { config, settings, .. } = Config::load(&sources).unwrap();
    let origin = |key: &str| settings.iter().find(|setting| setting.key == key).unwrap().origin.clone();
    assert_eq!((config.topology.slots, origin("topology.slots")), (5, "DROVER__TOPOLOGY__SLOTS".to_owned()));
    assert_eq!((config.topology.pods, origin("topology.pods")), (8, "--pods".to_owned()));
    assert_eq!((config.api.listen.as_str(), origin("api.listen")), ("[::1]:1111", "PORT".to_owned()));
    assert_eq!(origin("queue.poll_interval"), "POLL_INTERVAL_MS");
    assert_eq!(origin("queue.lease"), "default.toml (built in)");
}

#[test]
fn every_fault_is_told_at_once_with_its_place_and_key() {
    let (dir, mut sources) = variables(&[
        ("DROVER__QUEUE__LEESE", "4s"),
        ("DROVER__QUEUE__LEASE", "4"),
        ("MAX_CONCURRENT_TASKS", "many"),
        ("WORKER_ROLE", "payload_fetsch"),
        ("PORT", "99999"),
        ("DROVER__API__HOSTS", "https://crawler.example"),
        ("DROVER__API__BASE_PATH", "drover/"),
    ]);
    let file = dir.path().join("development.toml");
    std::fs::write(&file, "[topology]\npods = 0\nslots = '3'\n[nonsense]\nx = 1\n[log]\nformat = 'xml'").unwrap();
    sources.flags.push(Flag { name: "--listen", key: "api.listen", value: "everywhere".to_owned() });

    let message = Config::load(&sources).unwrap_err().to_string();
    let file = file.display().to_string();
    for expected in [
        "DROVER__QUEUE__LEESE: queue.leese: unknown key (did you mean queue.lease?)",
        "DROVER__QUEUE__LEASE: queue.lease: expected a duration such as 500ms",
        "MAX_CONCURRENT_TASKS: topology.slots: expected a whole number, got 'many'",
        "WORKER_ROLE: worker.role: unknown role 'payload_fetsch'",
        "PORT: api.listen: expected a port",
        "--listen: api.listen: expected an address and a port such as 127.0.0.1:8080, got 'everywhere'",
        "DROVER__API__HOSTS: api.hosts: must be host names or addresses, without scheme and port",
        "DROVER__API__BASE_PATH: api.base_path: must begin with a slash, end without one",
        &format!("{file}: topology.pods: must be at least 1, got 0"),
        &format!("{file}: topology.slots: expected a whole number, got a string"),
        &format!("{file}: nonsense.x: unknown key"),
        &format!("{file}: log.format: must be one of auto, pretty, json"),
    ] {
        assert!(message.contains(expected), "missing: {expected}\nin: {message}");
    }
}

#[rstest]
#[case::heartbeat_too_slow(&[("DROVER__QUEUE__LEASE", "2s"), ("DROVER__QUEUE__HEARTBEAT", "1500ms")], "at most half")]
#[case::heartbeat_of_the_old_variable(&[("DROVER__QUEUE__LEASE", "4s"), ("HEARTBEAT_INTERVAL_MS", "30000")], "HEARTBEAT_INTERVAL_MS: queue.heartbeat")]
#[case::lease_too_short(&[("DROVER__QUEUE__LEASE", "400ms")], "at least 500ms")]
#[case::recovery_too_often(&[("DROVER__QUEUE__RECOVERY_TICK", "1ms")], "at least 500ms")]
#[case::threshold(&[("MEMORY_BACKOFF_THRESHOLD", "85")], "between 0 and 1")]
#[case::not_a_number(&[("CPU_BACKOFF_THRESHOLD", "NaN")], "between 0 and 1")]
#[case::pauses(&[("DROVER__POLITENESS__PAGE_PAUSE_MIN", "2s")], "page_pause_max")]
#[case::driver(&[("STORAGE_DRIVER", "ftp")], "one of local, s3, gcs, azure")]
#[case::host(&[("DROVER__HTTP__HOST_ALLOWLIST", "a.example,https://b.example/")], "'https://b.example/' is not a host")]
#[case::own_name(&[("DROVER__HTTP__OWN_NAME", "A Name/1.0")], "http.own_name: must be a name, or name/version")]
#[case::own_name_without_its_version(&[("DROVER__HTTP__OWN_NAME", "Name/")], "http.own_name: must be a name")]
#[case::own_name_on_two_lines(&[("DROVER__HTTP__OWN_NAME", "Name\r\nx: y")], "http.own_name: must be a name")]
#[case::name_of_a_browser(&[("DROVER__HTTP__OWN_NAME", "Mozilla/5.0")], "must not be the name of a browser")]
#[case::contact(&[("DROVER__HTTP__OWN_CONTACT", "the team")], "http.own_contact: must be an http or https address")]
#[case::contact_that_ends_its_comment(&[("DROVER__HTTP__OWN_CONTACT", "https://a.example/)")], "http.own_contact: must")]
#[case::contact_with_a_password(&[("DROVER__HTTP__OWN_CONTACT", "https://a:b@a.example/")], "http.own_contact: must")]
#[case::contact_without_a_host(&[("DROVER__HTTP__OWN_CONTACT", "crawler@")], "http.own_contact: must")]
#[case::role_of_a_retry(&[("DROVER__QUEUE__RETRY_BASE_BY_ROLE__FETCH", "1s")], "unknown role 'fetch'")]
#[case::negative(&[("DROVER__HTTP__MAX_PAGES", "-1")], "http.max_pages")]
#[case::page(&[("DROVER__PLATFORM__DUTCHIE__PER_PAGE", "1001")], "at most 1000")]
#[case::pages_elsewhere(&[("DROVER__PLATFORM__JANE__PAGE_URL", "")], "platform.jane.page_url: must be an http or https address")]
#[case::stores_elsewhere(&[("DROVER__PLATFORM__JANE__STORES_PATH", "x")], "platform.jane.stores_path: must begin with a slash")]
#[case::identity(&[("DROVER__PLATFORM__WEEDMAPS__IDENTITY", "chrome")], "must be one of browser, own, got 'chrome'")]
#[case::stores_url(&[("DROVER__PLATFORM__LEAFLY__STORES_URL", "finder.example")], "platform.leafly.stores_url: must be an http or https address")]
#[case::page_url(&[("DROVER__PLATFORM__LEAFLY__PAGE_URL", "ftp://a.example")], "platform.leafly.page_url: must be an http")]
#[case::environment(&[("DROVER_ENV", "staging")], "there is no staging.toml: choose development, test or production")]
#[case::small_budget(&[("DROVER__PROXIES__BUDGET_BYTES_PER_DAY", "1KiB")], "at least 1MiB")]
#[case::budget_without_counts(
    &[("DROVER__PROXIES__BUDGET_BYTES_PER_DAY", "2GiB"), ("DROVER__RETENTION__STATS", "1d")],
    "retention.stats: must be at least 2d"
)]
#[case::replicas(&[("DROVER__KUBERNETES__MIN_REPLICAS", "51")], "must not be greater than kubernetes.max_replicas")]
#[case::long_call(&[("DROVER__KUBERNETES__TIMEOUT", "9s")], "at most 8s")]
#[case::name_in_kubernetes(&[("DROVER__KUBERNETES__NAMESPACE", "a/b")], "1 to 63 lower-case letters")]
#[case::section(&[("DROVER__QUEUE", "x")], "is a section")]
fn a_contradiction_is_refused(#[case] set: &[(&str, &str)], #[case] expected: &str) {
    let faults = errors(set);
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults[0].contains(expected), "{faults:?}");
}

#[rstest]
#[case::no_bucket(&[("STORAGE_DRIVER", "s3")], "storage.bucket: must name the bucket")]
#[case::no_region(&[("STORAGE_DRIVER", "s3")], "storage.region: must name the bucket's region")]
#[case::no_key(&[("STORAGE_DRIVER", "s3")], "storage.access_key_id: is needed: name a file in storage.access_key_id_file, or set AWS_ACCESS_KEY_ID")]
#[case::no_secret(&[("STORAGE_DRIVER", "s3")], "storage.secret_access_key: is needed")]
#[case::no_service_account(&[("STORAGE_DRIVER", "gcs")], "storage.service_account_file: is needed")]
#[case::no_account(&[("STORAGE_DRIVER", "azure")], "storage.account: must name the storage account")]
#[case::no_account_key(&[("STORAGE_DRIVER", "azure")], "storage.account_key: is needed")]
#[case::open_endpoint(&[("STORAGE_DRIVER", "s3"), ("DROVER__STORAGE__ENDPOINT", "http://127.0.0.1:9000")], "storage.endpoint: must be an https address")]
#[case::open_endpoint_elsewhere(
    &[("STORAGE_DRIVER", "s3"), ("DROVER__STORAGE__ENDPOINT", "http://s3.example"), ("DROVER__STORAGE__ALLOW_HTTP", "true")],
    "storage.allow_http: is for tests"
)]
#[case::prefix(&[("STORAGE_DRIVER", "s3"), ("DROVER__STORAGE__PREFIX", "a//b")], "storage.prefix: must be words")]
fn a_bucket_that_cannot_be_reached_or_would_be_read_on_the_way_is_refused(
    #[case] set: &[(&str, &str)],
    #[case] expected: &str,
) {
    let faults = errors(set);
    assert!(faults.iter().any(|fault| fault.contains(expected)), "{faults:?}");
}

/// Run by `cargo test --package settings`, where no program asks for the drivers.
#[cfg(not(feature = "cloud"))]
#[test]
fn a_program_without_drivers_refuses_a_bucket_and_says_how_to_build_one_with_them() {
    let faults = errors(&[("STORAGE_DRIVER", "s3")]);
    let expected = "STORAGE_DRIVER: storage.driver: 's3' is not in this program: build it with the feature cloud";
    assert!(faults.iter().any(|fault| fault.contains(expected)), "{faults:?}");
}

#[rstest]
#[case::neither("", "", concat!("drover/", env!("CARGO_PKG_VERSION")))]
#[case::a_web_address("", "https://example.com/bot", concat!("drover/", env!("CARGO_PKG_VERSION"), " (+https://example.com/bot)"))]
#[case::a_mail_address("Example/1.0", "crawler@example.com", "Example/1.0 (+crawler@example.com)")]
#[case::a_name_alone("Example", "", "Example")]
fn the_own_user_agent_is_a_name_and_where_to_ask(#[case] name: &str, #[case] contact: &str, #[case] expected: &str) {
    let config = loaded(&[("DROVER__HTTP__OWN_NAME", name), ("DROVER__HTTP__OWN_CONTACT", contact)]);
    assert_eq!(config.http.own_user_agent(), expected);
}

#[test]
fn lists_tables_and_sizes_are_read_from_variables() {
    let config = loaded(&[
        ("DROVER__HTTP__HOST_ALLOWLIST", "a.example, 127.0.0.1"),
        ("DROVER__HTTP__MAX_BODY_BYTES", "1KiB"),
        ("DROVER__PROXIES__BUDGET_BYTES_PER_DAY", "2GiB"),
        ("DROVER__PROXIES__BUDGET_BYTES_PER_DAY_IN_ALL", "0"),
        ("DROVER__QUEUE__RETRY_BASE_BY_ROLE__PAYLOAD_FETCH", "1m"),
    ]);
    assert_eq!(config.http.host_allowlist, ["a.example", "127.0.0.1"]);
    assert_eq!(config.http.max_body_bytes, 1024);
    assert_eq!(config.proxies.budgets(), Budgets { each: Some(2 << 30), in_all: None });
    assert_eq!(config.queue.retry_base_by_role["payload_fetch"], Duration::from_secs(60));
}

#[test]
fn a_file_with_a_syntax_error_is_named_with_its_line() {
    let (dir, sources) = variables(&[]);
    std::fs::write(dir.path().join("default.toml"), "[queue]\nlease = 4s\n").unwrap();
    let message = Config::load(&sources).unwrap_err().to_string();
    assert!(message.contains("default.toml line 2: "), "{message}");
}

#[test]
fn data_files_of_the_directory_are_carried_along() {
    let (dir, sources) = variables(&[]);
    std::fs::write(dir.path().join("states.toml"), "x = 1").unwrap();
    let overlays = Config::load(&sources).unwrap().config.overlays;
    assert_eq!(overlays.states.unwrap().text, "x = 1");
    assert!(overlays.identities.is_none());
}

#[test]
fn a_missing_directory_is_refused() {
    let sources = Sources { dir: Some("/nowhere/at/all".into()), ..Sources::default() };
    assert!(Config::load(&sources).unwrap_err().to_string().contains("is not a directory"));
}

#[test]
fn no_password_is_shown() {
    let (_dir, sources) = variables(&[("DATABASE_URL", "postgresql://me:s3cret@db/x")]);
    let loaded = Config::load(&sources).unwrap();
    assert!(!format!("{loaded:?}").contains("s3cret"));
}

/// Value of one setting: no other setting holds it, and it is a key as well.
const MARK: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

#[test]
fn what_the_configuration_keeps_secret_is_shown_by_no_list_of_settings() {
    let (_dir, sources) = variables(&[]);
    let all = Config::load(&sources).unwrap().settings;
    let mut secrets = Vec::new();
    for setting in all.iter().filter(|setting| setting.value.is_string() || setting.value.is_array()) {
        let name = format!("DROVER__{}", setting.key.to_uppercase().replace('.', "__"));
        let sources = Sources { variables: [(name, MARK.to_owned())].into(), ..sources.clone() };
        let Ok(loaded) = Config::load(&sources) else { continue };
        if !format!("{:?}", loaded.config).contains(MARK) {
            secrets.push(setting.key.clone());
            assert!(!format!("{:?}", loaded.settings).contains(MARK), "{} is shown", setting.key);
        }
    }
    assert_eq!(
        secrets,
        [
            "client.token",
            "images.signing_key",
            "platform.dutchie_plus.key",
            "platform.jane.key",
            "secrets.key",
            "secrets.previous_keys",
            "storage.access_key_id",
            "storage.account_key",
            "storage.secret_access_key",
        ]
    );
}

#[test]
fn a_test_gets_the_defaults_with_its_own_settings() {
    let config = Config::with(&[("queue.lease", "2s"), ("politeness.requests_per_second", "0")]).unwrap();
    assert_eq!(config.queue.lease, Duration::from_secs(2));
    assert!(Config::with(&[("queue.leese", "2s")]).is_err());
}

#[rstest]
#[case::of_a_lost_probe("10s", 10)]
#[case::of_a_long_request("10m", 120)]
fn a_probe_keeps_its_host_no_longer_than_the_breaker_is_open_at_most(#[case] breaker_cap: &str, #[case] seconds: u64) {
    let config = Config::with(&[("politeness.breaker_base", "5s"), ("politeness.breaker_cap", breaker_cap)]).unwrap();
    let limits = config.politeness.host_limits(config.http.whole_timeout);
    assert_eq!(limits.probe_time, Duration::from_secs(seconds));
}

#[test]
fn a_platform_has_an_address_with_a_place_for_the_name() {
    let url = "mastodon:https://site.example/@{username}";
    let config = loaded(&[("DROVER__MEDIA__PLATFORMS__SITE__URL", url)]);
    assert_eq!(config.media.platforms["site"].url.of("ann"), "mastodon:https://site.example/@ann");

    let (dir, sources) = variables(&[]);
    let file = "[media.platforms.a-site]\nurl = \"https://site.example/{username}\"\n";
    std::fs::write(dir.path().join("default.toml"), file).unwrap();
    let config = Config::load(&sources).unwrap().config;
    assert_eq!(config.media.platforms["a-site"].url.of("a b"), "https://site.example/a%20b");

    for url in ["https://site.example/", "file:///{username}", "https://{username}.example/"] {
        let errors = errors(&[("DROVER__MEDIA__PLATFORMS__SITE__URL", url)]);
        assert!(errors.iter().any(|error| error.contains("media.platforms.site.url")), "{url}: {errors:?}");
    }
    let errors = errors(&[("DROVER__MEDIA__PLATFORMS__SITE__HOST", "a")]);
    assert!(errors[0].contains("unknown key"), "{errors:?}");
}

#[tokio::test]
async fn settings_that_a_service_kept_go_over_files_and_below_variables_and_a_named_directory() {
    let data = tempfile::tempdir().unwrap();
    let (_dir, service) = variables(&[
        ("DROVER__QUEUE__LEASE", "7m"),
        ("DROVER__PROXIES__BUDGET_BYTES_PER_DAY", "2GiB"),
        ("DROVER__POLITENESS__ROBOTS_BY_HOST", "a.test=obey,b.test=report"),
        ("DROVER__PLATFORM__DUTCHIE_PLUS__KEY", MARK),
        ("PORT", "9"),
    ]);
    kept::keep(data.path(), &Config::load(&service).unwrap().settings).await.unwrap();
    let file = data.path().join("settings.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains(MARK) && !text.contains("api.listen"), "{text}");

    let kept_in = Some(data.path().to_owned());
    let command = Sources { kept_in: kept_in.clone(), ..Sources::default() };
    let lease = |sources: &Sources| Config::load(sources).unwrap().config.queue.lease;
    let config = Config::load(&command).unwrap().config;
    assert_eq!((config.queue.lease, config.proxies.budget_bytes_per_day), (Duration::from_secs(420), Some(2 << 30)));
    assert_eq!(config.politeness.robots_by_host, ["a.test=obey", "b.test=report"]);
    let (directory, own) = variables(&[("DROVER__QUEUE__LEASE", "8m")]);
    assert_eq!(lease(&Sources { dir: None, kept_in: kept_in.clone(), ..own }), Duration::from_secs(480));
    let default = lease(&Sources::default());
    assert_eq!(lease(&Sources { dir: Some(directory.path().to_owned()), ..command.clone() }), default);
    // as other versions may write it
    for (text, expected) in
        [("queue.lease = \"9m\"\nnew.key = 1", Duration::from_secs(540)), ("queue.lease = \"0s\"", default)]
    {
        std::fs::write(&file, text).unwrap();
        assert_eq!(lease(&command), expected, "{text}");
    }
}

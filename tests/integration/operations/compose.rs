//! `deploy/container/compose.yaml`, as far as it can be checked without a container engine: drover takes the settings, containers
//! are restricted, every mounted file exists, and Prometheus scrapes every process.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use settings::{Config, ConfigErrors, Sources};
use supervision::lifecycle::DrainLimits;
use testkit::root;

use super::text_of;

const COMPOSE: &str = "deploy/container/compose.yaml";
const ALWAYS: [&str; 3] = ["api", "worker-1", "worker-2"];
/// Service that starts with a profile alone.
const MEDIA: &str = "worker-media";
const OF_DROVER: [&str; 4] = ["api", "worker-1", "worker-2", MEDIA];
/// Ends once the volume belongs to drover's user.
const OWNER: &str = "storage-owner";

#[test]
fn drover_takes_the_settings() {
    for name in OF_DROVER {
        let config = settings_of(&service(name)).unwrap();
        assert_eq!(config.log.format, "json", "{name}");
        assert!(!config.api.is_loopback() && config.probes.listen == "0.0.0.0:9100", "{name}");
        let limits = DrainLimits::from(&config);
        let grace = limits.grace + limits.after_grace();
        assert!(service(name)["stop_grace_period"] == "90s" && grace.as_secs() < 90, "{name} drains for {grace:?}");
    }
}

#[test]
fn an_unknown_setting_is_noticed() {
    let mut api = service("api");
    api["environment"]["DROVER__QUEUE__LEES"] = json!("4s");
    assert!(settings_of(&api).is_err());
}

#[test]
fn every_container_is_restricted() {
    for (name, service) in services() {
        assert_eq!(service["read_only"], true, "{name} may write to its image");
        assert_eq!(service["cap_drop"], json!(["ALL"]), "{name} has capabilities");
        assert_eq!(service["security_opt"], json!(["no-new-privileges:true"]), "{name} may get more rights");
        let (user, group) = service["user"].as_str().unwrap().split_once(':').unwrap();
        let user: u32 = user.parse().unwrap();
        assert!(group.parse::<u32>().is_ok() && (user > 0) == (name != OWNER), "{name} runs as {user}:{group}");
    }
    let owner = service(OWNER);
    assert_eq!((&owner["cap_add"], &owner["network_mode"]), (&json!(["CHOWN"]), &json!("none")));
}

#[test]
fn drover_may_write_wherever_it_writes_and_containers_share_the_storage() {
    for name in OF_DROVER {
        let (service, config) = (service(name), settings_of(&service(name)).unwrap());
        let storage = format!("storage:{}", config.storage_root().display());
        assert!(texts(&service["volumes"]).contains(&storage), "{name} does not share {storage}");
        let in_memory = texts(&service["tmpfs"]);
        let on_disk = texts(&service["volumes"]);
        let volumes = on_disk.iter().filter_map(|mount| mount.split_once(':')).map(|(_, place)| place);
        let writable: BTreeSet<&str> = in_memory.iter().map(|mount| before_colon(mount)).chain(volumes).collect();
        assert!(writable.contains(config.data_dir().to_str().unwrap()) && writable.contains("/tmp"), "{name}");
        assert_eq!(service["user"], texts(&self::service(OWNER)["entrypoint"])[1], "{name} does not own its volume");
    }
}

#[test]
fn every_mounted_file_exists_and_every_volume_is_declared() {
    let declared: BTreeSet<String> = compose()["volumes"].as_object().unwrap().keys().cloned().collect();
    let mut used = BTreeSet::new();
    for (name, service) in services() {
        for mount in texts(&service["volumes"]) {
            let source = before_colon(&mount);
            if !source.starts_with('.') {
                used.insert(source.to_owned());
                continue;
            }
            assert!(folder().join(source).exists(), "{name} mounts {source}, which is not there");
            assert!(mount.ends_with(":ro"), "{name} may write to {source}");
        }
    }
    assert_eq!(used, declared);
}

#[test]
fn grafana_finds_the_dashboards() {
    let provider = text_of("deploy/grafana/provisioning/dashboards/drover.yaml");
    let provider: Value = serde_saphyr::from_str(&provider).unwrap();
    let path = provider["providers"][0]["options"]["path"].as_str().unwrap();
    let mount = format!("../grafana/dashboards:{path}:ro");
    assert!(texts(&service("grafana")["volumes"]).contains(&mount), "{mount}");
}

#[test]
fn health_is_asked_of_drover_itself() {
    for name in OF_DROVER {
        let service = service(name);
        let asked = [texts(&service["entrypoint"]), vec!["healthcheck".to_owned()]].concat();
        assert_eq!(texts(&service["healthcheck"]["test"]), [vec!["CMD".to_owned()], asked].concat(), "{name}");
    }
    for name in ALWAYS {
        let command = name.split('-').next().unwrap();
        assert_eq!(service(name)["command"], json!([command]));
    }
}

#[test]
fn media_jobs_have_a_pod_with_their_tools_which_works_where_there_is_room() {
    let media = service(MEDIA);
    assert_eq!(media["command"], json!(["worker", "--role", "media"]));
    assert_eq!((&media["image"], &media["profiles"]), (&json!("drover-media:latest"), &json!(["media"])));
    let work = settings_of(&media).unwrap().media_work_dir();
    let volumes = texts(&media["volumes"]);
    let of_work = volumes.iter().find(|mount| work.starts_with(mount.split(':').nth(1).unwrap()));
    assert_eq!(of_work.map(|mount| before_colon(mount)), Some("downloads"), "{}", work.display());
}

#[test]
fn ports_are_published_on_this_machine_only_and_those_of_probes_are_not() {
    for (name, service) in services() {
        for port in texts(&service["ports"]) {
            assert!(port.starts_with("127.0.0.1:") && !port.ends_with(":9100"), "{name} publishes {port}");
        }
    }
}

#[test]
fn the_example_names_every_secret_and_holds_none() {
    let text = text_of(COMPOSE);
    let named: BTreeSet<&str> = text.split("${").skip(1).map(|rest| rest.split(":?").next().unwrap()).collect();
    let example = text_of("deploy/container/.env.example");
    let assigned = example.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let assigned: BTreeSet<&str> = assigned.map(|line| line.strip_suffix('=').expect("no value")).collect();
    assert_eq!(named, assigned);
}

#[test]
fn prometheus_scrapes_every_process_as_in_the_example() {
    let read = |path: &str| -> Value { serde_saphyr::from_str(&text_of(path)).unwrap() };
    let example = read("deploy/prometheus/prometheus.yml");
    let mut here = read("deploy/container/prometheus.yml");
    let targets = here["scrape_configs"][0]["static_configs"][0]["targets"].take();
    assert_eq!(texts(&targets), ALWAYS.map(|name| format!("{name}:9100")));
    // a target that never starts would be an alert
    let of_profile = here["scrape_configs"][0].as_object_mut().unwrap().remove("dns_sd_configs");
    assert_eq!(of_profile, Some(json!([{"names": [MEDIA], "type": "A", "port": 9100}])));
    here["scrape_configs"][0]["static_configs"][0]["targets"] = json!(["127.0.0.1:9100"]);
    assert_eq!(here, example);
    for name in OF_DROVER {
        assert_eq!(service(name)["hostname"], name);
    }
}

/// Compose puts the value of a secret in the place of its name.
fn settings_of(service: &Value) -> Result<Config, ConfigErrors> {
    let secrets = [
        ("${POSTGRES_PASSWORD:?see .env.example}", "password".to_owned()),
        ("${DROVER_SECRETS_KEY:?see .env.example}", "0f".repeat(32)),
    ];
    let variable = |(name, value): (&String, &Value)| {
        let value = secrets.iter().fold(text(value), |value, (secret, given)| value.replace(secret, given));
        (name.clone(), value)
    };
    let variables: BTreeMap<String, String> =
        service["environment"].as_object().unwrap().iter().map(variable).collect();
    assert!(variables.values().all(|value| !value.contains('$')), "{variables:?}");
    let loaded = Config::load(&Sources { dir: Some(folder().join("config")), variables, ..Sources::default() })?;
    Ok(loaded.config)
}

fn service(name: &str) -> Value {
    services()[name].clone()
}

fn services() -> Map<String, Value> {
    compose()["services"].as_object().unwrap().clone()
}

fn compose() -> Value {
    serde_saphyr::from_str(&text_of(COMPOSE)).unwrap()
}

fn folder() -> PathBuf {
    root().join(COMPOSE).parent().unwrap().to_owned()
}

fn before_colon(mount: &str) -> &str {
    mount.split(':').next().unwrap()
}

fn texts(values: &Value) -> Vec<String> {
    values.as_array().into_iter().flatten().map(text).collect()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

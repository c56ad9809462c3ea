//! `deploy/k8s`: every document is what its type describes, every pod is restricted, drover takes the settings, and only the API
//! may scale the workers. The same holds for what kustomize makes of every overlay.

mod documents;
mod labels;
mod media;
mod pods;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use cluster::Cluster;
use rstest::rstest;
use serde_json::{Value, json};
use settings::{Config, ConfigErrors, Sources};
use supervision::lifecycle::DrainLimits;
use testkit::FakeCluster;

use documents::{Document, dir};

const NAMESPACE: &str = "dispensary-scraper";

/// The pods of drover's own workloads, as they are written.
pub fn pods_of_drover() -> Vec<Value> {
    let workloads = documents::written().into_iter().filter(Document::is_drover);
    workloads.map(|workload| workload.value["spec"]["template"]["spec"].clone()).collect()
}

#[test]
fn every_document_is_what_its_type_describes() {
    for document in documents::written() {
        assert_eq!(document.fault(), None, "{}", document.name());
    }
}

#[rstest]
#[case::of_the_document("metadata:", "metadatas:")]
#[case::of_a_container("livenessProbe:", "livenessProbes:")]
#[case::of_a_security_context("runAsNonRoot:", "runAsNonroot:")]
fn a_misspelt_field_is_noticed(#[case] field: &str, #[case] misspelt: &str) {
    let text = std::fs::read_to_string(dir().join("base/worker.yaml")).unwrap().replace(field, misspelt);
    let [document] = documents::parse(&text).try_into().ok().unwrap();
    assert!(document.fault().is_some());
}

#[test]
fn every_pod_is_restricted() {
    assert_eq!(pods::faults(&documents::written()), Vec::<String>::new());
}

#[test]
fn a_pod_with_more_rights_is_noticed() {
    for (safe, unsafe_) in [
        ("runAsNonRoot: true", "runAsNonRoot: false"),
        ("runAsUser: 65532", "runAsUser: 0"),
        ("readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false"),
        ("allowPrivilegeEscalation: false", "allowPrivilegeEscalation: true"),
        ("type: RuntimeDefault", "type: Unconfined"),
        ("drop: [ALL]", "add: [NET_ADMIN]"),
        ("automountServiceAccountToken: false", "automountServiceAccountToken: true"),
        ("mountPath: /var/cache/drover", "mountPath: /somewhere"),
        ("terminationGracePeriodSeconds: 90", "terminationGracePeriodSeconds: 70"),
        ("containerPort: 9100", "containerPort: 9101"),
        ("name: DROVER_ENV", "name: DROVER__QUEUE__LEES"),
        ("name: cache, mountPath", "name: downloads, mountPath"),
    ] {
        let mut documents = documents::written();
        let text = std::fs::read_to_string(dir().join("base/worker.yaml")).unwrap();
        documents.extend(documents::parse(&text.replace(safe, unsafe_)));
        assert_eq!(pods::faults(&documents).len(), 1, "{unsafe_}: {:#?}", pods::faults(&documents));
    }
}

#[test]
fn drover_takes_the_settings() {
    let config = settings_of(&json!({}));
    assert_eq!((config.topology.workers_per_pod, config.log.format.as_str()), (5, "json"));
    assert!(!config.api.is_loopback(), "the Service could not reach it");
    assert!(config.probes.drain_delay > std::time::Duration::ZERO);
}

#[test]
fn the_example_of_the_secret_holds_settings_of_drover() {
    let text = std::fs::read_to_string(dir().join("base/secret.example.yaml")).unwrap();
    let [secret] = documents::parse(&text).try_into().ok().unwrap();
    let config = settings_of(&secret.value["stringData"]);
    assert_eq!(config.database.url.reveal(), "postgresql://drover:PASSWORD@HOST/drover");
}

#[test]
fn the_role_grants_get_and_patch_of_the_workers_alone() {
    let rules: Vec<Value> = written_of("Role").map(|role| role.value["rules"].clone()).collect();
    let only = json!([{
        "apiGroups": ["apps"], "resources": ["statefulsets"], "resourceNames": ["scraper-worker"], "verbs": ["get", "patch"]
    }]);
    assert_eq!(rules, [only]);
    let bound: Vec<Value> = written_of("RoleBinding").map(|binding| binding.value["subjects"].clone()).collect();
    assert_eq!(bound, [json!([{ "kind": "ServiceAccount", "name": "scraper-api", "namespace": NAMESPACE }])]);
    assert_eq!(written_of("ClusterRole").chain(written_of("ClusterRoleBinding")).count(), 0);
}

#[tokio::test]
async fn the_role_grants_exactly_what_is_called() {
    let fake = FakeCluster::start().await;
    let cluster = Cluster::new(&fake.settings());
    cluster.worker_set().await.unwrap();
    cluster.scale(8).await.unwrap();
    let role = written_of("Role").next().unwrap();
    let mut granted = BTreeSet::new();
    for rule in role.value["rules"].as_array().unwrap() {
        let texts = |key: &str| rule[key].as_array().unwrap().iter().map(text).collect::<Vec<_>>();
        for (verb, resource) in
            texts("verbs").iter().flat_map(|verb| texts("resources").into_iter().map(move |it| (verb, it)))
        {
            granted.extend(texts("resourceNames").iter().map(|name| format!("{verb} {resource}/{name}")));
        }
    }
    assert_eq!(fake.calls().into_iter().collect::<BTreeSet<_>>(), granted);
}

#[test]
fn prometheus_scrapes_every_pod_by_the_job_that_the_alerts_name() {
    let scraped = std::fs::read_to_string(dir().join("components/monitoring/scrape.yaml")).unwrap();
    let scraped: Value = serde_saphyr::from_str(&scraped).unwrap();
    let job = &scraped["scrape_configs"][0];
    let elsewhere = std::fs::read_to_string(testkit::root().join("deploy/prometheus/prometheus.yml")).unwrap();
    assert!(elsewhere.contains(&format!("job_name: {}\n", job["job_name"].as_str().unwrap())));
    let discovery = &job["kubernetes_sd_configs"][0];
    assert_eq!(discovery["namespaces"]["names"], json!([NAMESPACE]));
    assert_eq!(discovery["selectors"][0]["label"], "app.kubernetes.io/name=drover");
    // every pod of drover has the label, and this port for its probes
    assert_eq!(job["relabel_configs"][0]["regex"], "probes");
}

#[test]
fn every_file_is_named_by_its_kustomization() {
    let mut unnamed = Vec::new();
    for file in documents::files() {
        let (folder, name) = (file.parent().unwrap(), file.file_name().unwrap().to_str().unwrap());
        let kustomization = std::fs::read_to_string(folder.join("kustomization.yaml")).unwrap();
        let is_known = ["kustomization.yaml", "secret.example.yaml"].contains(&name);
        if !is_known && !kustomization.contains(name) {
            unnamed.push(file);
        }
    }
    assert!(unnamed.is_empty(), "{unnamed:?}");
}

#[tokio::test]
async fn keda_counts_the_crawl_tasks_that_are_ready_or_run() {
    let database = testkit::database().await;
    let insert = "INSERT INTO worker_tasks (role, status, ready, scheduled_for) VALUES \
                  ('payload_fetch', 'pending', true, NULL), ('payload_fetch', 'running', false, NULL), \
                  ('payload_fetch', 'pending', false, now() + interval '1 day'), ('download_media', 'pending', true, NULL), \
                  ('payload_fetch', 'completed', false, NULL)";
    database.raw.batch_execute(insert).await.unwrap();
    let scaled = written_of("ScaledObject").next().unwrap();
    let query = scaled.value["spec"]["triggers"][0]["metadata"]["query"].as_str().unwrap().to_owned();
    let counted: i64 = database.raw.query_one(&query, &[]).await.unwrap().get(0);
    assert_eq!(counted, 2);
}

#[test]
fn autoscalers_have_the_same_bounds_within_those_of_the_settings() {
    let spec = |kind| written_of(kind).next().unwrap().value["spec"].clone();
    let (hpa, keda) = (spec("HorizontalPodAutoscaler"), spec("ScaledObject"));
    let number = |value: &Value| u32::try_from(value.as_u64().unwrap()).unwrap();
    let bounds = (number(&hpa["minReplicas"]), number(&hpa["maxReplicas"]));
    assert_eq!((number(&keda["minReplicaCount"]), number(&keda["maxReplicaCount"])), bounds);
    let settings = settings_of(&json!({})).kubernetes;
    assert!(settings.min_replicas <= bounds.0 && bounds.1 <= settings.max_replicas, "{bounds:?}");
}

#[test]
fn the_names_are_those_that_clients_know() {
    let written: Vec<String> = documents::written().iter().map(Document::name).collect();
    for name in [
        "Namespace/dispensary-scraper",
        "StatefulSet/scraper-worker",
        "Deployment/scraper",
        "Service/scraper",
        "Role/worker-scaler",
        "RoleBinding/scraper-worker-scaler",
        "Deployment/task-worker-resync",
    ] {
        assert!(written.iter().any(|known| known == name), "{name} is not among {written:?}");
    }
}

#[test]
fn the_workers_of_resyncs_claim_their_roles_alone() {
    let workers = documents::written();
    let workers = workers.iter().find(|document| document.name() == "Deployment/task-worker-resync").unwrap();
    let env = workers.containers()[0]["env"].as_array().unwrap();
    let given = env.iter().map(|env| (text(&env["name"]), text(&env["value"]))).collect();
    let plan = load(&dir().join("base"), given).unwrap().worker.role;
    assert_eq!(plan, "product_resync");
}

#[rstest]
#[case::base("base")]
#[case::dev("overlays/dev")]
#[case::prod("overlays/prod")]
#[case::autoscale_hpa("overlays/autoscale-hpa")]
#[case::autoscale_keda("overlays/autoscale-keda")]
#[case::media("overlays/media")]
#[case::monitoring("overlays/monitoring")]
#[case::task_worker_resync("overlays/task-worker-resync")]
#[ignore = "needs kubectl: ./dev ops-test"]
fn kustomize_makes_what_the_rules_permit(#[case] overlay: &str) {
    let documents = kustomized(overlay);
    let faults = documents.iter().filter_map(|document| Some(format!("{}: {}", document.name(), document.fault()?)));
    assert_eq!(faults.collect::<Vec<_>>(), Vec::<String>::new());
    assert_eq!(pods::faults(&documents), Vec::<String>::new());
    let elsewhere =
        documents.iter().filter(|document| document.kind() != "Namespace" && document.namespace() != NAMESPACE);
    assert_eq!(elsewhere.map(Document::name).collect::<Vec<_>>(), Vec::<String>::new());
    assert_eq!(unmade_references(&documents), BTreeSet::new());
    let settings = documents.iter().find(|document| document.name() == "ConfigMap/drover-config").unwrap();
    assert_eq!(
        settings.value["data"]["default.toml"],
        json!(std::fs::read_to_string(dir().join("base/default.toml")).unwrap())
    );
}

#[rstest]
#[case::by_hand("overlays/prod", json!(5), Value::Null)]
#[case::by_hpa("overlays/autoscale-hpa", Value::Null, json!("HorizontalPodAutoscaler"))]
#[case::by_keda("overlays/autoscale-keda", Value::Null, json!("KEDA"))]
#[ignore = "needs kubectl: ./dev ops-test"]
fn an_autoscaler_owns_the_number_of_replicas(#[case] overlay: &str, #[case] replicas: Value, #[case] owner: Value) {
    let documents = kustomized(overlay);
    let workers = documents.iter().find(|document| document.name() == "StatefulSet/scraper-worker").unwrap();
    assert_eq!(workers.value["spec"]["replicas"], replicas);
    assert_eq!(workers.value["metadata"]["annotations"]["dispensary-scraper/autoscaler"], owner);
}

#[test]
#[ignore = "needs kubectl: ./dev ops-test"]
fn the_monitoring_overlay_has_the_alerts_themselves() {
    let documents = kustomized("overlays/monitoring");
    let alerts = documents.iter().find(|document| document.name() == "ConfigMap/drover-alerts").unwrap();
    let file = std::fs::read_to_string(testkit::root().join("deploy/prometheus/alerts.yaml")).unwrap();
    assert_eq!(alerts.value["data"]["alerts.yaml"], json!(file));
}

#[rstest]
#[case::hpa("autoscale-hpa")]
#[case::keda("autoscale-keda")]
#[ignore = "needs kubectl: ./dev ops-test"]
fn components_go_together(#[case] autoscaler: &str) {
    let documents = combined(&[autoscaler, "media", "monitoring", "task-worker-resync"]);
    assert_eq!(pods::faults(&documents), Vec::<String>::new());
    let replicas = |name: &str| {
        let set = documents.iter().find(|document| document.name() == format!("StatefulSet/{name}")).unwrap();
        set.value["spec"]["replicas"].clone()
    };
    assert_eq!((replicas("scraper-worker"), replicas("drover-worker-media")), (Value::Null, json!(1)));
}

/// An overlay of one's own: `prod` with these components.
fn combined(components: &[&str]) -> Vec<Document> {
    let overlay = tempfile::tempdir().unwrap();
    // kustomize takes no absolute path
    let up = "../".repeat(overlay.path().canonicalize().unwrap().components().count() - 1);
    let place = format!("{up}{}", dir().canonicalize().unwrap().strip_prefix("/").unwrap().display());
    let components: Vec<String> = components.iter().map(|name| format!("{place}/components/{name}")).collect();
    let kustomization = json!({ "resources": [format!("{place}/overlays/prod")], "components": components });
    std::fs::write(overlay.path().join("kustomization.yaml"), kustomization.to_string()).unwrap();
    kustomized_at(overlay.path())
}

fn kustomized(overlay: &str) -> Vec<Document> {
    kustomized_at(&dir().join(overlay))
}

fn kustomized_at(folder: &Path) -> Vec<Document> {
    let made = Command::new("kubectl").arg("kustomize").arg(folder).output();
    let made = made.expect("kubectl is missing: ./dev ops-test installs it");
    assert!(made.status.success() && made.stderr.is_empty(), "{}", String::from_utf8_lossy(&made.stderr));
    documents::parse(&String::from_utf8(made.stdout).unwrap())
}

/// ConfigMaps and claims that pods name, and that are not there. The Secret is made by hand.
fn unmade_references(documents: &[Document]) -> BTreeSet<String> {
    let made: BTreeSet<String> = documents.iter().map(Document::name).collect();
    let volumes = documents.iter().flat_map(Document::volumes);
    let named = volumes.filter_map(|volume| {
        let map = volume["configMap"]["name"].as_str().map(|name| format!("ConfigMap/{name}"));
        let claim = volume["persistentVolumeClaim"]["claimName"].as_str();
        map.or_else(|| claim.map(|name| format!("PersistentVolumeClaim/{name}")))
    });
    named.filter(|name| !made.contains(name)).collect()
}

fn written_of(kind: &str) -> impl Iterator<Item = Document> {
    documents::written().into_iter().filter(move |document| document.kind() == kind)
}

/// The settings of a container with these variables beside those of its manifest.
fn settings_of(variables: &Value) -> Config {
    let api = written_of("Deployment").find(|document| document.name() == "Deployment/scraper").unwrap();
    let own =
        api.containers()[0]["env"].as_array().unwrap().iter().map(|env| (text(&env["name"]), text(&env["value"])));
    let given = variables.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), text(value)));
    load(&dir().join("base"), own.chain(given).collect()).unwrap()
}

fn load(dir: &Path, variables: BTreeMap<String, String>) -> Result<Config, ConfigErrors> {
    let loaded = Config::load(&Sources { dir: Some(dir.to_owned()), variables, ..Sources::default() })?;
    Ok(loaded.config)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// Seconds from the signal to stop to the end of the process.
fn drain_bound(config: &Config) -> u64 {
    let limits = DrainLimits::from(config);
    (limits.grace + limits.after_grace()).max(config.probes.drain_delay).as_secs()
}

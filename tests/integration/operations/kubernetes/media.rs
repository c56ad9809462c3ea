//! `deploy/k8s/components/media`: pods of media jobs, with room for their tools and files, apart from those of the crawl.

use std::collections::BTreeSet;

use media::tool::Limits;
use serde_json::{Value, json};
use settings::Config;

use super::documents::{Document, dir};
use super::{kustomized, load, settings_of, text, written_of};

const WORKERS: &str = "StatefulSet/drover-worker-media";
const OWN: [&str; 3] = ["PodDisruptionBudget/drover-worker-media", "Service/drover-worker-media", WORKERS];

#[test]
fn its_pods_work_media_jobs_alone_and_their_memory_holds_a_tool_in_each_slot() {
    let config = config();
    let slots = config.workers_per_pod() * config.slots();
    assert_eq!((config.worker.role.as_str(), slots), ("media", 2));
    let limit = text(&container()["resources"]["limits"]["memory"]);
    let gibibytes: f64 = limit.strip_suffix("Gi").unwrap().parse().unwrap();
    // above this share of it, drover claims nothing
    let usable = gibibytes * config.worker.memory_backoff_threshold;
    let tools = slots as f64 * Limits::default().address_space as f64 / f64::from(1 << 30);
    assert!(usable > tools, "{limit} for tools of {tools} GiB");
}

#[test]
fn its_pods_have_names_in_drover_that_none_of_the_crawl_has() {
    let names = |config: Config| config.topology.pod_names.into_iter().collect::<BTreeSet<_>>();
    let (own, of_crawl) = (names(config()), names(settings_of(&json!({}))));
    assert!(own.is_disjoint(&of_crawl), "{own:?}");
}

#[test]
fn files_are_in_a_claim_of_the_pod_until_they_are_whole() {
    let (work, container) = (config().media_work_dir(), container());
    let mut mounts = container["volumeMounts"].as_array().unwrap().iter();
    let of_work = mounts.find(|mount| work.starts_with(mount["mountPath"].as_str().unwrap())).unwrap();
    let claims = workers().value["spec"]["volumeClaimTemplates"].clone();
    assert_eq!(claims[0]["metadata"]["name"], of_work["name"]);
}

#[test]
#[ignore = "needs kubectl: ./dev ops-test"]
fn the_overlay_adds_its_pods_and_changes_nothing_else() {
    let (added, rest): (Vec<_>, Vec<_>) =
        kustomized("overlays/media").into_iter().partition(|document| OWN.contains(&document.name().as_str()));
    assert_eq!(added.iter().map(Document::name).collect::<BTreeSet<_>>(), OWN.map(str::to_owned).into());
    let values = |documents: Vec<Document>| documents.into_iter().map(|document| document.value).collect::<Vec<_>>();
    assert_eq!(values(rest), values(kustomized("overlays/prod")));
    let workers = added.iter().find(|document| document.name() == WORKERS).unwrap();
    assert_eq!(workers.containers()[0]["image"], "registry.example/drover-media:0.1.0");
}

fn workers() -> Document {
    written_of("StatefulSet").find(|set| set.name() == WORKERS).unwrap()
}

fn container() -> Value {
    workers().containers()[0].clone()
}

/// The settings of its container.
fn config() -> Config {
    let container = container();
    let variables = container["env"].as_array().unwrap().iter().map(|env| (text(&env["name"]), text(&env["value"])));
    load(&dir().join("base"), variables.collect()).unwrap()
}

//! Labels of pods: the selector of a Service, a budget or a workload means the pods of one workload, and what is for all pods
//! of drover means each of them.

use serde_json::Value;

use super::documents::{self, Document};
use super::written_of;

#[test]
fn every_selector_means_the_pods_of_the_workload_of_the_same_name() {
    let documents = documents::written();
    for document in &documents {
        let Some(labels) = selector(document) else { continue };
        let own = format!("/{}", document.value["metadata"]["name"].as_str().unwrap());
        let selected = selected(&documents, labels);
        assert!(selected.len() == 1 && selected[0].ends_with(&own), "{} selects {selected:?}", document.name());
    }
}

#[test]
fn an_autoscaler_reads_the_pods_of_the_workload_that_it_scales() {
    let documents = documents::written();
    for autoscaler in written_of("HorizontalPodAutoscaler").chain(written_of("ScaledObject")) {
        let target = &autoscaler.value["spec"]["scaleTargetRef"];
        let target = format!("{}/{}", target["kind"].as_str().unwrap(), target["name"].as_str().unwrap());
        let scaled = documents.iter().find(|document| document.name() == target).unwrap();
        assert_eq!(selected(&documents, selector(scaled).unwrap()), [target]);
    }
}

#[test]
fn what_is_for_all_pods_of_drover_means_each_of_them() {
    let documents = documents::written();
    let all: Vec<String> = documents.iter().filter(|document| document.is_drover()).map(Document::name).collect();
    assert!(all.contains(&"StatefulSet/drover-worker-media".to_owned()), "{all:?}");
    for policy in ["NetworkPolicy/drover", "NetworkPolicy/drover-metrics"] {
        let policy = documents.iter().find(|document| document.name() == policy).unwrap();
        assert_eq!(selected(&documents, &policy.value["spec"]["podSelector"]["matchLabels"]), all, "{}", policy.name());
    }
}

/// The labels of the pods that a Service, a budget or a workload means.
fn selector(document: &Document) -> Option<&Value> {
    let selector = &document.value["spec"]["selector"];
    match document.kind() {
        "Service" => Some(selector),
        "PodDisruptionBudget" | "Deployment" | "StatefulSet" => Some(&selector["matchLabels"]),
        _ => None,
    }
}

/// The workloads whose pods have these labels.
fn selected(documents: &[Document], labels: &Value) -> Vec<String> {
    let labels = labels.as_object().unwrap();
    let has_all = |document: &&Document| {
        let own = &document.value["spec"]["template"]["metadata"]["labels"];
        labels.iter().all(|(name, value)| own[name] == *value)
    };
    let workloads = documents.iter().filter(|document| !document.containers().is_empty());
    workloads.filter(has_all).map(Document::name).collect()
}

//! Names of pods and workers: `Aethelgard`, `Aethelgard-3`, `worker-any-1f00ba12`.

use std::collections::HashSet;

use rand::Rng;

use crate::actors::plan::{PodPlan, WorkerPlan};
use domain::role::{RoleSet, UnknownRole};
use settings::{Config, Topology};

/// The pods of `up` and `demo`, which run several in one process: the first names that are not among `names_in_use`.
pub fn pods(config: &Config, names_in_use: &[String]) -> Result<Vec<PodPlan>, UnknownRole> {
    let free = free_names(&config.topology, names_in_use).take(config.topology.pods);
    free.enumerate().map(|(n, name)| pod(config, name, n)).collect()
}

/// The one pod of `worker`: named by its ordinal in a StatefulSet, otherwise with the first name that is not
/// among `names_in_use`.
pub fn own_pod(config: &Config, hostname: &str, names_in_use: &[String]) -> Result<PodPlan, UnknownRole> {
    let name = match ordinal(hostname) {
        Some(n) => pod_name(&config.topology, n),
        None => free_names(&config.topology, names_in_use).next().unwrap_or_default(),
    };
    pod(config, name, 0)
}

fn free_names(topology: &Topology, names_in_use: &[String]) -> impl Iterator<Item = String> {
    let in_use: HashSet<&str> = names_in_use.iter().map(String::as_str).collect();
    (0..).map(|n| pod_name(topology, n)).filter(move |name| !in_use.contains(name.as_str()))
}

/// `index`: of the pod in this process, so that worker ids differ.
fn pod(config: &Config, name: String, index: usize) -> Result<PodPlan, UnknownRole> {
    let roles: RoleSet = config.worker.role.parse()?;
    let per_pod = config.topology.workers_per_pod;
    let workers = (1..=per_pod)
        .map(|n| WorkerPlan {
            id: worker_id(config, &roles, index * per_pod + n),
            friendly_name: format!("{name}-{n}"),
            pod: name.clone(),
            roles: roles.clone(),
        })
        .collect();
    Ok(PodPlan { name, workers })
}

/// `WORKER_ID`, with `-n` from the second on; otherwise generated.
fn worker_id(config: &Config, roles: &RoleSet, n: usize) -> String {
    match (config.worker.id.as_str(), n) {
        ("", _) => format!("worker-{}-{:08x}", roles.label(), rand::rng().random::<u32>()),
        (id, 1) => id.to_owned(),
        (id, n) => format!("{id}-{n}"),
    }
}

/// The n-th of the configured names; beyond them the last one with a number.
fn pod_name(topology: &Topology, n: usize) -> String {
    match (topology.pod_names.get(n), topology.pod_names.last()) {
        (Some(name), _) => name.clone(),
        (None, Some(last)) => format!("{last}-{}", n + 2 - topology.pod_names.len()),
        (None, None) => format!("pod-{}", n + 1),
    }
}

/// `scraper-worker-3` is number 3.
fn ordinal(hostname: &str) -> Option<usize> {
    let (_, number) = hostname.rsplit_once('-')?;
    number.parse().ok().filter(|n| *n < 10_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(settings: &[(&'static str, &str)]) -> Config {
        Config::with(settings).unwrap()
    }

    #[test]
    fn a_stateful_set_names_its_pods_by_ordinal() {
        let pod = own_pod(&config(&[]), "scraper-worker-1", &[]).unwrap();
        assert_eq!((pod.name.as_str(), pod.workers[2].friendly_name.as_str()), ("Xylos", "Xylos-3"));
    }

    #[test]
    fn elsewhere_a_pod_gets_the_first_name_that_is_not_in_use() {
        let pod = own_pod(&config(&[]), "laptop", &["Aethelgard".to_owned()]).unwrap();
        assert_eq!(pod.name, "Xylos");
    }

    #[test]
    fn pods_beyond_the_list_get_its_last_name_with_a_number() {
        let config = config(&[("topology.pods", "4"), ("topology.pod_names", "Nova,Umbra")]);
        let pods = pods(&config, &[]).unwrap();
        let names: Vec<&str> = pods.iter().map(|pod| pod.name.as_str()).collect();
        assert_eq!(names, ["Nova", "Umbra", "Umbra-2", "Umbra-3"]);
    }

    #[test]
    fn several_pods_leave_out_the_names_in_use() {
        let config = config(&[("topology.pods", "2"), ("topology.pod_names", "Nova,Umbra")]);
        let pods = pods(&config, &["Umbra".to_owned(), "Umbra-2".to_owned()]).unwrap();
        let names: Vec<&str> = pods.iter().map(|pod| pod.name.as_str()).collect();
        assert_eq!(names, ["Nova", "Umbra-3"]);
    }

    #[test]
    fn a_configured_id_is_numbered_when_there_are_several_workers() {
        let pod = own_pod(&config(&[("worker.id", "me")]), "laptop", &[]).unwrap();
        let ids: Vec<&str> = pod.workers.iter().map(|worker| worker.id.as_str()).take(2).collect();
        assert_eq!(ids, ["me", "me-2"]);
    }

    #[test]
    fn a_generated_id_names_the_role() {
        let pod = own_pod(&config(&[("worker.role", "payload_fetch")]), "laptop", &[]).unwrap();
        assert!(pod.workers[0].id.starts_with("worker-payload_fetch-"), "{}", pod.workers[0].id);
        let pod = own_pod(&config(&[("worker.role", "product_resync")]), "laptop", &[]).unwrap();
        assert!(pod.workers[0].id.starts_with("worker-product_resync-"), "{}", pod.workers[0].id);
    }
}

//! Names of pods: `Aethelgard`, `Xylos`.
//!
//! In: the configured names, and the names that others use. Out: pods with names of their own, which are taken under a lock: processes
//! that start at once take different ones. It must not know what a pod runs.

use std::collections::HashSet;

use thiserror::Error;

use super::plan::PodPlan;
use db::{Db, DbError, workers};
use domain::task::role::UnknownRole;
use foundation::process::ProcessIdentity;
use settings::{Config, Topology};

/// Characters by which Kubernetes makes the name of a Deployment's pod unique.
const GENERATED_SUFFIX: usize = 5;

#[derive(Debug, Error)]
pub enum TakeError {
    #[error(transparent)]
    Roles(#[from] UnknownRole),
    #[error("no name could be claimed for a pod")]
    Db(#[from] DbError),
}

/// Takes the names of the pods that `choose` makes from the names in use.
pub async fn take(
    db: &Db,
    host: &str,
    choose: impl FnOnce(&[String]) -> Result<Vec<PodPlan>, UnknownRole>,
) -> Result<Vec<PodPlan>, TakeError> {
    let own = ProcessIdentity::own(host);
    let tx = db.begin().await?;
    let taken = workers::pod_names::lock(&tx).await?.into_iter().map(|taken| (taken.name, Some(taken.process)));
    let live = workers::live(&tx).await?.into_iter().map(|worker| (worker.pod, worker.process));
    let in_use: Vec<String> =
        taken.chain(live).filter(|(_, process)| !is_replaced(&own, process.as_ref())).map(|(name, _)| name).collect();
    let pods = choose(&in_use)?;
    let names: Vec<String> = pods.iter().map(|pod| pod.name.clone()).collect();
    workers::pod_names::take(&tx, &names, &own).await?;
    tx.commit().await?;
    Ok(pods)
}

/// Whether the process has ended, or is the predecessor of this one: a container that is started again has the name
/// of its predecessor, and cannot see whether that has ended.
fn is_replaced(own: &ProcessIdentity, process: Option<&ProcessIdentity>) -> bool {
    process.is_some_and(|process| {
        own.knows_end_of(process)
            || !own.host.is_empty() && own.host == process.host && own.pid_space != process.pid_space
    })
}

/// `count` pods, as several in one process have them: with the first names that are not among `names_in_use`.
pub fn pods(config: &Config, count: usize, names_in_use: &[String]) -> Result<Vec<PodPlan>, UnknownRole> {
    free_names(&config.topology, names_in_use).take(count).map(|name| pod(config, name)).collect()
}

/// The one pod of `worker`: named by its ordinal in a StatefulSet, otherwise with the first name that is not
/// among `names_in_use`.
pub fn own_pod(config: &Config, hostname: &str, names_in_use: &[String]) -> Result<PodPlan, UnknownRole> {
    let name = match ordinal(hostname) {
        Some(n) => pod_name(&config.topology, n),
        None => free_names(&config.topology, names_in_use).next().unwrap_or_default(),
    };
    pod(config, name)
}

fn free_names(topology: &Topology, names_in_use: &[String]) -> impl Iterator<Item = String> {
    let in_use: HashSet<&str> = names_in_use.iter().map(String::as_str).collect();
    (0..).map(|n| pod_name(topology, n)).filter(move |name| !in_use.contains(name.as_str()))
}

fn pod(config: &Config, name: String) -> Result<PodPlan, UnknownRole> {
    Ok(PodPlan { name, roles: config.worker.role.parse()?, workers: config.workers_per_pod() })
}

/// The n-th of the configured names; beyond them the last one with a number.
fn pod_name(topology: &Topology, n: usize) -> String {
    match (topology.pod_names.get(n), topology.pod_names.last()) {
        (Some(name), _) => name.clone(),
        (None, Some(last)) => format!("{last}-{}", n + 2 - topology.pod_names.len()),
        (None, None) => format!("pod-{}", n + 1),
    }
}

/// `scraper-worker-3` is number 3. The suffix of a Deployment's pod has five characters, of digits alone only by chance, and an
/// address that is part of a name (`ip-10-0-3-17`) counts nothing.
fn ordinal(hostname: &str) -> Option<usize> {
    let (name, number) = hostname.rsplit_once('-')?;
    let is_counted = number.len() < GENERATED_SUFFIX && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_address = name.rsplit('-').take(3).filter(|part| part.parse::<u8>().is_ok()).count() == 3;
    number.parse().ok().filter(|_| is_counted && !is_address)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn config(settings: &[(&'static str, &str)]) -> Config {
        Config::with(settings).unwrap()
    }

    #[test]
    fn a_stateful_set_names_its_pods_by_ordinal() {
        let pod = own_pod(&config(&[]), "scraper-worker-1", &[]).unwrap();
        assert_eq!((pod.name.as_str(), pod.workers), ("Xylos", config(&[]).topology.workers_per_pod));
    }

    #[rstest]
    #[case::a_stateful_set("scraper-worker-12", Some(12))]
    #[case::one_with_a_number_in_its_name("scraper-2-0", Some(0))]
    #[case::a_deployment("scraper-7d4b9c6f5-x2x9k", None)]
    #[case::a_deployment_whose_suffix_is_all_digits("scraper-7d4b9c6f5-48265", None)]
    #[case::an_address("ip-10-0-3-17", None)]
    #[case::a_sign("scraper-+3", None)]
    #[case::a_plain_name("laptop", None)]
    fn only_a_stateful_set_counts_its_pods(#[case] hostname: &str, #[case] number: Option<usize>) {
        assert_eq!(ordinal(hostname), number);
    }

    #[test]
    fn elsewhere_a_pod_gets_the_first_name_that_is_not_in_use() {
        let pod = own_pod(&config(&[]), "laptop", &["Aethelgard".to_owned()]).unwrap();
        assert_eq!(pod.name, "Xylos");
    }

    #[test]
    fn pods_beyond_the_list_get_its_last_name_with_a_number() {
        let config = config(&[("topology.pod_names", "Nova,Umbra")]);
        let pods = pods(&config, 4, &[]).unwrap();
        let names: Vec<&str> = pods.iter().map(|pod| pod.name.as_str()).collect();
        assert_eq!(names, ["Nova", "Umbra", "Umbra-2", "Umbra-3"]);
    }

    #[test]
    fn several_pods_leave_out_the_names_in_use() {
        let config = config(&[("topology.pod_names", "Nova,Umbra")]);
        let pods = pods(&config, 2, &["Umbra".to_owned(), "Umbra-2".to_owned()]).unwrap();
        let names: Vec<&str> = pods.iter().map(|pod| pod.name.as_str()).collect();
        assert_eq!(names, ["Nova", "Umbra-3"]);
    }
}

//! Rules for pods: those of the level "restricted", and what drover's own pods need.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::documents::{Document, dir};
use super::{drain_bound, load, settings_of, text};

/// A rule, and whether a pod and its container keep it.
type Rule = (&'static str, fn(&Value, &Value) -> bool);

const RESTRICTED: [Rule; 8] = [
    ("does not run as root", |pod, _| pod["securityContext"]["runAsNonRoot"] == true),
    ("has a numeric user", |pod, _| pod["securityContext"]["runAsUser"].as_u64().is_some_and(|user| user > 0)),
    ("has the runtime's seccomp profile", |pod, _| {
        pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
    }),
    ("gets no more rights", |_, container| container["securityContext"]["allowPrivilegeEscalation"] == false),
    ("has no capabilities", |_, container| container["securityContext"]["capabilities"] == json!({ "drop": ["ALL"] })),
    ("cannot write to its image", |_, container| container["securityContext"]["readOnlyRootFilesystem"] == true),
    ("has requests and a limit of memory", |_, container| {
        let resources = &container["resources"];
        resources["requests"]["cpu"].is_string() && resources["limits"]["memory"].is_string()
    }),
    ("shares nothing with its node", |pod, _| {
        let shares = |key: &str| pod[key] == true;
        !shares("hostNetwork") && !shares("hostPID") && !shares("hostIPC")
    }),
];

const OF_DROVER: [Rule; 6] = [
    ("has variables that drover takes", |_, container| is_taken(&container["env"])),
    ("drains within its grace period", |pod, _| {
        pod["terminationGracePeriodSeconds"]
            .as_u64()
            .is_some_and(|seconds| seconds > drain_bound(&settings_of(&json!({}))))
    }),
    ("is probed where drover listens", |_, container| {
        let probed = |kind: &str, path: &str| container[kind]["httpGet"] == json!({ "path": path, "port": "probes" });
        let is_probed = probed("startupProbe", "/livez") && probed("livenessProbe", "/livez");
        is_probed
            && probed("readinessProbe", "/readyz")
            && has_port(container, "probes", &settings_of(&json!({})).probes.listen)
    }),
    ("serves the API where drover listens", |_, container| {
        container["name"] != "api" || has_port(container, "http", &settings_of(&json!({})).api.listen)
    }),
    ("has a volume wherever drover writes", |_, container| {
        let config = settings_of(&json!({}));
        let writes = [config.data_dir(), config.storage_root()].map(|path| path.to_str().unwrap().to_owned());
        writes.iter().all(|path| mounts(container).any(|mount| mount["mountPath"] == *path))
    }),
    ("runs a command of drover with the settings", |_, container| {
        container["command"] == json!(["drover", "--config", "/etc/drover", container["name"]])
            && mounts(container).any(|mount| mount["mountPath"] == "/etc/drover")
    }),
];

/// The broken rules of all workloads.
pub fn faults(documents: &[Document]) -> Vec<String> {
    let workloads = documents.iter().filter(|document| !document.containers().is_empty());
    let faults: Vec<Vec<String>> = workloads.map(faults_of).collect();
    assert!(faults.len() >= 3, "{} workloads", faults.len());
    faults.concat()
}

fn faults_of(document: &Document) -> Vec<String> {
    let pod = &document.value["spec"]["template"]["spec"];
    let of_drover = if document.is_drover() { OF_DROVER.as_slice() } else { &[] };
    let mountable = document.mountable();
    let mut faults = Vec::new();
    for container in document.containers() {
        let broken = RESTRICTED.iter().chain(of_drover).filter(|(_, is_kept)| !is_kept(pod, container));
        faults.extend(broken.map(|(rule, _)| format!("{}: it does not hold that it {rule}", document.name())));
        let mounted: BTreeSet<&str> = mounts(container).filter_map(|mount| mount["name"].as_str()).collect();
        let missing = mounted.difference(&mountable);
        faults.extend(missing.map(|volume| format!("{}: it mounts {volume}, which it has not", document.name())));
    }
    let may_call_kubernetes = pod["automountServiceAccountToken"] != false;
    if may_call_kubernetes != (document.name() == "Deployment/scraper") {
        faults.push(format!("{}: only the API calls Kubernetes", document.name()));
    }
    faults
}

fn is_taken(env: &Value) -> bool {
    let variables = env.as_array().into_iter().flatten().map(|env| (text(&env["name"]), text(&env["value"])));
    load(&dir().join("base"), variables.collect()).is_ok()
}

fn has_port(container: &Value, name: &str, listen: &str) -> bool {
    let port: u16 = listen.rsplit_once(':').unwrap().1.parse().unwrap();
    container["ports"].as_array().unwrap().contains(&json!({ "name": name, "containerPort": port }))
}

fn mounts(container: &Value) -> impl Iterator<Item = &Value> {
    container["volumeMounts"].as_array().into_iter().flatten()
}

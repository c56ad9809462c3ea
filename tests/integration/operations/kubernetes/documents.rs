//! Kubernetes documents: those of the files below `deploy/k8s`, or of any text, each held against its type.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use k8s_openapi::api::apps::v1::{Deployment, StatefulSet};
use k8s_openapi::api::autoscaling::v2::HorizontalPodAutoscaler;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, PersistentVolumeClaim, Secret, Service, ServiceAccount};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use k8s_openapi::serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Kinds of KEDA, for which the types of Kubernetes have none.
const OF_KEDA: [&str; 2] = ["ScaledObject", "TriggerAuthentication"];

pub struct Document {
    pub value: Value,
}

impl Document {
    pub fn kind(&self) -> &str {
        self.value["kind"].as_str().unwrap()
    }

    /// `Deployment/scraper`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.kind(), self.value["metadata"]["name"].as_str().unwrap_or_default())
    }

    pub fn namespace(&self) -> &str {
        self.value["metadata"]["namespace"].as_str().unwrap_or_default()
    }

    pub fn containers(&self) -> &[Value] {
        self.value["spec"]["template"]["spec"]["containers"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Whether it is a workload whose pods run drover.
    pub fn is_drover(&self) -> bool {
        !self.containers().is_empty() && self.value["metadata"]["labels"]["app.kubernetes.io/name"] == "drover"
    }

    pub fn volumes(&self) -> &[Value] {
        self.value["spec"]["template"]["spec"]["volumes"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Names of all that its containers may mount: volumes, and claims of each pod.
    pub fn mountable(&self) -> BTreeSet<&str> {
        let volumes = self.volumes().iter().map(|volume| &volume["name"]);
        let claims = self.value["spec"]["volumeClaimTemplates"].as_array().into_iter().flatten();
        volumes.chain(claims.map(|claim| &claim["metadata"]["name"])).filter_map(Value::as_str).collect()
    }

    /// A document that its type does not give back as it was has a field that the type does not know.
    pub fn fault(&self) -> Option<String> {
        match (self.value["apiVersion"].as_str().unwrap(), self.kind()) {
            ("v1", "Namespace") => fault_of::<Namespace>(&self.value),
            ("v1", "Service") => fault_of::<Service>(&self.value),
            ("v1", "ServiceAccount") => fault_of::<ServiceAccount>(&self.value),
            ("v1", "ConfigMap") => fault_of::<ConfigMap>(&self.value),
            ("v1", "Secret") => fault_of::<Secret>(&self.value),
            ("v1", "PersistentVolumeClaim") => fault_of::<PersistentVolumeClaim>(&self.value),
            ("apps/v1", "Deployment") => fault_of::<Deployment>(&self.value),
            ("apps/v1", "StatefulSet") => fault_of::<StatefulSet>(&self.value),
            ("policy/v1", "PodDisruptionBudget") => fault_of::<PodDisruptionBudget>(&self.value),
            ("networking.k8s.io/v1", "NetworkPolicy") => fault_of::<NetworkPolicy>(&self.value),
            ("rbac.authorization.k8s.io/v1", "Role") => fault_of::<Role>(&self.value),
            ("rbac.authorization.k8s.io/v1", "RoleBinding") => fault_of::<RoleBinding>(&self.value),
            ("autoscaling/v2", "HorizontalPodAutoscaler") => fault_of::<HorizontalPodAutoscaler>(&self.value),
            ("keda.sh/v1alpha1", kind) if OF_KEDA.contains(&kind) => None,
            (version, kind) => Some(format!("{version} has no {kind}")),
        }
    }
}

fn fault_of<T: DeserializeOwned + Serialize>(value: &Value) -> Option<String> {
    let typed: T = match serde_json::from_value(value.clone()) {
        Ok(typed) => typed,
        Err(error) => return Some(error.to_string()),
    };
    let given_back = serde_json::to_value(typed).unwrap();
    (given_back != *value).then(|| format!("{value:#} is not {given_back:#}"))
}

/// The documents of all files that are whole: a patch names only what it changes.
pub fn written() -> Vec<Document> {
    let whole = files().into_iter().filter(|file| !is_patch(file));
    let documents: Vec<Document> = whole.flat_map(|file| parse(&std::fs::read_to_string(file).unwrap())).collect();
    assert!(documents.len() >= 20, "{}", documents.len());
    documents
}

/// The documents with a kind that are not for kustomize itself.
pub fn parse(text: &str) -> Vec<Document> {
    let values: Vec<Value> = serde_saphyr::from_multiple(text).unwrap();
    let objects = values.into_iter().filter(|value| {
        let version = value["apiVersion"].as_str().unwrap_or("kustomize");
        !version.starts_with("kustomize")
    });
    objects.map(|value| Document { value }).collect()
}

fn is_patch(file: &Path) -> bool {
    let kustomization = std::fs::read_to_string(file.with_file_name("kustomization.yaml")).unwrap();
    kustomization.contains(&format!("path: {}", file.file_name().unwrap().display()))
}

/// Every YAML file.
pub fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![dir()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false if path.extension().is_some_and(|end| end == "yaml") => files.push(path),
                false => {}
            }
        }
    }
    files
}

pub fn dir() -> PathBuf {
    testkit::root().join("deploy/k8s")
}

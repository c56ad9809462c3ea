//! `Cluster`: the number of replicas of the workers' StatefulSet in Kubernetes, read and set.
//!
//! In: the settings, and the service account of this pod or a kubeconfig. Out: the numbers and the autoscaler, or an error that
//! names the remedy. It calls what the Role `scraper-scale` of `deploy/k8s` grants and no more: get and patch of one StatefulSet.
//! It must not know who asks, or which numbers are permitted.

mod autoscaler;
mod connect;
mod error;

use http_body_util::{BodyExt, Limited};
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::Resource;
use kube::client::{Body, Client};
use kube::core::Request;
use kube::core::params::{GetParams, Patch, PatchParams};
use serde_json::json;
use settings::Kubernetes;
use tokio::sync::OnceCell;

pub use error::ClusterError;

/// Kubernetes keeps no object that is larger.
const MAX_ANSWER_BYTES: usize = 4 << 20;
/// The name under which Kubernetes notes the fields that drover has set.
const FIELD_MANAGER: &str = "drover";
/// A StatefulSet that names no number has one.
const DEFAULT_REPLICAS: i32 = 1;

pub struct Cluster {
    settings: Kubernetes,
    is_configured: bool,
    /// Made by the first call, since most processes make none.
    client: OnceCell<Client>,
}

/// The StatefulSet of the workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSet {
    /// Pods that there shall be.
    pub replicas: u32,
    /// Pods that there are.
    pub current: u32,
    pub ready: u32,
    /// Kind of the autoscaler that sets the number, too.
    pub autoscaler: Option<String>,
}

impl Cluster {
    pub fn new(settings: &Kubernetes) -> Cluster {
        Cluster { settings: settings.clone(), is_configured: connect::is_configured(settings), client: OnceCell::new() }
    }

    pub fn settings(&self) -> &Kubernetes {
        &self.settings
    }

    /// Whether there was a cluster to ask when this process started: a pod's service account, or a kubeconfig.
    pub fn is_configured(&self) -> bool {
        self.is_configured
    }

    pub async fn worker_set(&self) -> Result<WorkerSet, ClusterError> {
        self.call(self.resource().get(&self.settings.statefulset, &GetParams::default())).await
    }

    /// Sets the number of replicas. Whether it is permitted is the caller's question.
    pub async fn scale(&self, replicas: u32) -> Result<WorkerSet, ClusterError> {
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let patch = Patch::Merge(json!({ "spec": { "replicas": replicas } }));
        self.call(self.resource().patch(&self.settings.statefulset, &params, &patch)).await
    }

    fn resource(&self) -> Request {
        Request::new(StatefulSet::url_path(&(), Some(&self.settings.namespace)))
    }

    async fn call(
        &self,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<WorkerSet, ClusterError> {
        let request = request.map_err(|error| ClusterError::Unreachable(error.to_string()))?;
        let late = |_| ClusterError::Slow(self.settings.timeout);
        tokio::time::timeout(self.settings.timeout, self.exchange(request)).await.map_err(late)?
    }

    async fn exchange(&self, request: http::Request<Vec<u8>>) -> Result<WorkerSet, ClusterError> {
        let client = self.client.get_or_try_init(|| connect::connect(&self.settings)).await?;
        let answer = client.send(request.map(Body::from)).await;
        let (head, body) = answer.map_err(|error| ClusterError::Unreachable(error.to_string()))?.into_parts();
        let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await;
        let body = body.map_err(|error| ClusterError::Unreachable(error.to_string()))?.to_bytes();
        if !head.status.is_success() {
            return Err(ClusterError::of_answer(&self.settings, &head, &body));
        }
        let set: StatefulSet =
            serde_json::from_slice(&body).map_err(|error| ClusterError::NoStatefulSet(error.to_string()))?;
        Ok(WorkerSet::from(&set))
    }
}

impl From<&StatefulSet> for WorkerSet {
    fn from(set: &StatefulSet) -> WorkerSet {
        let wanted = set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(DEFAULT_REPLICAS);
        let status = set.status.as_ref();
        let ready = status.and_then(|status| status.ready_replicas).unwrap_or_default();
        WorkerSet {
            replicas: count(wanted),
            current: count(status.map_or(0, |status| status.replicas)),
            ready: count(ready),
            autoscaler: autoscaler::of(&set.metadata),
        }
    }
}

/// Kubernetes has signed numbers that are never negative.
fn count(number: i32) -> u32 {
    number.try_into().unwrap_or_default()
}

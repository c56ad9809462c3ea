//! `Client`: the two calls of Kubernetes' API, and what its answers mean.

mod autoscaler;
mod connect;
mod refusal;

use http_body_util::{BodyExt, Limited};
use k8s_openapi::api::apps::v1::StatefulSet;
use kube::Resource;
use kube::client::Body;
use kube::core::Request;
use kube::core::params::{GetParams, Patch, PatchParams};
use serde_json::json;
use settings::Kubernetes;
use tokio::sync::OnceCell;

pub use connect::is_configured;

use crate::{ClusterError, WorkerSet};

/// Maximum size of an object in Kubernetes.
const MAX_ANSWER_BYTES: usize = 4 << 20;
/// The name under which Kubernetes notes the fields that drover has set.
const FIELD_MANAGER: &str = "drover";
/// A StatefulSet that names no number has one.
const DEFAULT_REPLICAS: i32 = 1;

/// Its connection is made by the first call, since most processes make none.
#[derive(Default)]
pub struct Client(OnceCell<kube::Client>);

impl Client {
    pub async fn worker_set(&self, settings: &Kubernetes) -> Result<WorkerSet, ClusterError> {
        let request = resource(settings).get(&settings.statefulset, &GetParams::default());
        self.call(settings, request).await
    }

    pub async fn scale(&self, settings: &Kubernetes, replicas: u32) -> Result<WorkerSet, ClusterError> {
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        let patch = Patch::Merge(json!({ "spec": { "replicas": replicas } }));
        self.call(settings, resource(settings).patch(&settings.statefulset, &params, &patch)).await
    }

    async fn call(
        &self,
        settings: &Kubernetes,
        request: Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<WorkerSet, ClusterError> {
        let request = request.map_err(|error| ClusterError::Unreachable(error.to_string()))?;
        let late = |_| ClusterError::Slow(settings.timeout);
        tokio::time::timeout(settings.timeout, self.exchange(settings, request)).await.map_err(late)?
    }

    async fn exchange(
        &self,
        settings: &Kubernetes,
        request: http::Request<Vec<u8>>,
    ) -> Result<WorkerSet, ClusterError> {
        let client = self.0.get_or_try_init(|| connect::connect(settings)).await?;
        let answer = client.send(request.map(Body::from)).await;
        let (head, body) = answer.map_err(|error| ClusterError::Unreachable(error.to_string()))?.into_parts();
        let body = Limited::new(body, MAX_ANSWER_BYTES).collect().await;
        let body = body.map_err(|error| ClusterError::Unreachable(error.to_string()))?.to_bytes();
        if !head.status.is_success() {
            return Err(refusal::of(settings, &head, &body));
        }
        let set: StatefulSet =
            serde_json::from_slice(&body).map_err(|error| ClusterError::NoStatefulSet(error.to_string()))?;
        Ok(WorkerSet::from(&set))
    }
}

fn resource(settings: &Kubernetes) -> Request {
    Request::new(StatefulSet::url_path(&(), Some(&settings.namespace)))
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

//! `/api/workers/k8s/…`: the number of the workers' pods in Kubernetes, within the bounds of the configuration.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::{Admin, ApiError, ApiState, Body, Caller, Changes, Viewer};
use cluster::{Cluster, WorkerSet};
use contract::problem::Problem;
use contract::workers::{ScaleRequest, WorkerReplicas};

/// Shows the desired and the actual number of pods of workers in Kubernetes.
#[utoipa::path(get, path = "/api/workers/k8s/replicas", tag = "workers",
               responses((status = 200, body = WorkerReplicas), (status = 404, response = Problem), (status = 504, response = Problem)))]
pub async fn show(_: Caller<Viewer>, State(api): State<ApiState>) -> Result<Json<WorkerReplicas>, ApiError> {
    Ok(Json(view(&api.cluster, api.cluster.worker_set().await?)))
}

/// Sets the desired number of pods of workers in Kubernetes. Surplus pods drain.
#[utoipa::path(post, path = "/api/workers/k8s/scale", tag = "workers",
               responses((status = 202, body = WorkerReplicas), (status = 404, response = Problem), (status = 409, response = Problem),
                         (status = 504, response = Problem)))]
pub async fn scale(
    changes: Changes<Admin>,
    State(api): State<ApiState>,
    Body(ScaleRequest { replicas }): Body<ScaleRequest>,
) -> Result<Response, ApiError> {
    require_permitted(&api.cluster, replicas)?;
    // before the transaction, which may wait for one call and no more
    let before = api.cluster.worker_set().await?;
    let mut change = changes.begin().await?;
    let set = api.cluster.scale(replicas).await?;
    let detail = json!({ "from": before.replicas, "to": replicas });
    change.audit("workers.scale", &api.cluster.settings().statefulset, detail);
    change.answer(StatusCode::ACCEPTED, &view(&api.cluster, set)).await
}

fn require_permitted(cluster: &Cluster, replicas: u32) -> Result<(), ApiError> {
    let (min, max) = (cluster.settings().min_replicas, cluster.settings().max_replicas);
    if (min..=max).contains(&replicas) {
        return Ok(());
    }
    let keys = "kubernetes.min_replicas and kubernetes.max_replicas";
    Err(ApiError::bad("replicas", format!("must be {min} to {max} ({keys}), got {replicas}")))
}

fn view(cluster: &Cluster, set: WorkerSet) -> WorkerReplicas {
    let settings = cluster.settings();
    WorkerReplicas {
        namespace: settings.namespace.clone(),
        statefulset: settings.statefulset.clone(),
        replicas: set.replicas,
        current_replicas: set.current,
        ready_replicas: set.ready,
        min_replicas: settings.min_replicas,
        max_replicas: settings.max_replicas,
        autoscaler: set.autoscaler,
    }
}

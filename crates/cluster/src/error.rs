//! `ClusterError`: why Kubernetes did not do it, with the remedy.

use std::time::Duration;

use http::StatusCode;
use thiserror::Error;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ClusterError {
    /// This process has no access to a cluster.
    #[error(
        "this process is not in Kubernetes ({0}): ask the API of the cluster (`--url`), or name a kubeconfig in `kubernetes.kubeconfig`"
    )]
    Outside(String),
    /// A file that was configured does not lead to a cluster.
    #[error("the file of `kubernetes.kubeconfig` cannot be used: {0}")]
    BadKubeconfig(String),
    #[error(
        "Kubernetes forbids get and patch of {target}: bind the service account of this process to the Role worker-scaler \
         (deploy/k8s/base/scale-role.yaml); {message}"
    )]
    Forbidden { target: String, message: String },
    #[error("{target} does not exist: see `kubernetes.namespace` and `kubernetes.statefulset`")]
    Missing { target: String },
    #[error("{target} was changed by another client at the same time: try again")]
    Conflict { target: String },
    #[error("Kubernetes takes no more requests now: try again in {0:.0?}")]
    Throttled(Duration),
    #[error("the API of Kubernetes cannot be reached: {0}")]
    Unreachable(String),
    #[error("the API of Kubernetes did not answer within {limit:?} (`kubernetes.timeout`): the number of pods may have been set", limit = .0)]
    Slow(Duration),
    /// Another status.
    #[error("Kubernetes answered {status}: {message}")]
    Refused { status: StatusCode, message: String },
    #[error("Kubernetes answered with something other than a StatefulSet: {0}")]
    NoStatefulSet(String),
}

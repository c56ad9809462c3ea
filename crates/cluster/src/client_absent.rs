//! In place of the client of Kubernetes, in a build without it.

use settings::Kubernetes;

use crate::{ClusterError, WorkerSet};

#[derive(Default)]
pub struct Client;

pub fn is_configured(settings: &Kubernetes) -> bool {
    settings.kubeconfig.is_some()
}

impl Client {
    pub async fn worker_set(&self, _settings: &Kubernetes) -> Result<WorkerSet, ClusterError> {
        Err(absent())
    }

    pub async fn scale(&self, _settings: &Kubernetes, _replicas: u32) -> Result<WorkerSet, ClusterError> {
        Err(absent())
    }
}

fn absent() -> ClusterError {
    ClusterError::Outside("drover was built without the feature `kubernetes`".to_owned())
}

//! `Cluster`: the number of replicas of the workers' StatefulSet in Kubernetes, read and set.
//!
//! In: the settings, and the service account of this pod or a kubeconfig. Out: the numbers and the autoscaler, or an error that
//! names the remedy. It calls what the Role `worker-scaler` of `deploy/k8s` grants and no more: get and patch of one StatefulSet.
//! It must not know who asks, or which numbers are permitted.

#[cfg(feature = "client")]
mod client;
#[cfg(not(feature = "client"))]
#[path = "client_absent.rs"]
mod client;
mod error;

use client::Client;
use settings::Kubernetes;

pub use error::ClusterError;

pub struct Cluster {
    settings: Kubernetes,
    is_configured: bool,
    client: Client,
}

/// The StatefulSet of the workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSet {
    /// Desired number of pods.
    pub replicas: u32,
    /// Actual number of pods.
    pub current: u32,
    pub ready: u32,
    /// Kind of the autoscaler that sets the number, too.
    pub autoscaler: Option<String>,
}

impl Cluster {
    pub fn new(settings: &Kubernetes) -> Cluster {
        let is_configured = client::is_configured(settings);
        Cluster { settings: settings.clone(), is_configured, client: Client::default() }
    }

    pub fn settings(&self) -> &Kubernetes {
        &self.settings
    }

    /// Whether there was a cluster to ask when this process started: a pod's service account, or a kubeconfig.
    pub fn is_configured(&self) -> bool {
        self.is_configured
    }

    pub async fn worker_set(&self) -> Result<WorkerSet, ClusterError> {
        self.client.worker_set(&self.settings).await
    }

    /// Sets the number of replicas. Whether it is permitted is the caller's question.
    pub async fn scale(&self, replicas: u32) -> Result<WorkerSet, ClusterError> {
        self.client.scale(&self.settings, replicas).await
    }
}

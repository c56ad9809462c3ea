//! The way to the Kubernetes API: the service account of this pod, or a kubeconfig.

use std::path::Path;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use settings::Kubernetes;

use crate::error::ClusterError;

/// Connects to nothing yet; reads the files that say where and as whom.
pub async fn connect(settings: &Kubernetes) -> Result<Client, ClusterError> {
    let mut config = match &settings.kubeconfig {
        Some(file) => by_file(file).await?,
        None => Config::incluster().map_err(|error| ClusterError::Outside(error.to_string()))?,
    };
    // the caller gets the error, and decides whether to try again
    config.default_retry = false;
    config.connect_timeout = Some(settings.timeout);
    Client::try_from(config).map_err(|error| ClusterError::Outside(error.to_string()))
}

pub fn is_configured(settings: &Kubernetes) -> bool {
    settings.kubeconfig.is_some() || Config::incluster().is_ok()
}

async fn by_file(file: &Path) -> Result<Config, ClusterError> {
    let unreadable = |error| ClusterError::BadKubeconfig(format!("{}: {error}", file.display()));
    let kubeconfig = Kubeconfig::read_from(file).map_err(unreadable)?;
    Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.map_err(unreadable)
}

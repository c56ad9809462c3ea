//! The TLS client: public roots plus the operator's own CA file, one named crypto provider, ALPN for both
//! protocols.
//!
//! It opens no connection: a stream that already leads to the origin, or to a proxy, goes in, the same one
//! with TLS on it comes out.
//!
//! Session tickets are kept in one [`ClientConfig`] a route and never shared: an origin that gets back a
//! ticket of its own knows that two addresses are one client.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use foundation::authorities;

#[derive(Debug, Error)]
pub enum TlsSetupError {
    /// The file, and its fault.
    #[error("{0}")]
    CaFile(String),
    #[error("TLS cannot be set up: {0}")]
    Provider(#[from] rustls::Error),
}

/// Speaks TLS with `host`, whose certificate must be for that name or address.
pub(super) async fn over<S>(stream: S, host: &str, config: Arc<ClientConfig>) -> io::Result<TlsStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let name = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(name).map_err(io::Error::other)?;
    TlsConnector::from(config).connect(name, stream).await
}

/// TLS tickets that one route keeps: a few origins, several each.
const MAX_TICKETS: usize = 32;

/// `shared` with an empty store of session tickets of its own: a browser resumes only its own sessions.
pub(super) fn with_own_tickets(shared: &ClientConfig) -> Arc<ClientConfig> {
    let mut config = shared.clone();
    config.resumption = Resumption::in_memory_sessions(MAX_TICKETS);
    Arc::new(config)
}

/// Whether the certificate authorities of an extra file can be used.
pub fn check(extra_ca_file: Option<&Path>) -> Result<(), TlsSetupError> {
    config(extra_ca_file).map(drop)
}

pub(super) fn config(extra_ca_file: Option<&Path>) -> Result<ClientConfig, TlsSetupError> {
    let roots = authorities::with_file(extra_ca_file).map_err(TlsSetupError::CaFile)?;
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    // only `with_own_tickets` keeps any
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// For https proxies, which speak HTTP/1.1 inside: the public roots and the ones in `proxies.extra_ca_file`.
pub(super) fn proxy_config(extra_ca_file: Option<&Path>) -> Result<Arc<ClientConfig>, TlsSetupError> {
    let mut config = config(extra_ca_file)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

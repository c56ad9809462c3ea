//! The TLS client: public roots plus the operator's own CA file, one named crypto provider, ALPN for both protocols.
//!
//! It opens no connection: a stream that already leads to the origin goes in, the same one with TLS on it comes out.
//!
//! Session tickets are kept in one [`ClientConfig`] a route and never shared: an origin that gets back a ticket of its own
//! knows that two addresses are one client.

use std::error::Error;
use std::future::{Ready, ready};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::Uri;
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::crypto::ring;
use thiserror::Error;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::authorities;

#[derive(Debug, Error)]
pub enum TlsSetupError {
    /// The file, and what is wrong with it.
    #[error("{0}")]
    CaFile(String),
    #[error("TLS cannot be set up: {0}")]
    Provider(#[from] rustls::Error),
}

/// A stream to an origin, with TLS where its scheme asks for it.
pub(super) type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// Speaks TLS on `stream` when the scheme of `origin` asks for it, else gives it back as it is.
pub(super) async fn over(
    stream: TcpStream,
    origin: Uri,
    config: Arc<ClientConfig>,
) -> Result<Stream, Box<dyn Error + Send + Sync>> {
    HttpsConnector::from((OpenStream(Some(stream)), config)).call(origin).await
}

/// TLS tickets that one route keeps: a few origins, several each.
const MAX_TICKETS: usize = 32;

/// `shared` with an empty store of session tickets of its own: a browser resumes only its own sessions.
pub(super) fn with_own_tickets(shared: &ClientConfig) -> Arc<ClientConfig> {
    let mut config = shared.clone();
    config.resumption = Resumption::in_memory_sessions(MAX_TICKETS);
    Arc::new(config)
}

/// Whether the certificate authorities of `http.extra_ca_file` can be used.
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

/// The transport below TLS that the connector asks for: a stream that is already open.
struct OpenStream(Option<TcpStream>);

impl Service<Uri> for OpenStream {
    type Response = TokioIo<TcpStream>;
    type Error = io::Error;
    type Future = Ready<io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        ready(self.0.take().map(TokioIo::new).ok_or_else(|| io::ErrorKind::NotConnected.into()))
    }
}

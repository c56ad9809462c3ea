//! The TLS client: public roots plus the operator's own CA file, one named crypto provider, ALPN for both
//! protocols.
//!
//! It opens no connection: a stream that already leads to the origin, or to a proxy, goes in, the same one
//! with TLS on it comes out. The handshake is hyper-rustls's.
//!
//! Session tickets are kept in one [`ClientConfig`] a route and never shared: an origin that gets back a
//! ticket of its own knows that two addresses are one client.

use std::convert::identity;
use std::future::ready;
use std::io;
use std::path::Path;
use std::sync::Arc;

use http::Uri;
use hyper::rt::{Read, Write};
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::connect::Connection;
use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::pki_types::ServerName;
use thiserror::Error;
use tower::{BoxError, ServiceExt, service_fn};

use foundation::authorities;

/// A file of authorities that cannot be used, and why.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct TlsSetupError(String);

/// Speaks TLS with `host`, whose certificate must be for that name or address. The connector is made without
/// its builder, which refuses a configuration that has its ALPN already.
pub(super) async fn over<S>(stream: S, host: &str, config: Arc<ClientConfig>) -> io::Result<MaybeHttpsStream<S>>
where
    S: Connection + Read + Write + Send + Unpin + 'static,
{
    let name = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let name = ServerName::try_from(name).map_err(io::Error::other)?;
    let mut stream = Some(stream);
    let connected = service_fn(move |_: Uri| ready(stream.take().ok_or(io::Error::from(io::ErrorKind::NotConnected))));
    let connector = HttpsConnector::new(connected, config, true, Arc::new(FixedServerNameResolver::new(name)));
    // the stream leads to the host already: the connector asks this address for nothing but its scheme
    connector.oneshot(Uri::from_static("https://host/")).await.map_err(handshake_error)
}

/// The error of the handshake with its own kind and cause: the connector wraps it into another one, whose
/// chain of causes leaves out the one of rustls.
fn handshake_error(error: BoxError) -> io::Error {
    match error.downcast::<io::Error>() {
        Ok(wrapper) => (*wrapper).downcast::<io::Error>().unwrap_or_else(identity),
        Err(error) => io::Error::other(error),
    }
}

/// Number of TLS tickets that one route keeps: a few origins, several each.
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
    let mut config = authorities::client(extra_ca_file).map_err(TlsSetupError)?;
    // only `with_own_tickets` keeps any
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Configuration for https proxies, which speak HTTP/1.1 inside: the public roots and the ones in `proxies.extra_ca_file`.
pub(super) fn proxy_config(extra_ca_file: Option<&Path>) -> Result<Arc<ClientConfig>, TlsSetupError> {
    let mut config = config(extra_ca_file)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> io::Error {
        let unknown = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        io::Error::new(io::ErrorKind::InvalidData, unknown)
    }

    #[test]
    fn an_error_of_the_handshake_keeps_its_kind_and_its_cause() {
        let error = handshake_error(io::Error::other(refused()).into());
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
        assert!(matches!(cause, Some(rustls::Error::InvalidCertificate(_))), "{error:?}");
    }

    #[test]
    fn a_connection_that_is_cut_keeps_its_kind() {
        let error = handshake_error(io::Error::other(io::Error::from(io::ErrorKind::UnexpectedEof)).into());
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}

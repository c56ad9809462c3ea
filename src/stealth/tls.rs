//! The TLS client: public roots plus the operator's own CA file, one named crypto provider, ALPN for both protocols.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use thiserror::Error;
use tokio_rustls::TlsConnector;

#[derive(Debug, Error)]
pub enum TlsSetupError {
    #[error("{file}: {why}")]
    CaFile { file: String, why: String },
    #[error("TLS cannot be set up: {0}")]
    Provider(#[from] rustls::Error),
}

pub(super) fn connector(extra_ca_file: Option<&Path>) -> Result<TlsConnector, TlsSetupError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(file) = extra_ca_file {
        add_ca_file(&mut roots, file).map_err(|why| TlsSetupError::CaFile { file: file.display().to_string(), why })?;
    }
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

fn add_ca_file(roots: &mut RootCertStore, file: &Path) -> Result<(), String> {
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| error.to_string())?;
    let mut added = 0;
    for certificate in certificates {
        roots.add(certificate.map_err(|error| error.to_string())?).map_err(|error| error.to_string())?;
        added += 1;
    }
    if added == 0 { Err("holds no certificate".to_owned()) } else { Ok(()) }
}

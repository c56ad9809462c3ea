//! Certificate authorities: the ones that browsers trust, and further ones of a file.
//!
//! In: a PEM file, or none. Out: the roots of a TLS configuration, or a client's whole configuration with them.
//! It must not know who connects where.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// The configuration of a client that checks servers by these authorities, with the one crypto provider. The
/// error names the file and its fault.
pub fn client(file: Option<&Path>) -> Result<ClientConfig, String> {
    let roots = with_file(file)?;
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| format!("TLS cannot be set up: {error}"))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// The public authorities, and the file's. The error names the file and its fault.
pub fn with_file(file: Option<&Path>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(file) = file {
        add(&mut roots, file).map_err(|reason| format!("{}: {reason}", file.display()))?;
    }
    Ok(roots)
}

fn add(roots: &mut RootCertStore, file: &Path) -> Result<(), String> {
    let certificates = CertificateDer::pem_file_iter(file).map_err(|error| error.to_string())?;
    let mut added = 0;
    for certificate in certificates {
        roots.add(certificate.map_err(|error| error.to_string())?).map_err(|error| error.to_string())?;
        added += 1;
    }
    if added == 0 { Err("holds no certificate".to_owned()) } else { Ok(()) }
}

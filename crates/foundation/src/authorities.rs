//! Certificate authorities: the ones that browsers trust, and further ones of a file.
//!
//! In: a PEM file, or none. Out: the roots of a TLS configuration. It must not know who connects where.

use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

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

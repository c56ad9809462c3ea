//! `TlsWishes`: what a database URL says about TLS, and the rustls configuration that follows.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, CryptoProvider};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::db::error::DbError;

#[derive(Debug, Default, PartialEq)]
pub struct TlsWishes {
    pub mode: Option<String>,
    root_cert: Option<PathBuf>,
}

impl TlsWishes {
    /// Takes out of the URL what only libpq knows: `verify-ca` and `verify-full` become `require`, `allow` becomes
    /// `prefer`, and `sslrootcert` is gone.
    pub fn taken_from(url: &str) -> (String, TlsWishes) {
        let (head, separator, parameters) = match url.split_once('?') {
            Some((head, parameters)) => (head, '&', parameters),
            None if url.contains("://") => (url, '&', ""),
            None => ("", ' ', url),
        };
        let mut wishes = TlsWishes::default();
        let kept: Vec<String> = parameters.split(separator).filter_map(|each| wishes.take(each)).collect();
        let kept = kept.join(&separator.to_string());
        let url = match head {
            "" => kept,
            head if kept.is_empty() => head.to_owned(),
            head => format!("{head}?{kept}"),
        };
        (url, wishes)
    }

    /// What stays of one `name=value`.
    fn take(&mut self, parameter: &str) -> Option<String> {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        match name {
            "sslrootcert" => {
                self.root_cert =
                    Some(percent_encoding::percent_decode_str(value).decode_utf8_lossy().into_owned().into());
                None
            }
            "sslmode" => {
                self.mode = Some(value.to_owned());
                let known = match value {
                    "verify-ca" | "verify-full" => "require",
                    "allow" => "prefer",
                    other => other,
                };
                Some(format!("sslmode={known}"))
            }
            _ => Some(parameter.to_owned()),
        }
    }

    /// `verify-ca` is taken for `verify-full`: stricter, and no surprise to anyone whose certificates are in order.
    fn checks_the_server(&self) -> bool {
        self.root_cert.is_some() || self.mode.as_deref().is_some_and(|mode| mode.starts_with("verify-"))
    }

    pub fn client_config(&self) -> Result<ClientConfig, DbError> {
        let provider = Arc::new(crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| DbError::Other(format!("TLS: {error}")))?;
        if !self.checks_the_server() {
            let trusting = Arc::new(Trusting(provider));
            return Ok(builder.dangerous().with_custom_certificate_verifier(trusting).with_no_client_auth());
        }
        Ok(builder.with_root_certificates(self.roots()?).with_no_client_auth())
    }

    fn roots(&self) -> Result<RootCertStore, DbError> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        let Some(file) = &self.root_cert else { return Ok(roots) };
        let unreadable = |why: String| DbError::Other(format!("sslrootcert {}: {why}", file.display()));
        let certificates = CertificateDer::pem_file_iter(file).map_err(|error| unreadable(error.to_string()))?;
        for certificate in certificates {
            let certificate = certificate.map_err(|error| unreadable(error.to_string()))?;
            roots.add(certificate).map_err(|error| unreadable(error.to_string()))?;
        }
        Ok(roots)
    }
}

/// Encryption without knowing with whom: what `sslmode=require` promises, and no more.
#[derive(Debug)]
struct Trusting(Arc<CryptoProvider>);

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        crypto::verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        crypto::verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(
        "postgresql://h/d?sslmode=verify-full&connect_timeout=3",
        "postgresql://h/d?sslmode=require&connect_timeout=3",
        true
    )]
    #[case("postgresql://h/d?sslrootcert=/ca.pem", "postgresql://h/d", true)]
    #[case("host=h sslmode=verify-ca user=u", "host=h sslmode=require user=u", true)]
    #[case("postgresql://h/d?sslmode=require", "postgresql://h/d?sslmode=require", false)]
    #[case("postgresql://h/d", "postgresql://h/d", false)]
    fn the_words_of_libpq_are_understood(#[case] url: &str, #[case] kept: &str, #[case] checks: bool) {
        let (url, wishes) = TlsWishes::taken_from(url);
        assert_eq!(url, kept);
        assert_eq!(wishes.checks_the_server(), checks);
    }

    #[test]
    fn a_missing_authority_file_is_named() {
        let (_, wishes) = TlsWishes::taken_from("postgresql://h/d?sslrootcert=/nowhere/ca.pem");
        let error = wishes.client_config().unwrap_err().to_string();
        assert!(error.contains("/nowhere/ca.pem"), "{error}");
    }
}

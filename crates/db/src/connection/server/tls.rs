//! `TlsSettings`: the TLS parameters of a database URL, and the rustls configuration made from them; and
//! the remedies for failures of TLS.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, CryptoProvider};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use crate::error::DbError;
use foundation::authorities;
use settings::DatabaseUrl;

/// Text of the driver, which has no type for this error.
const SERVER_WITHOUT_TLS: &str = "server does not support TLS";

#[derive(Debug, Default, PartialEq)]
pub struct TlsSettings {
    pub mode: Option<String>,
    root_cert: Option<PathBuf>,
}

impl TlsSettings {
    /// Removes the values that only libpq knows from the URL: `verify-ca` and `verify-full` become `require`,
    /// `allow` becomes `prefer`, and `sslrootcert` is removed.
    pub fn take_from(url: &mut DatabaseUrl) -> TlsSettings {
        let settings = TlsSettings { mode: url.take("sslmode"), root_cert: url.take("sslrootcert").map(PathBuf::from) };
        match settings.mode.as_deref() {
            Some("verify-ca" | "verify-full") => url.set("sslmode", "require"),
            Some("allow") => url.set("sslmode", "prefer"),
            Some(other) => url.set("sslmode", other),
            None => {}
        }
        settings
    }

    /// `verify-ca` also checks the host name here, as `verify-full` does.
    fn checks_the_server(&self) -> bool {
        self.root_cert.is_some() || self.mode.as_deref().is_some_and(|mode| mode.starts_with("verify-"))
    }

    pub fn client_config(&self) -> Result<ClientConfig, DbError> {
        let provider = Arc::new(crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| DbError::Other(format!("TLS: {error}")))?;
        if !self.checks_the_server() {
            let verifier = Arc::new(AcceptAnyCertificate(provider));
            return Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth());
        }
        Ok(builder.with_root_certificates(self.roots()?).with_no_client_auth())
    }

    fn roots(&self) -> Result<RootCertStore, DbError> {
        let unusable = |reason| DbError::Other(format!("sslrootcert {reason}"));
        authorities::with_file(self.root_cert.as_deref()).map_err(unusable)
    }
}

/// The remedy for a failure to connect that is one of TLS.
pub fn remedy(error: &tokio_postgres::Error) -> Option<&'static str> {
    let cause = error.source()?;
    if cause.to_string() == SERVER_WITHOUT_TLS {
        return Some("turn it on there (ssl = on), or set sslmode=disable in database.url");
    }
    let rustls::Error::InvalidCertificate(fault) = tls_error(cause)? else { return None };
    match fault {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            Some("no trusted authority has signed it: name the file of its authority as sslrootcert in database.url")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => Some(
            "it is for another host: name the host in database.url as the certificate does, or issue one for this name",
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            Some("it has expired, or this machine's clock is wrong: renew it")
        }
        _ => None,
    }
}

/// The driver wraps it into an error of I/O.
fn tls_error<'e>(cause: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    let io = cause.downcast_ref::<std::io::Error>()?;
    io.get_ref()?.downcast_ref()
}

/// Accepts every certificate, as libpq does for `prefer` and `require`.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
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
        "postgresql://h/d?connect_timeout=3&sslmode=require",
        true
    )]
    #[case("postgresql://h/d?sslrootcert=/ca.pem", "postgresql://h/d", true)]
    #[case("host=h sslmode=verify-ca user=u", "host=h user=u sslmode=require", true)]
    #[case("postgresql://h/d?sslmode=require", "postgresql://h/d?sslmode=require", false)]
    #[case("postgresql://h/d", "postgresql://h/d", false)]
    fn the_words_of_libpq_are_understood(#[case] url: &str, #[case] kept: &str, #[case] checks: bool) {
        let mut url = DatabaseUrl::parse(url).unwrap();
        let settings = TlsSettings::take_from(&mut url);
        assert_eq!(url.to_string(), kept);
        assert_eq!(settings.checks_the_server(), checks);
    }

    #[rstest]
    #[case::missing("/nowhere/ca.pem")]
    #[case::without_a_certificate("/dev/null")]
    fn an_authority_file_of_no_use_is_named(#[case] file: &str) {
        let mut url = DatabaseUrl::parse(&format!("postgresql://h/d?sslrootcert={file}")).unwrap();
        let settings = TlsSettings::take_from(&mut url);
        let error = settings.client_config().unwrap_err().to_string();
        assert!(error.contains(file), "{error}");
    }
}

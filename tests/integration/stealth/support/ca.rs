//! A certificate authority of the test's own, and one server certificate by it.

use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tempfile::TempDir;
use tokio_rustls::TlsAcceptor;

use super::HOST;

/// Certificate that a server shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certificate {
    Good,
    Expired,
    NotYetValid,
    OfAnotherName,
    SelfSigned,
}

pub struct Ca {
    issuer: CertifiedIssuer<'static, KeyPair>,
    dir: TempDir,
}

impl Ca {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join("ca.pem"), issuer.pem()).unwrap();
        Ca { issuer, dir }
    }

    pub fn file(&self) -> PathBuf {
        self.dir.path().join("ca.pem")
    }

    pub fn acceptor(&self, protocols: &[&str]) -> TlsAcceptor {
        self.origin_acceptor(Certificate::Good, protocols)
    }

    /// Acceptor of an origin at [`HOST`].
    pub fn origin_acceptor(&self, certificate: Certificate, protocols: &[&str]) -> TlsAcceptor {
        self.acceptor_for(HOST, "elsewhere.test", certificate, protocols)
    }

    /// Acceptor of a proxy at 127.0.0.1.
    pub fn acceptor_of(&self, certificate: Certificate) -> TlsAcceptor {
        self.acceptor_for("127.0.0.1", HOST, certificate, &["http/1.1"])
    }

    /// Configuration of a simulated origin.
    pub fn localhost(&self) -> Arc<ServerConfig> {
        let acceptor = self.acceptor_for("localhost", "elsewhere.test", Certificate::Good, &["h2", "http/1.1"]);
        Arc::clone(acceptor.config())
    }

    fn acceptor_for(&self, name: &str, other: &str, certificate: Certificate, protocols: &[&str]) -> TlsAcceptor {
        let key = KeyPair::generate().unwrap();
        let name = if certificate == Certificate::OfAnotherName { other } else { name };
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        if certificate == Certificate::Expired {
            (params.not_before, params.not_after) = (date_time_ymd(2019, 1, 1), date_time_ymd(2020, 1, 1));
        }
        if certificate == Certificate::NotYetValid {
            (params.not_before, params.not_after) = (date_time_ymd(2090, 1, 1), date_time_ymd(2091, 1, 1));
        }
        let certificate = match certificate {
            Certificate::SelfSigned => {
                // not the name of the authority
                params.distinguished_name.push(DnType::CommonName, "a stranger");
                params.self_signed(&key).unwrap()
            }
            _ => params.signed_by(&key, &self.issuer).unwrap(),
        };
        acceptor(&certificate, &key, protocols)
    }
}

fn acceptor(certificate: &rcgen::Certificate, key: &KeyPair, protocols: &[&str]) -> TlsAcceptor {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    TlsAcceptor::from(Arc::new(config))
}

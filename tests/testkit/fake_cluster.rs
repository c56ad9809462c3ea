//! `FakeCluster`: the API of Kubernetes on loopback, as far as drover calls it: one StatefulSet, and the answers of a bad day. It has
//! a certificate of its own authority, as a cluster has.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use settings::Kubernetes;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

const TOKEN: &str = "the token of the service account";
const STATEFULSET: &str = "/apis/apps/v1/namespaces/dispensary-scraper/statefulsets/scraper-worker";

/// The answers to the next requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClusterMood {
    Works,
    /// Answers with this status.
    Refuses(u16),
    /// Answers 429 as an overloaded server does: plain text, and the seconds to wait in a header.
    Throttles(u64),
    /// Takes the request, and says nothing.
    Silent,
}

pub struct FakeCluster {
    state: Arc<Mutex<State>>,
    kubeconfig: TempDir,
    serving: JoinHandle<()>,
}

struct State {
    mood: ClusterMood,
    replicas: i64,
    annotations: Value,
    /// Verb, resource and name of each request.
    calls: Vec<String>,
}

impl FakeCluster {
    /// One with five pods.
    pub async fn start() -> FakeCluster {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (authority, acceptor) = tls();
        let kubeconfig = kubeconfig(listener.local_addr().unwrap(), &authority);
        let state = State { mood: ClusterMood::Works, replicas: 5, annotations: json!({}), calls: Vec::new() };
        let state = Arc::new(Mutex::new(state));
        let serving = tokio::spawn(serve(listener, acceptor, state.clone()));
        FakeCluster { state, kubeconfig, serving }
    }

    /// The file by which a client finds it.
    pub fn kubeconfig(&self) -> PathBuf {
        self.kubeconfig.path().join("config")
    }

    pub fn settings(&self) -> Kubernetes {
        Kubernetes { kubeconfig: Some(self.kubeconfig()), ..super::config(&[]).kubernetes }
    }

    /// Settings with a deadline that a test can wait for.
    pub fn hasty_settings(&self) -> Kubernetes {
        Kubernetes { timeout: Duration::from_secs(1), ..self.settings() }
    }

    pub fn set_mood(&self, mood: ClusterMood) {
        self.lock().mood = mood;
    }

    pub fn annotate(&self, annotations: Value) {
        self.lock().annotations = annotations;
    }

    pub fn replicas(&self) -> i64 {
        self.lock().replicas
    }

    pub fn calls(&self) -> Vec<String> {
        self.lock().calls.clone()
    }

    /// Ends it: its port is closed.
    pub async fn shut(&mut self) {
        self.serving.abort();
        let _ = (&mut self.serving).await;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl Drop for FakeCluster {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// The authority's certificate in PEM, and the server's side.
fn tls() -> (String, TlsAcceptor) {
    let mut authority = CertificateParams::new([]).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own.der().clone()], key)
        .unwrap();
    (authority.pem(), TlsAcceptor::from(Arc::new(config)))
}

fn kubeconfig(server: SocketAddr, authority: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "fake",
        "clusters": [{ "name": "fake", "cluster": {
            "server": format!("https://{server}"), "certificate-authority-data": STANDARD.encode(authority),
        } }],
        "users": [{ "name": "scraper-api", "user": { "token": TOKEN } }],
        "contexts": [{ "name": "fake", "context": { "cluster": "fake", "user": "scraper-api" } }],
    });
    std::fs::write(dir.path().join("config"), config.to_string()).unwrap();
    dir
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor, state: Arc<Mutex<State>>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let Ok(stream) = acceptor.accept(stream).await else { continue };
        let state = state.clone();
        let service = service_fn(move |request| {
            let state = state.clone();
            async move { Ok::<_, Infallible>(answer(request, &state).await) }
        });
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

async fn answer(request: Request<Incoming>, state: &Mutex<State>) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let name = head.uri.path().rsplit_once("/statefulsets/").map_or("", |(_, name)| name);
    let call = format!("{} statefulsets/{name}", verb(&head.method));
    let mood = {
        let mut state = state.lock().unwrap();
        state.calls.push(call);
        state.mood
    };
    if head.headers.get("authorization").is_none_or(|given| *given != format!("Bearer {TOKEN}")) {
        return status(401, "Unauthorized");
    }
    match mood {
        ClusterMood::Silent => std::future::pending().await,
        ClusterMood::Refuses(code) => status(code, "the reason of the cluster"),
        ClusterMood::Throttles(seconds) => {
            let answer = Response::builder().status(429).header("retry-after", seconds.to_string());
            answer.body(Full::from("Too many requests, please try again later.\n")).unwrap()
        }
        ClusterMood::Works if head.uri.path() != STATEFULSET => status(404, "not found"),
        ClusterMood::Works => {
            let mut state = state.lock().unwrap();
            if head.method == Method::PATCH {
                assert_eq!(head.headers["content-type"], "application/merge-patch+json");
                let patch: Value = serde_json::from_slice(&body).unwrap();
                state.replicas = patch["spec"]["replicas"].as_i64().unwrap();
                assert_eq!(patch, json!({ "spec": { "replicas": state.replicas } }), "it patches nothing else");
            }
            json_answer(200, &statefulset(&state))
        }
    }
}

/// Its pods have not followed yet: five are there, of which four are ready.
fn statefulset(state: &State) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": { "name": "scraper-worker", "namespace": "dispensary-scraper", "annotations": state.annotations },
        "spec": { "replicas": state.replicas, "serviceName": "scraper-worker", "selector": {}, "template": {} },
        "status": { "replicas": 5, "readyReplicas": 4 },
    })
}

fn status(code: u16, message: &str) -> Response<Full<Bytes>> {
    json_answer(
        code,
        &json!({ "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "message": message }),
    )
}

fn json_answer(code: u16, body: &Value) -> Response<Full<Bytes>> {
    let answer = Response::builder().status(code).header("content-type", "application/json");
    answer.body(Full::from(body.to_string())).unwrap()
}

/// Verb as a Role names it.
fn verb(method: &Method) -> &'static str {
    match *method {
        Method::GET => "get",
        Method::PATCH => "patch",
        Method::PUT => "update",
        Method::POST => "create",
        Method::DELETE => "delete",
        _ => "another",
    }
}

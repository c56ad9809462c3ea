//! `Server`: the API on a port of its own, with a database of its own, and the plainest client there is.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use api::rendered_images::Renderer;
use api::{Actors, ApiServices, ApiState, CrawlLimits, Health, PayloadFiles};
use cluster::Cluster;
use db::Db;
use domain::proxy::{Budgets, HealthCounts, PoolState};
use drover::cli::proxies::checker;
use foundation::digest::sha256_hex;
use foundation::secrets::SecretKeys;
use geo::Geo;
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use settings::{LiveConfig, LoadedConfig, Setting};
use storage::{Images, Variants};
use supervision::background::Background;
use supervision::lifecycle::Lifecycle;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::attack::leaks;
use super::openapi::assert_described;
use testkit::{FakeCluster, TestDatabase};

pub const MAX_BODY: usize = 4096;

pub struct Server {
    pub address: SocketAddr,
    pub database: TestDatabase,
    pub proxies: watch::Sender<PoolState>,
    pub actors: watch::Sender<Actors>,
    pub stop: CancellationToken,
    pub serving: JoinHandle<()>,
    pub state: ApiState,
    /// Directory of payload files.
    pub storage: tempfile::TempDir,
    /// Cluster of the server; None where the test has one of its own.
    _cluster: Option<FakeCluster>,
}

#[derive(Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: http::HeaderMap,
    pub body: Bytes,
}

/// The parts of the program behind the API that tests choose.
struct Parts {
    geo: Geo,
    images: settings::Images,
    budgets: Budgets,
    /// None: a cluster that takes any number of pods.
    kubernetes: Option<settings::Kubernetes>,
    keys: SecretKeys,
}

impl Default for Parts {
    fn default() -> Parts {
        let (geo, budgets) = (Geo::default(), Budgets::default());
        Parts { geo, images: testkit::config(&[]).images, budgets, kubernetes: None, keys: SecretKeys::default() }
    }
}

impl Server {
    pub async fn start() -> Server {
        Server::with_timeout(Duration::from_secs(30)).await
    }

    pub async fn with_timeout(request_timeout: Duration) -> Server {
        Server::with(|config| config.request_timeout = request_timeout).await
    }

    /// One that looks places up in this file.
    pub async fn with_geo(file: &Path) -> Server {
        Server::start_with(|_| (), Geo::new(Some(file))).await
    }

    pub async fn with(change: impl FnOnce(&mut settings::Api)) -> Server {
        Server::start_with(change, Geo::default()).await
    }

    pub async fn start_with(change: impl FnOnce(&mut settings::Api), geo: Geo) -> Server {
        Server::on(testkit::database().await, change, geo).await
    }

    /// One that serves images so.
    pub async fn with_images(change: impl FnOnce(&mut settings::Images)) -> Server {
        let mut images = testkit::config(&[]).images;
        change(&mut images);
        Server::build(testkit::database().await, |_| (), Parts { images, ..Parts::default() }).await
    }

    /// One whose proxies have these budgets.
    pub async fn with_budgets(budgets: Budgets) -> Server {
        Server::build(testkit::database().await, |_| (), Parts { budgets, ..Parts::default() }).await
    }

    /// One that encrypts with this key.
    pub async fn with_key(key: &str) -> Server {
        let parts = Parts { keys: SecretKeys::parse(key, []).unwrap(), ..Parts::default() };
        Server::build(testkit::database().await, |_| (), parts).await
    }

    /// One that scales the workers of this cluster.
    pub async fn with_cluster(kubernetes: settings::Kubernetes) -> Server {
        let parts = Parts { kubernetes: Some(kubernetes), ..Parts::default() };
        Server::build(testkit::database().await, |_| (), parts).await
    }

    pub async fn on(database: TestDatabase, change: impl FnOnce(&mut settings::Api), geo: Geo) -> Server {
        Server::build(database, change, Parts { geo, ..Parts::default() }).await
    }

    async fn build(database: TestDatabase, change: impl FnOnce(&mut settings::Api), parts: Parts) -> Server {
        let Parts { geo, images, budgets, kubernetes, keys } = parts;
        let cluster = if kubernetes.is_none() { Some(FakeCluster::start().await) } else { None };
        let own = cluster.as_ref().map(|cluster| settings::Kubernetes { min_replicas: 0, ..cluster.settings() });
        let queue = images.render_queue;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (proxies, pool) = watch::channel(PoolState {
            usable: 2,
            health: HealthCounts { healthy: 2, benched: 1, ..HealthCounts::default() },
        });
        let (actors, seen) = watch::channel(Actors::Running);
        let health = Health::new(Some(pool), move || seen.borrow().clone());
        // all clients of a test have one address
        let mut config =
            settings::Api { max_body_bytes: MAX_BODY, connections_per_address: 0, ..testkit::config(&[]).api };
        change(&mut config);
        let storage = tempfile::tempdir().unwrap();
        let files = PayloadFiles::new(storage.path(), drover::platforms::normalise);
        let whole = Arc::new(testkit::config(&[]));
        let loaded =
            LoadedConfig { config: testkit::config(&[]), environment: "test".to_owned(), settings: shown_settings() };
        let services = ApiServices {
            files,
            health,
            keys,
            proxies: settings::Proxies {
                budget_bytes_per_day: budgets.each.map(|bytes| bytes as usize),
                budget_bytes_per_day_in_all: budgets.in_all.map(|bytes| bytes as usize),
                ..whole.proxies.clone()
            }
            .into(),
            live: LiveConfig::new(loaded),
            politeness: whole.politeness.clone().into(),
            crawl_limits: CrawlLimits::of(&whole),
            allowed_hosts: Arc::default(),
            menu_urls: Arc::new(drover::platforms::MenuAddresses::of(&whole)),
            selectors_fault: ::media::clients::selectors::fault,
            proxy_tester: checker::tester(whole),
            images,
            image_is_permitted: Arc::new(|address| address.starts_with("https://permitted.test/")),
            renderer: Renderer::new(
                Images::under(storage.path()),
                Variants::new(storage.path().join("image-cache"), 1 << 20),
                queue,
            ),
            geo,
            cluster: Cluster::new(&kubernetes.or(own).unwrap()),
        };
        let state = ApiState::new(database.db.clone(), Arc::new(config), services);
        let background = Background::new(&testkit::config(&[]).supervision, Lifecycle::default());
        let stop = state.stop.clone();
        let serving = tokio::spawn(api::serve(listener, state.clone(), dashboard::routes(), background));
        Server { address, database, proxies, actors, stop, serving, state, storage, _cluster: cluster }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path).body(Full::default()).unwrap()).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Answer {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        self.send(request.body(Full::from(body.to_string())).unwrap()).await
    }

    pub fn request(&self, method: Method, path: &str) -> http::request::Builder {
        Request::builder().method(method).uri(path).header("host", self.address.to_string())
    }

    pub async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        send(self.address, request).await
    }

    /// The text of a new token with this access role, named like it; made as another process makes one.
    pub async fn token(&self, role: &str) -> String {
        make_token(&self.database.db, role).await
    }

    /// A request with this token and an empty or JSON body.
    pub async fn call(&self, method: Method, path: &str, token: &str, body: Option<Value>) -> Answer {
        let request = self.request(method, path).header("authorization", format!("Bearer {token}"));
        let body = body.map_or_else(Full::default, |body| Full::from(body.to_string()));
        self.send(request.body(body).unwrap()).await
    }

    /// The status of an empty request; its answer may be endless.
    pub async fn status(&self, method: &Method, path: &str, token: Option<&str>) -> u16 {
        let mut request = self.request(method.clone(), path);
        if let Some(token) = token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        open(self.address, request.body(Full::default()).unwrap()).await.status().as_u16()
    }

    /// A store on which tasks can be made; returns its id.
    pub async fn add_store(&self, name: &str) -> i64 {
        let sql = "INSERT INTO dispensaries (name, slug, platform_dispensary_id) VALUES ($1, $1, $1) RETURNING id";
        self.database.raw.query_one(sql, &[&name]).await.unwrap().get(0)
    }
}

/// Makes a token with this access role, named like it, and returns its text.
pub async fn make_token(db: &Db, role: &str) -> String {
    let text = format!("drover_Secret-of_{role}");
    let (client, access) = (db.client().await.unwrap(), role.parse().unwrap());
    db::access::api_tokens::insert(&client, role, access, &sha256_hex(&text)).await.unwrap().unwrap();
    text
}

/// An answer whose body is still to come.
pub async fn open(address: SocketAddr, request: Request<Full<Bytes>>) -> Response<Incoming> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut client, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    client.send_request(request).await.unwrap()
}

pub async fn send(address: SocketAddr, request: Request<Full<Bytes>>) -> Answer {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let (head, body) = open(address, request).await.into_parts();
    let answer = Answer { status: head.status, headers: head.headers, body: body.collect().await.unwrap().to_bytes() };
    leaks::assert_none(&format!("{method} {uri}"), &format!("{:?} {}", answer.headers, answer.text()));
    assert_described(&method, uri.path(), &answer);
    answer
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The JSON of an answer with this status.
    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        self.json()
    }

    /// The problem document of an answer with this status.
    #[track_caller]
    pub fn problem(&self, status: u16) -> Value {
        let problem = self.expect(status);
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(problem["status"], status);
        assert!(problem["title"].is_string() && problem["detail"].is_string(), "{problem}");
        problem
    }
}

/// A default value, and a changed one.
fn shown_settings() -> Vec<Setting> {
    let setting = |key: &str, value, origin: &str| Setting { key: key.to_owned(), value, origin: origin.to_owned() };
    vec![
        setting("api.listen", json!("127.0.0.1:0"), "DROVER__API__LISTEN"),
        setting("politeness.breaker_share", json!(0.5), "config/default.toml"),
    ]
}

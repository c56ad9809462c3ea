//! `S3`: a server that speaks S3 on a loopback address, with its objects as files of a directory. It can go
//! away, and come back with all of them.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use http::{Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use settings::Config;
use tokio::net::{TcpListener, TcpSocket};
use tokio::process::Command;
use tokio::task::{JoinHandle, JoinSet};

use crate::{PATIENCE, until_some};

/// Maximum number of connections that wait to be accepted.
const BACKLOG: u32 = 1024;
const BUCKET: &str = "menus";
const PREFIX: &str = "crawl/one";
const KEY_ID: &str = "AKIDOFTHETESTS";
/// Secret that tests look for in all places.
pub const S3_SECRET: &str = "sEcReT/of+the/tests0123456789";

pub struct S3 {
    dir: tempfile::TempDir,
    address: SocketAddr,
    service: S3Service,
    refused: Arc<Mutex<Vec<(Method, String)>>>,
    serving: Option<JoinHandle<()>>,
    /// Keeps the port for it while it is away.
    held: Option<TcpSocket>,
}

impl S3 {
    /// Starts with an empty bucket.
    pub async fn start() -> S3 {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(BUCKET)).unwrap();
        let mut service = S3ServiceBuilder::new(FileSystem::new(dir.path()).unwrap());
        service.set_auth(SimpleAuth::from_single(KEY_ID, S3_SECRET));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut server = S3 {
            dir,
            address: listener.local_addr().unwrap(),
            service: service.build(),
            refused: Arc::default(),
            serving: None,
            held: None,
        };
        server.serve(listener);
        server
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends all connections, and refuses further ones.
    pub async fn stop(&mut self) {
        let Some(serving) = self.serving.take() else { return };
        serving.abort();
        let _ = serving.await;
        self.held = Some(until_some("the port can be held", PATIENCE, async || hold(self.address).ok()).await);
    }

    pub async fn start_again(&mut self) {
        let socket = self.held.take().unwrap();
        self.serve(socket.listen(BACKLOG).unwrap());
    }

    /// Answers 403 to these requests for the object at a path of the layout from now on.
    pub fn refuse(&self, method: Method, path: &str) {
        self.refused.lock().unwrap().push((method, path.to_owned()));
    }

    fn serve(&mut self, listener: TcpListener) {
        let (service, refused) = (self.service.clone(), self.refused.clone());
        self.serving = Some(tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (service, refused) = (service.clone(), refused.clone());
                let service = service_fn(move |request: Request<Incoming>| {
                    let is_refused = |(method, path): &(Method, String)| {
                        request.method() == method && request.uri().path().ends_with(path.as_str())
                    };
                    let answer = refused.lock().unwrap().iter().any(is_refused).then(denied);
                    let service = service.clone();
                    async move {
                        match answer {
                            Some(answer) => Ok(answer),
                            None => Service::call(&service, request).await,
                        }
                    }
                });
                connections.spawn(async move {
                    let builder = Builder::new(TokioExecutor::new());
                    // a client that leaves is not a fault
                    let _ = builder.serve_connection(TokioIo::new(stream), service).await;
                });
            }
        }));
    }

    /// The keys of the configuration that lead here.
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        vec![
            ("storage.driver", "s3".to_owned()),
            ("storage.bucket", BUCKET.to_owned()),
            ("storage.prefix", PREFIX.to_owned()),
            ("storage.endpoint", format!("http://{}", self.address)),
            ("storage.region", "us-east-1".to_owned()),
            ("storage.allow_http", "true".to_owned()),
            ("storage.access_key_id", KEY_ID.to_owned()),
            ("storage.secret_access_key", S3_SECRET.to_owned()),
        ]
    }

    pub fn config(&self) -> Config {
        self.config_by_way_of(self.address)
    }

    /// Configuration with another address, which leads here.
    pub fn config_by_way_of(&self, address: SocketAddr) -> Config {
        let mut settings = self.settings();
        settings.retain(|(key, _)| *key != "storage.endpoint");
        settings.push(("storage.endpoint", format!("http://{address}")));
        Config::with(&settings.iter().map(|(key, value)| (*key, value.as_str())).collect::<Vec<_>>()).unwrap()
    }

    /// Makes a command use this bucket, and a data directory of its own.
    pub fn on_a_machine_of_its_own(&self, command: &mut Command, data: &Path) {
        command.env("DROVER__DATABASE__DIR", data);
        for (key, value) in self.settings() {
            command.env(format!("DROVER__{}", key.to_uppercase().replace('.', "__")), value);
        }
    }

    /// File of the object at a path of the layout.
    pub fn object(&self, path: &str) -> PathBuf {
        self.dir.path().join(BUCKET).join(PREFIX).join(path)
    }

    /// Paths of all objects below a directory, without the one that names the owner. Objects that are being written
    /// are none yet: the server has them in files of its own.
    pub fn objects(&self, dir: &str) -> Vec<String> {
        let root = self.object("");
        let files = files_below(&root.join(dir)).into_iter();
        let mut paths: Vec<String> =
            files.map(|file| file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()).collect();
        paths.retain(|path| path != "payloads/.database" && !path.contains(".internal."));
        paths.sort();
        paths
    }
}

/// Takes a port without listening there. It fails while a process that another test starts still has the old listener:
/// between its fork and its exec.
fn hold(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

fn denied() -> Response<s3s::Body> {
    let body = "<Error><Code>AccessDenied</Code></Error>".to_owned();
    let mut answer = Response::new(s3s::Body::from(body));
    *answer.status_mut() = StatusCode::FORBIDDEN;
    answer
}

impl Drop for S3 {
    fn drop(&mut self) {
        if let Some(serving) = &self.serving {
            serving.abort();
        }
    }
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

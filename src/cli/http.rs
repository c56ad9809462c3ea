//! The HTTP server beside a running tree: bound with a clear word when it cannot be, told of the tree's health, ended last.

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Env, Refusal};
use crate::actors::lifecycle::Lifecycle;
use crate::api::{self, Actors, ApiParts, Health};
use crate::app::App;

/// A server under way; it goes on while the process drains, so that probes and people see it drain.
pub struct Server {
    pub address: std::net::SocketAddr,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Server {
    /// The whole API, at `api.listen`.
    pub fn api(env: &Env, app: &App, listener: TcpListener) -> anyhow::Result<Server> {
        let shared = app.tree().shared();
        let proxies = app.tree().has_workers().then(|| app.tree().proxies().state());
        let lifecycle = app.lifecycle().clone();
        let health = Health::new(proxies, move || actors(&lifecycle));
        let parts = ApiParts { db: shared.db.clone(), config: env.config.api.clone(), health };
        Server::start(listener, |listener, stop| tokio::spawn(api::serve(listener, parts, stop)))
    }

    /// `/livez` and `/metrics` alone.
    pub fn probes(env: &Env, listener: TcpListener) -> anyhow::Result<Server> {
        let config = &env.config.api;
        Server::start(listener, |listener, stop| tokio::spawn(api::serve_probes(listener, config, stop)))
    }

    pub async fn close(self) {
        self.stop.cancel();
        // a panic in it has been told where it happened
        let _ = self.task.await;
    }

    fn start(
        listener: TcpListener,
        serve: impl FnOnce(TcpListener, CancellationToken) -> JoinHandle<()>,
    ) -> anyhow::Result<Server> {
        let address = listener.local_addr()?;
        let stop = CancellationToken::new();
        tracing::info!("Listening on http://{address}");
        Ok(Server { address, stop: stop.clone(), task: serve(listener, stop) })
    }
}

/// Where the API is served.
pub async fn listen_for_api(env: &Env) -> Result<TcpListener, Refusal> {
    listen(&env.config.api.listen, "PORT or DROVER__API__LISTEN").await
}

/// Where a worker is probed; nowhere when `worker.listen` is empty.
pub async fn listen_for_probes(env: &Env) -> Result<Option<TcpListener>, Refusal> {
    match env.config.worker.listen.as_str() {
        "" => Ok(None),
        address => listen(address, "DROVER__WORKER__LISTEN").await.map(Some),
    }
}

async fn listen(address: &str, remedy: &str) -> Result<TcpListener, Refusal> {
    TcpListener::bind(address).await.map_err(|error| {
        Refusal::unavailable(format!("cannot listen on {address}: {error}; choose another by {remedy}"))
    })
}

fn actors(lifecycle: &Lifecycle) -> Actors {
    match lifecycle.cause() {
        Some(cause) => Actors::Failed { cause },
        None if lifecycle.is_running() => Actors::Running,
        None => Actors::Draining,
    }
}

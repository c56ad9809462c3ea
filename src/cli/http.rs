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
    pub async fn api(env: &Env, app: &App) -> anyhow::Result<Server> {
        let shared = app.tree().shared();
        let proxies = Some(app.tree().proxies().state());
        let lifecycle = app.lifecycle().clone();
        let health = Health::new(proxies, move || actors(&lifecycle));
        let parts = ApiParts { db: shared.db.clone(), config: env.config.api.clone(), health };
        let listener = listen(&env.config.api.listen, "PORT or DROVER__API__LISTEN").await?;
        Server::start(listener, |listener, stop| tokio::spawn(api::serve(listener, parts, stop)))
    }

    /// `/livez` and `/metrics` alone, at `worker.listen`; none where that is empty.
    pub async fn probes(env: &Env) -> anyhow::Result<Option<Server>> {
        let address = &env.config.worker.listen;
        if address.is_empty() {
            return Ok(None);
        }
        let listener = listen(address, "DROVER__WORKER__LISTEN").await?;
        let config = &env.config.api;
        Server::start(listener, |listener, stop| tokio::spawn(api::serve_probes(listener, config, stop))).map(Some)
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

//! The accept loop: bounds the number of connections and the time that a client takes to send a request and to read its answer, and
//! closes them in order.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Layer;

use super::authenticate::ClientAddress;
use crate::events;

/// The most that [`Bounds::write_idle`] needs to be.
pub const MAX_WRITE_IDLE: Duration = Duration::from_secs(10);
/// From the first byte to the last of a request's head, and how long an idle connection is kept.
const MAX_HEAD_TIME: Duration = Duration::from_secs(10);
/// A larger head is answered with 431.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// How long open requests may take once the server is stopped.
const MAX_END_TIME: Duration = Duration::from_secs(10);
/// Out of descriptors: trying again at once would only burn CPU.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The limits on clients.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Connections at once; further clients wait in the kernel's queue.
    pub connections: usize,
    /// A client that reads nothing of its answer for so long is disconnected.
    pub write_idle: Duration,
}

/// Serves `router` on `listener` until `stop`, then lets open requests finish.
pub async fn serve(listener: TcpListener, router: Router, bounds: Bounds, stop: CancellationToken) {
    let (open, over) = (TaskTracker::new(), CancellationToken::new());
    let permits = Arc::new(Semaphore::new(bounds.connections));
    while let Some((stream, client, permit)) = next(&listener, &permits, &stop).await {
        let connection = Connection { client, router: router.clone(), stop: stop.clone(), place: Place::new(permit) };
        let over = over.clone();
        open.spawn(async move { over.run_until_cancelled(connection.serve(stream, bounds.write_idle)).await });
    }
    drop(listener);
    open.close();
    if tokio::time::timeout(MAX_END_TIME, open.wait()).await.is_err() {
        over.cancel();
        open.wait().await;
    }
}

/// The next client, once a connection is free; None when the server is stopped.
async fn next(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
    stop: &CancellationToken,
) -> Option<(TcpStream, ClientAddress, OwnedSemaphorePermit)> {
    let accepted = async {
        let permit = permits.clone().acquire_owned().await.ok()?;
        let (stream, client) = accept(listener).await;
        Some((stream, client, permit))
    };
    stop.run_until_cancelled(accepted).await.flatten()
}

async fn accept(listener: &TcpListener) -> (TcpStream, ClientAddress) {
    loop {
        match listener.accept().await {
            Ok((stream, client)) => return (stream, ClientAddress(client.ip())),
            Err(error) => {
                events::accept_failed(&error);
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// A connection's place among [`Bounds::connections`], as an extension of its requests.
#[derive(Clone)]
pub struct Place(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Place {
    fn new(permit: OwnedSemaphorePermit) -> Self {
        Place(Arc::new(Mutex::new(Some(permit))))
    }

    /// Gives it to another client; the connection goes on.
    pub fn free(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

struct Connection {
    client: ClientAddress,
    router: Router,
    stop: CancellationToken,
    place: Place,
}

impl Connection {
    async fn serve(self, stream: TcpStream, write_idle: Duration) {
        // answers are small: waiting to fill packets only delays them
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(write_idle));
        let mut protocol = http1::Builder::new();
        protocol.timer(TokioTimer::new()).header_read_timeout(MAX_HEAD_TIME).max_buf_size(MAX_HEAD_BYTES);
        let stream = TokioIo::new(Box::pin(stream));
        let service = Extension(self.place).layer(Extension(self.client).layer(self.router));
        let connection = protocol.serve_connection(stream, TowerToHyperService::new(service));
        tokio::pin!(connection);
        // an error is a client that disconnects or does not speak HTTP, which is not logged
        let _ = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
    }
}

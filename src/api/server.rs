//! The accept loop: how many connections at once, how long a client may take to say what it wants, and an orderly end.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::events;

/// Further clients wait in the kernel's queue.
const MOST_CONNECTIONS: usize = 512;
/// From the first byte to the last of a request's head, and how long an idle connection is kept.
const HEAD_WITHIN: Duration = Duration::from_secs(10);
/// A larger head is answered with 431.
const MOST_HEAD_BYTES: usize = 64 * 1024;
/// How long requests under way may take once we are told to end.
const END_WITHIN: Duration = Duration::from_secs(10);
/// Out of descriptors: trying again at once would only burn CPU.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves `router` on `listener` until `stop`, then lets the requests under way finish.
pub async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    let (open, over) = (TaskTracker::new(), CancellationToken::new());
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    while let Some((stream, place)) = next(&listener, &places, &stop).await {
        let connection = Connection { router: router.clone(), stop: stop.clone(), _place: place };
        let over = over.clone();
        open.spawn(async move { over.run_until_cancelled(connection.serve(stream)).await });
    }
    drop(listener);
    open.close();
    if tokio::time::timeout(END_WITHIN, open.wait()).await.is_err() {
        over.cancel();
        open.wait().await;
    }
}

/// The next client, once there is a place for it; none when it is time to end.
async fn next(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
    stop: &CancellationToken,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let accepted = async {
        let place = places.clone().acquire_owned().await.ok()?;
        Some((accept(listener).await, place))
    };
    stop.run_until_cancelled(accepted).await.flatten()
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) => {
                events::accept_failed(&error);
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

struct Connection {
    router: Router,
    stop: CancellationToken,
    _place: OwnedSemaphorePermit,
}

impl Connection {
    async fn serve(self, stream: TcpStream) {
        // answers are small: waiting to fill packets only delays them
        let _ = stream.set_nodelay(true);
        let mut protocol = http1::Builder::new();
        protocol.timer(TokioTimer::new()).header_read_timeout(HEAD_WITHIN).max_buf_size(MOST_HEAD_BYTES);
        let connection = protocol.serve_connection(TokioIo::new(stream), TowerToHyperService::new(self.router));
        tokio::pin!(connection);
        // a client that breaks off or speaks nonsense is no event of ours
        let _ = tokio::select! {
            ended = connection.as_mut() => ended,
            () = self.stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
    }
}

//! The accept loop: bounds the number of connections, in all and from one address, and the time that a client
//! takes to send a request and to read its answer, and ends the connections in order.

use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tower::Layer;

use super::authenticate::ClientAddress;
use super::client_stream::ClientStream;
use super::peer_limit::{PeerLimit, PeerPermit};
use super::refusals::Refusals;
use telemetry::events;

/// Maximum useful value of [`Bounds::write_idle`].
pub const MAX_WRITE_IDLE: Duration = Duration::from_secs(10);
/// Maximum time for the head of a request. It begins when the connection is open, or has answered the request
/// before: a kept connection that has been idle as long is closed.
const MAX_HEAD_TIME: Duration = Duration::from_secs(10);
/// A larger head is answered with 431. It has room for one that `head` refuses with a reason.
const MAX_HEAD_BYTES: usize = 128 * 1024;
/// Maximum time for open requests once the server is stopped.
const MAX_END_TIME: Duration = Duration::from_secs(10);
/// Pause where descriptors are used up: trying again at once would only burn CPU.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The limits on clients.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Maximum number of connections; another client waits until one ends.
    pub connections: usize,
    /// Maximum number of connections from one address, beyond which they are refused; 0 = no limit.
    pub connections_per_address: usize,
    /// A client that reads nothing of its answer for this time is disconnected.
    pub write_idle: Duration,
}

/// A connection's share of the limits, as an extension of its requests.
#[derive(Clone)]
pub struct ConnectionPermit(Arc<Mutex<Option<(OwnedSemaphorePermit, PeerPermit)>>>);

impl ConnectionPermit {
    /// Gives it to another client; the connection continues.
    pub fn free(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

struct Client {
    stream: TcpStream,
    address: IpAddr,
    permit: ConnectionPermit,
}

/// Serves `router` on `listener` until `stop`, then lets open requests finish.
pub async fn serve(listener: TcpListener, router: Router, bounds: Bounds, stop: CancellationToken) {
    let (open, over) = (GracefulShutdown::new(), CancellationToken::new());
    let places = Arc::new(Semaphore::new(bounds.connections));
    let peers = PeerLimit::new(bounds.connections_per_address);
    let refusals = Refusals::new(bounds.connections_per_address);
    while let Some(client) = stop.run_until_cancelled(next(&listener, &places, &peers, &refusals)).await.flatten() {
        let serving = open.watch(connection(client, router.clone(), bounds.write_idle));
        let over = over.clone();
        tokio::spawn(async move {
            // an error is a client that disconnects or does not speak HTTP, which is not logged
            let _ = over.run_until_cancelled(serving).await;
        });
    }
    drop(listener);
    let mut ended = pin!(open.shutdown());
    if tokio::time::timeout(MAX_END_TIME, ended.as_mut()).await.is_err() {
        over.cancel();
        ended.await;
    }
}

/// The next client, once there is a place for it.
async fn next(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
    peers: &PeerLimit,
    refusals: &Refusals,
) -> Option<Client> {
    loop {
        let place = places.clone().acquire_owned().await.ok()?;
        let (stream, address) = accept(listener).await;
        let Some(peer) = peers.take(address) else {
            refusals.answer(stream);
            continue;
        };
        let permit = ConnectionPermit(Arc::new(Mutex::new(Some((place, peer)))));
        return Some(Client { stream, address, permit });
    }
}

async fn accept(listener: &TcpListener) -> (TcpStream, IpAddr) {
    loop {
        match listener.accept().await {
            Ok((stream, client)) => return (stream, client.ip()),
            Err(error) => {
                events::accept_failed(&error);
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn connection(
    Client { stream, address, permit }: Client,
    router: Router,
    write_idle: Duration,
) -> impl GracefulConnection<Error = hyper::Error> + Send + 'static {
    let mut protocol = http1::Builder::new();
    protocol.timer(TokioTimer::new()).header_read_timeout(MAX_HEAD_TIME).max_buf_size(MAX_HEAD_BYTES);
    let service = Extension(permit).layer(Extension(ClientAddress(address)).layer(router));
    protocol.serve_connection(TokioIo::new(ClientStream::new(stream, write_idle)), TowerToHyperService::new(service))
}

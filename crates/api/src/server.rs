//! The accept loop: bounds the number of connections and the time that a client takes to send a request and
//! to read its answer, and closes them in order.
//!
//! A client whose kept connection is closed for another client may have sent a request at that moment, and
//! sees an end or a reset without an answer. HTTP/1.1 has no way to exclude that, and clients send such a
//! request again. It is made rare: only the connection that has been idle longest is closed, not before some
//! idle time, and not where the request has come to this machine.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router, middleware};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::Layer;

use super::authenticate::ClientAddress;
use super::client_stream::ClientStream;
use super::places::{self, Place, Places};
use telemetry::events;

/// The most that [`Bounds::write_idle`] needs to be.
pub const MAX_WRITE_IDLE: Duration = Duration::from_secs(10);
/// From the first byte to the last of a request's head, and how long an idle connection is kept.
const MAX_HEAD_TIME: Duration = Duration::from_secs(10);
/// A larger head is answered with 431. It has room for one that `head` refuses with a reason.
const MAX_HEAD_BYTES: usize = 128 * 1024;
/// Maximum time that a client may go on sending unread bytes once it has its answer.
const MAX_LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 16 * 1024;
/// How long open requests may take once the server is stopped.
const MAX_END_TIME: Duration = Duration::from_secs(10);
/// Out of descriptors: trying again at once would only burn CPU.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The limits on clients.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Connections at once; another client takes the place of one that sends no request, or else waits.
    pub connections: usize,
    /// A client that reads nothing of its answer for this time is disconnected, and one that reads too
    /// slowly, a little later.
    pub write_idle: Duration,
}

/// Serves `router` on `listener` until `stop`, then lets open requests finish.
pub async fn serve(listener: TcpListener, router: Router, bounds: Bounds, stop: CancellationToken) {
    let (open, over) = (TaskTracker::new(), CancellationToken::new());
    let places = Places::new(bounds.connections);
    let router = router.layer(middleware::from_fn(places::occupy));
    while let Some((stream, client, place)) = next(&listener, &places, &stop).await {
        let over = over.clone();
        let connection = Connection { client, router: router.clone(), stop: stop.clone(), place };
        let serving = connection.serve(ClientStream::new(stream, bounds.write_idle));
        open.spawn(async move { over.run_until_cancelled(serving).await });
    }
    drop(listener);
    open.close();
    if tokio::time::timeout(MAX_END_TIME, open.wait()).await.is_err() {
        over.cancel();
        open.wait().await;
    }
}

/// The next client, once it has a place; None when the server is stopped.
async fn next(
    listener: &TcpListener,
    places: &Arc<Places>,
    stop: &CancellationToken,
) -> Option<(TcpStream, ClientAddress, Place)> {
    let accepted = async {
        let (stream, client) = accept(listener).await;
        Some((stream, client, places.take().await?))
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

struct Connection {
    client: ClientAddress,
    router: Router,
    stop: CancellationToken,
    place: Place,
}

impl Connection {
    async fn serve(self, stream: ClientStream) {
        let place = self.place;
        let mut protocol = http1::Builder::new();
        protocol.timer(TokioTimer::new()).header_read_timeout(MAX_HEAD_TIME).max_buf_size(MAX_HEAD_BYTES);
        let router =
            TowerToHyperService::new(Extension(place.clone()).layer(Extension(self.client).layer(self.router)));
        let service = service_fn(move |request| Box::pin(router.call(request)));
        let mut connection = protocol.serve_connection(TokioIo::new(stream), service);
        let mut is_stopping = false;
        let ended = loop {
            tokio::select! {
                // first reads received bytes
                biased;
                ended = poll_fn(|context| connection.poll_without_shutdown(context)) => break ended,
                () = self.stop.cancelled(), if !is_stopping => is_stopping = true,
                () = place.wanted() => if !place.keep() { return },
            }
            // after the request that it answers
            Pin::new(&mut connection).graceful_shutdown();
        };
        // an error is a client that disconnects or does not speak HTTP, which is not logged
        if ended.is_ok() || ended.is_err_and(|error| error.is_parse()) {
            let lingering = self.stop.run_until_cancelled(linger(connection.into_parts().io.into_inner()));
            // the connection keeps its permit while it lingers
            tokio::select! {
                _ = lingering => {}
                () = place.wanted() => {}
            }
        }
    }
}

/// Reads on for a moment where the client still sends, as after a refusal of a large body: otherwise the
/// system would report an error to it, and it might never see the answer.
async fn linger(mut stream: ClientStream) {
    let drained = async {
        stream.shutdown().await?;
        // not in the future itself, which every connection has from its start
        let mut unread = vec![0; LINGER_BYTES];
        while stream.read(&mut unread).await? > 0 {}
        Ok::<_, std::io::Error>(())
    };
    // it has its answer, or has gone
    let _ = tokio::time::timeout(MAX_LINGER, drained).await;
}

//! `Refusals`: the answer to a client whose address has its maximum number of connections: 503 with Retry-After, as where
//! too many ask for anything else. A connection that is closed without an answer looks like a fault of the network.
//!
//! In: connections. Out: one answer to each, and its end. It has bounds of its own, so that refused clients take nothing from others.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ApiError;
use super::guard::refusal;
use telemetry::events;

/// Maximum number of clients that are answered at once; further ones are closed at once.
const MAX_ANSWERS: usize = 256;
/// Maximum time for the request and the answer.
const MAX_TIME: Duration = Duration::from_secs(2);

pub struct Refusals {
    places: Arc<Semaphore>,
    router: Router,
}

impl Refusals {
    /// `max`: the number of connections that an address may have.
    pub fn new(max: usize) -> Refusals {
        let refuse = async move || {
            refusal(ApiError::Busy(format!(
                "your address has {max} connections open, which is the maximum: try again in a moment, or use one for several requests"
            )))
        };
        Refusals { places: Arc::new(Semaphore::new(MAX_ANSWERS)), router: Router::new().fallback(refuse) }
    }

    pub fn answer(&self, stream: TcpStream) {
        events::connection_refused();
        let Ok(place) = self.places.clone().try_acquire_owned() else { return };
        let service = TowerToHyperService::new(self.router.clone());
        let mut protocol = http1::Builder::new();
        protocol.timer(TokioTimer::new()).header_read_timeout(MAX_TIME).keep_alive(false);
        let answering = protocol.serve_connection(TokioIo::new(stream), service);
        tokio::spawn(async move {
            let _ = timeout(MAX_TIME, answering).await;
            drop(place);
        });
    }
}

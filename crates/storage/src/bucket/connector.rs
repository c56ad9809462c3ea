//! `Connector`: the HTTP client of the object store's library, by hyper and rustls with one crypto provider.
//!
//! In: requests that the library has signed. Out: answers, as they come. It must not know what they mean.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::BodyExt;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector as TcpConnector;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioIo, TokioTimer};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse, HttpResponseBody,
    HttpService,
};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::place::PlaceError;
use foundation::authorities;
use http_client::{Lenient, lenient};
use settings::Storage;

const MAX_CONNECT_TIME: Duration = Duration::from_secs(5);
/// Maximum time from a request to the head of its answer.
const MAX_ANSWER_TIME: Duration = Duration::from_secs(20);
const MAX_IDLE_TIME: Duration = Duration::from_secs(60);
const MAX_IDLE_CONNECTIONS: usize = 8;

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// Cheap to clone; all clones share their connections.
#[derive(Clone, Debug)]
pub struct Connector(HttpClient);

impl Connector {
    pub fn new(settings: &Storage) -> Result<Connector, PlaceError> {
        let tls = authorities::client(settings.extra_ca_file.as_deref()).map_err(PlaceError::Authorities)?;
        let mut tcp = TcpConnector::new();
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(MAX_CONNECT_TIME));
        tcp.set_nodelay(true);
        let schemes = HttpsConnectorBuilder::new().with_tls_config(tls);
        let schemes = if settings.allow_http { schemes.https_or_http() } else { schemes.https_only() };
        let client = http_client::client()
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(MAX_IDLE_TIME)
            .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
            .build(lenient(schemes.enable_http1().wrap_connector(tcp)));
        Ok(Connector(HttpClient::new(Hyper(client))))
    }
}

/// Number of requests of one call: the library sends it again where the service fails.
#[derive(Clone, Debug, Default)]
pub struct Attempts(Arc<AtomicUsize>);

impl Attempts {
    pub fn are_several(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 1
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(self.0.clone())
    }
}

#[derive(Debug)]
struct Hyper(Client<Lenient<HttpsConnector<TcpConnector>, Stream>, HttpRequestBody>);

#[async_trait]
impl HttpService for Hyper {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        if let Some(Attempts(count)) = request.extensions().get() {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let answer = timeout(MAX_ANSWER_TIME, self.0.request(request)).await;
        let answer = answer.map_err(|late| HttpError::new(HttpErrorKind::Timeout, late))?;
        let (head, body) = answer.map_err(|error| HttpError::new(kind(&error), error))?.into_parts();
        let body = body.map_err(|error| HttpError::new(HttpErrorKind::Interrupted, error));
        Ok(HttpResponse::from_parts(head, HttpResponseBody::new(body)))
    }
}

/// Decides whether the library tries again.
fn kind(error: &Error) -> HttpErrorKind {
    if error.is_connect() { HttpErrorKind::Connect } else { HttpErrorKind::Interrupted }
}

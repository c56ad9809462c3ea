//! `Route`: the parts that stay together on the wire from one rotation to the next: a proxy, an identity, its
//! cookies, its TLS session tickets, its connection.
//!
//! In: one request and a reader of its answer. Out: the answer or a failure, reported to the source of the
//! proxies. The step after a failure is not decided here.

mod document;
mod rejected;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use http::{HeaderMap, StatusCode, header};
use hyper::body::Incoming;
use rustls::ClientConfig;

use super::deps::{Exchange, SessionDeps};
use super::failure::Failure;
use super::jar::Jar;
use super::traffic::{Bytes, Traffic};
use super::transport::{self, Answer, Connection};
use super::{
    FetchError, Identity, ProxyId, ProxyLease, ProxyOutcome, ProxyReport, Request, RequestPermit, Response, answer,
    header_text, headers, proxy_connect,
};
use domain::counts::fetches::FetchTotal;
use domain::host::HostOutcome;
use foundation::cpu;
use telemetry::events;

pub use document::{Document, DocumentLimits};
use rejected::Rejected;

pub(super) struct Route {
    lease: ProxyLease,
    identity: Arc<Identity>,
    jar: Jar,
    tls: Arc<ClientConfig>,
    connection: Option<Connection>,
    /// Traffic of all its connections.
    traffic: Traffic,
}

impl Route {
    pub fn new(lease: ProxyLease, identity: Identity, tls: Arc<ClientConfig>) -> Self {
        let identity = Arc::new(identity);
        Route { lease, identity, jar: Jar::default(), tls, connection: None, traffic: Traffic::default() }
    }

    pub fn proxy(&self) -> ProxyId {
        self.lease.proxy.id
    }

    /// Whether its proxy may still be used: it may have been benched or switched off since.
    pub fn is_usable(&self) -> bool {
        !self.lease.is_revoked()
    }

    /// One try, reported to the source of the proxies and to the host's limiter. The time that it took ends
    /// with the last byte.
    pub async fn attempt<T: Send + 'static>(
        &mut self,
        exchange: &Exchange<'_>,
        permit: RequestPermit,
        read: impl FnOnce(&Response) -> Result<T, FetchError> + Send + 'static,
    ) -> Result<(Response, T), Failure> {
        let Exchange { deps, trace, request, .. } = exchange;
        trace.tried();
        let (sent, before) = (deps.clock.instant(), self.traffic.bytes());
        let received = self.receive_in_time(exchange).await;
        let took = deps.clock.instant() - sent;
        let success = ProxyOutcome::Success { host: request.host().to_owned(), took };
        let result = match received {
            Ok(answer) => {
                let content = self.read(exchange, answer, read).await;
                content.map_err(|error| Failure::response(error, request.host(), success.clone()))
            }
            Err(failure) => Err(failure),
        };
        let (outcome, label, bytes) = match &result {
            Ok((response, _)) => (success, "ok", response.raw.len() as u64),
            Err(failure) => (failure.outcome.clone(), failure.error.label(), 0),
        };
        let is_block = result.as_ref().is_err_and(Failure::is_block);
        if is_block {
            trace.blocked();
        }
        // a host's refusal of all is not counted against the proxy of its probe
        let outcome = match is_block && permit.is_probe() {
            true => ProxyOutcome::Answered { host: request.host().to_owned() },
            false => outcome,
        };
        self.report(exchange, outcome, sent);
        events::request_finished(request.host(), label, bytes, took);
        self.count(exchange, label, took, before);
        let host_outcome = match &result {
            Ok(_) => HostOutcome::Accepted(Some(took)),
            Err(failure) => failure.host_outcome(),
        };
        let hold = deps.host_limits.note(permit, host_outcome).await;
        result.map_err(|failure| failure.held_for(hold))
    }

    fn report(&self, exchange: &Exchange<'_>, outcome: ProxyOutcome, sent: Instant) {
        let report = ProxyReport { outcome, sent, is_best_effort: exchange.is_best_effort };
        exchange.deps.proxies.report(self.lease.proxy.id, report);
    }

    /// Adds one finished request to the meter; `before` is the route's byte count at its start.
    fn count(&self, exchange: &Exchange<'_>, outcome: &'static str, took: Duration, before: Bytes) {
        let bytes = self.traffic.bytes().since(before);
        let total = FetchTotal {
            requests: 1,
            bytes_sent: bytes.sent.cast_signed(),
            bytes_received: bytes.received.cast_signed(),
            seconds: took.as_secs_f64(),
        };
        let Exchange { deps, request, store, .. } = exchange;
        deps.meter.count(request.host(), self.proxy(), outcome, total);
        deps.meter.count_for(*store, total);
        deps.proxies.count_bytes(self.proxy(), total.bytes_sent.saturating_add(total.bytes_received));
    }

    async fn read<T: Send + 'static>(
        &self,
        exchange: &Exchange<'_>,
        answer: Answer,
        read: impl FnOnce(&Response) -> Result<T, FetchError> + Send + 'static,
    ) -> Result<(Response, T), FetchError> {
        let Exchange { deps, request, memory, .. } = exchange;
        let limit = deps.transport.max_body_bytes();
        let (host, memory, status) = (request.host().to_owned(), (*memory).clone(), answer.status);
        let identity = Arc::clone(&self.identity);
        let read = cpu::run(move || {
            let response = answer::read(&host, answer, &identity, limit, &memory)?;
            let content = read(&response)?;
            Ok((response, content))
        });
        // a message of the platform may repeat the request
        let read = read.await.map_err(|error: FetchError| error.with_texts(|text| request.masked(text)));
        if status.is_server_error() {
            let failure = FetchError::ServerError { host: request.host().to_owned(), status: status.as_u16() };
            return Err(read.err().map_or(failure.clone(), |error| answer::judge_explanation(failure, error)));
        }
        let (response, content) = read?;
        // for an answer without success that the platform's reader accepted
        response.require_success()?;
        Ok((response, content))
    }

    async fn receive_in_time(&mut self, exchange: &Exchange<'_>) -> Result<Answer, Failure> {
        let limit = exchange.deps.transport.whole_timeout();
        let received = tokio::time::timeout(limit, self.receive(exchange)).await;
        received.unwrap_or_else(|_| Err(transport::out_of_time(exchange.request.host(), "whole", limit)))
    }

    /// The connection is kept only when the answer on it was read to its end.
    async fn receive(&mut self, exchange: &Exchange<'_>) -> Result<Answer, Failure> {
        let Exchange { deps, request, memory, .. } = exchange;
        let (connection, response) = self.send(exchange).await?;
        let (head, mut body) = response.into_parts();
        self.reject_answer_of_proxy(request, connection.is_forwarded(), head.status)?;
        self.keep_cookies(deps, request, &head.headers);
        let (mut judgement, mut beginning) =
            (answer::judge(&request.url, &head, deps.clock.utc()), bytes::Bytes::new());
        if judgement.is_ok() && answer::claims_html(&head.headers) {
            beginning = deps.transport.beginning(&mut body).await;
            judgement = answer::judge_page(request.host(), &beginning);
        }
        if let Err(error) = judgement {
            return self.reject(exchange, Rejected { error, head, body, connection }).await;
        }
        let can_be_kept = !transport::is_framed_twice(&head.headers);
        let answer = deps.transport.collect(request, head, (beginning, body), memory).await?;
        deps.answered();
        self.connection = can_be_kept.then_some(connection);
        Ok(answer)
    }

    async fn send(&mut self, exchange: &Exchange<'_>) -> Result<(Connection, http::Response<Incoming>), Failure> {
        let open = self.connection.take().filter(|connection| connection.serves(&exchange.request.url));
        if let Some(open) = open {
            match self.send_on(open, exchange).await {
                // the other end closed it while it was idle: browsers connect again
                Err(failure) if failure.is_broken_connection() => {}
                sent => return sent,
            }
        }
        let Exchange { deps, request, .. } = exchange;
        let connection = deps.transport.connect(&self.lease.proxy, Arc::clone(&self.tls), &request.url, &self.traffic);
        // boxed: the types of streams inside streams exceed the compiler's depth limit
        let connection = connection.boxed().await?;
        self.send_on(connection, exchange).await
    }

    async fn send_on(
        &self,
        mut connection: Connection,
        exchange: &Exchange<'_>,
    ) -> Result<(Connection, http::Response<Incoming>), Failure> {
        let Exchange { deps, trace, request, .. } = exchange;
        let fields = headers::ordered(&self.identity, connection.protocol(), request, &self.cookies(deps, request));
        trace.unrecorded(fields.unrecorded);
        let response = deps.transport.send(&mut connection, request, fields).await?;
        Ok((connection, response))
    }

    fn cookies(&self, deps: &SessionDeps, request: &Request) -> Vec<String> {
        match request.has_cookies() {
            true => self.jar.pairs(&request.url, deps.clock.utc()),
            false => Vec::new(),
        }
    }

    fn keep_cookies(&mut self, deps: &SessionDeps, request: &Request, headers: &HeaderMap) {
        if !request.has_cookies() {
            return;
        }
        let now = deps.clock.utc();
        for set_cookie in headers.get_all(header::SET_COOKIE) {
            self.jar.store(&request.url, &header_text::text(set_cookie), now);
        }
    }

    /// Refuses an answer of the proxy: over plain http it answers for itself on the same connection: 407 certainly, 502 and
    /// 504 perhaps.
    fn reject_answer_of_proxy(&self, request: &Request, is_forwarded: bool, status: StatusCode) -> Result<(), Failure> {
        let host = request.host();
        match status {
            StatusCode::PROXY_AUTHENTICATION_REQUIRED if is_forwarded => {
                Err(Failure::proxy(self.lease.proxy.id, host, proxy_connect::BAD_CREDENTIALS.to_owned(), true))
            }
            StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT if is_forwarded => {
                Err(Failure::in_transit(FetchError::bad_status(host, status), host))
            }
            _ => Ok(()),
        }
    }
}

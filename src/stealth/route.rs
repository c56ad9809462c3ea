//! `Route`: what stays together on the wire, from one rotation to the next: a proxy, an identity, its cookies, its TLS session
//! tickets, its connection.
//!
//! In: one request and a reader of its answer. Out: the answer or a failure, reported to the source of the proxies. What
//! follows a failure is not decided here.

use std::sync::Arc;
use std::time::Duration;

use http::{StatusCode, header};
use hyper::body::Incoming;
use rustls::ClientConfig;

use super::answer;
use super::deps::{Exchange, SessionDeps};
use super::error::FetchError;
use super::failure::Failure;
use super::headers;
use super::identity::Identity;
use super::jar::Jar;
use super::proxy::{ProxyId, ProxyLease, ProxyOutcome};
use super::proxy_connect;
use super::request::{Request, Response};
use super::transport::{self, Answer, Connection};
use crate::{cpu, events};

pub(super) struct Route {
    lease: ProxyLease,
    identity: Identity,
    jar: Jar,
    tls: Arc<ClientConfig>,
    connection: Option<Connection>,
}

impl Route {
    pub fn new(lease: ProxyLease, identity: Identity, tls: Arc<ClientConfig>) -> Self {
        Route { lease, identity, jar: Jar::default(), tls, connection: None }
    }

    pub fn proxy(&self) -> ProxyId {
        self.lease.proxy.id
    }

    /// Whether its proxy may still be used: it may have been benched or switched off since.
    pub fn is_usable(&self) -> bool {
        !self.lease.is_revoked()
    }

    /// One try, reported to the source of the proxies.
    pub async fn attempt<T: Send + 'static>(
        &mut self,
        exchange: &Exchange<'_>,
        read: impl FnOnce(&Response) -> Result<T, FetchError> + Send + 'static,
    ) -> Result<(Response, T), Failure> {
        let Exchange { deps, trace, request } = exchange;
        trace.requested();
        let started = deps.clock.instant();
        let result = self.ask(exchange, read).await;
        let took = deps.clock.instant() - started;
        let (outcome, label, bytes) = match &result {
            Ok((response, _)) => (success(request, took), "ok", response.raw.len() as u64),
            Err(failure) => (failure.outcome.clone(), failure.error.label(), 0),
        };
        if result.as_ref().is_err_and(Failure::is_block) {
            trace.blocked();
        }
        deps.proxies.report(self.lease.proxy.id, outcome);
        events::request_finished(request.host(), label, bytes, took);
        result
    }

    async fn ask<T: Send + 'static>(
        &mut self,
        exchange: &Exchange<'_>,
        read: impl FnOnce(&Response) -> Result<T, FetchError> + Send + 'static,
    ) -> Result<(Response, T), Failure> {
        let Exchange { deps, request, .. } = exchange;
        let started = deps.clock.instant();
        let answer = self.receive_in_time(exchange).await?;
        self.refuse_proxys_own(request, &answer)?;
        self.keep_cookies(deps, request, &answer);
        deps.answered();
        let success = success(request, deps.clock.instant() - started);
        let result = self.judge(exchange, answer, read).await;
        result.map_err(|error| Failure::response(deps.obey(error), request.host(), success))
    }

    async fn judge<T: Send + 'static>(
        &self,
        exchange: &Exchange<'_>,
        answer: Answer,
        read: impl FnOnce(&Response) -> Result<T, FetchError> + Send + 'static,
    ) -> Result<(Response, T), FetchError> {
        let Exchange { deps, request, .. } = exchange;
        answer::judge(&request.url, &answer, deps.clock.utc())?;
        deps.host_limits.accepts(request.host());
        let limit = deps.transport.max_body_bytes();
        let response = answer::read(request.host(), answer, &self.identity.fingerprint, limit).await?;
        let (content, response) = cpu::run(move || (read(&response), response)).await;
        let content = content?;
        answer::require_success(&response)?;
        Ok((response, content))
    }

    async fn receive_in_time(&mut self, exchange: &Exchange<'_>) -> Result<Answer, Failure> {
        let limit = exchange.deps.transport.whole_timeout();
        let received = tokio::time::timeout(limit, self.receive(exchange)).await;
        let result = received.unwrap_or_else(|_| Err(transport::out_of_time(exchange.request.host(), "whole", limit)));
        if result.is_err() {
            self.connection = None;
        }
        result
    }

    async fn receive(&mut self, exchange: &Exchange<'_>) -> Result<Answer, Failure> {
        let was_idle = self.connection.as_ref().is_some_and(Connection::is_used);
        let answer = match self.send(exchange).await {
            // the other end closed it while it was idle: browsers connect again
            Err(failure) if was_idle && failure.is_broken_connection() => {
                self.connection = None;
                self.send(exchange).await?
            }
            sent => sent?,
        };
        exchange.deps.transport.collect(exchange.request, answer).await
    }

    async fn send(&mut self, exchange: &Exchange<'_>) -> Result<http::Response<Incoming>, Failure> {
        let Exchange { deps, trace, request } = exchange;
        let connection = match self.connection.take().filter(|connection| connection.serves(&request.url)) {
            Some(open) => open,
            None => deps.transport.connect(&self.lease.proxy, Arc::clone(&self.tls), &request.url).await?,
        };
        let fields = headers::ordered(&self.identity, connection.protocol(), request, &self.cookies(deps, request));
        trace.unrecorded(fields.unrecorded);
        deps.transport.send(self.connection.insert(connection), request, fields).await
    }

    /// `fetch()` sends and keeps cookies only within the origin of its page.
    fn cookies(&self, deps: &SessionDeps, request: &Request) -> Vec<String> {
        match request.is_same_origin() {
            true => self.jar.pairs(&request.url, deps.clock.utc()),
            false => Vec::new(),
        }
    }

    fn keep_cookies(&mut self, deps: &SessionDeps, request: &Request, answer: &Answer) {
        if !request.is_same_origin() {
            return;
        }
        let set = answer.headers.get_all(header::SET_COOKIE).iter().filter_map(|value| value.to_str().ok());
        let now = deps.clock.utc();
        set.for_each(|set_cookie| self.jar.store(&request.url, set_cookie, now));
    }

    /// Over plain http the proxy answers for itself on the same connection: 407 certainly, 502 and 504 perhaps.
    fn refuse_proxys_own(&self, request: &Request, answer: &Answer) -> Result<(), Failure> {
        let is_forwarded = self.connection.as_ref().is_some_and(Connection::is_forwarded);
        let host = request.host();
        match answer.status {
            StatusCode::PROXY_AUTHENTICATION_REQUIRED if is_forwarded => {
                Err(Failure::proxy(self.lease.proxy.id, host, proxy_connect::BAD_CREDENTIALS.to_owned(), true))
            }
            StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT if is_forwarded => {
                Err(Failure::in_transit(answer::status_error(host, answer.status), host))
            }
            _ => Ok(()),
        }
    }
}

fn success(request: &Request, took: Duration) -> ProxyOutcome {
    ProxyOutcome::Success { host: request.host().to_owned(), took }
}

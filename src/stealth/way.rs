//! `Way`: what stays together on the wire, from one rotation to the next: a proxy, an identity, its cookies, its connection.
//!
//! One try at a time: send, judge, report to the owner of the proxies. What follows a failure is not decided here.

use std::time::Duration;

use http::{StatusCode, header};
use hyper::body::Incoming;

use super::answer;
use super::error::FetchError;
use super::failure::Failure;
use super::headers;
use super::identity::Identity;
use super::jar::Jar;
use super::proxy::{ProxyId, ProxyLease, ProxyOutcome};
use super::proxy_connect;
use super::request::{Request, Response};
use super::session::{Classify, Shared};
use super::trace::TraceHandle;
use super::transport::{self, Answer, Connection};
use crate::events;

pub(super) struct Way {
    lease: ProxyLease,
    identity: Identity,
    jar: Jar,
    connection: Option<Connection>,
}

impl Way {
    pub fn new(lease: ProxyLease, identity: Identity) -> Self {
        Way { lease, identity, jar: Jar::default(), connection: None }
    }

    pub fn proxy(&self) -> ProxyId {
        self.lease.proxy.id
    }

    /// One try, reported to the owner of the proxies.
    pub async fn attempt(
        &mut self,
        shared: &Shared,
        trace: &TraceHandle,
        request: &Request,
        classify: Classify<'_>,
    ) -> Result<Response, Failure> {
        trace.requested();
        let started = shared.clock.instant();
        let result = self.ask(shared, trace, request, classify).await;
        let took = shared.clock.instant() - started;
        let (outcome, word, bytes) = match &result {
            Ok(response) => (success(request, took), "ok", response.raw.len() as u64),
            Err(failure) => (failure.outcome.clone(), failure.error.word(), 0),
        };
        if result.as_ref().is_err_and(Failure::is_a_block) {
            trace.blocked();
        }
        shared.proxies.report(self.lease.proxy.id, outcome);
        events::request_finished(request.host(), word, bytes, took);
        result
    }

    async fn ask(
        &mut self,
        shared: &Shared,
        trace: &TraceHandle,
        request: &Request,
        classify: Classify<'_>,
    ) -> Result<Response, Failure> {
        let started = shared.clock.instant();
        let answer = self.exchange_in_time(shared, trace, request).await?;
        self.keep_cookies(shared, request, &answer);
        self.refuse_proxys_own(request, &answer)?;
        let may_be_the_hops = self.is_forwarded() && answer::is_a_gateways(answer.status);
        let well = success(request, shared.clock.instant() - started);
        let read = self.read(shared, request, answer, classify).await;
        read.map_err(|error| {
            let error = shared.obey(error);
            match may_be_the_hops {
                true => Failure::on_the_way(error, request.host()),
                false => Failure::of_the_answer(error, request.host(), well),
            }
        })
    }

    async fn read(
        &self,
        shared: &Shared,
        request: &Request,
        answer: Answer,
        classify: Classify<'_>,
    ) -> Result<Response, FetchError> {
        let host = request.host();
        answer::judge(host, &answer, shared.clock.utc())?;
        let limit = shared.transport.max_body_bytes();
        let response = answer::read(host, answer, &self.identity.fingerprint, limit).await?;
        classify(&response)?;
        answer::require_success(&response)?;
        Ok(response)
    }

    async fn exchange_in_time(
        &mut self,
        shared: &Shared,
        trace: &TraceHandle,
        request: &Request,
    ) -> Result<Answer, Failure> {
        let limit = shared.transport.whole_timeout();
        let exchanged = tokio::time::timeout(limit, self.exchange(shared, trace, request)).await;
        let result = exchanged.unwrap_or_else(|_| Err(transport::out_of_time(request.host(), "whole", limit)));
        if result.is_err() {
            self.connection = None;
        }
        result
    }

    async fn exchange(&mut self, shared: &Shared, trace: &TraceHandle, request: &Request) -> Result<Answer, Failure> {
        let was_idle = self.connection.as_ref().is_some_and(Connection::is_used);
        let answer = match self.send(shared, trace, request).await {
            // closed at the other end while it was idle: what browsers do is connect again
            Err(failure) if was_idle && failure.is_a_broken_connection() => {
                self.connection = None;
                self.send(shared, trace, request).await?
            }
            sent => sent?,
        };
        shared.transport.collect(request, answer).await
    }

    async fn send(
        &mut self,
        shared: &Shared,
        trace: &TraceHandle,
        request: &Request,
    ) -> Result<http::Response<Incoming>, Failure> {
        let connection = match self.connection.take().filter(|connection| connection.serves(&request.url)) {
            Some(open) => open,
            None => shared.transport.connect(&self.lease.proxy, &request.url).await?,
        };
        let cookies = self.jar.pairs(&request.url, shared.clock.utc());
        let fields = headers::ordered(&self.identity, connection.protocol(), request, &cookies);
        trace.unrecorded(fields.unrecorded);
        shared.transport.send(self.connection.insert(connection), request, fields).await
    }

    fn keep_cookies(&mut self, shared: &Shared, request: &Request, answer: &Answer) {
        let set = answer.headers.get_all(header::SET_COOKIE).iter().filter_map(|value| value.to_str().ok());
        let now = shared.clock.utc();
        set.for_each(|set_cookie| self.jar.store(&request.url, set_cookie, now));
    }

    fn is_forwarded(&self) -> bool {
        self.connection.as_ref().is_some_and(Connection::is_forwarded)
    }

    /// Over plain http the proxy answers for itself on the same connection.
    fn refuse_proxys_own(&self, request: &Request, answer: &Answer) -> Result<(), Failure> {
        match self.is_forwarded() && answer.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
            true => Err(Failure::of_the_hop(
                self.lease.proxy.id,
                request.host(),
                proxy_connect::BAD_CREDENTIALS.to_owned(),
                true,
            )),
            false => Ok(()),
        }
    }
}

fn success(request: &Request, took: Duration) -> ProxyOutcome {
    ProxyOutcome::Success { host: request.host().to_owned(), took }
}

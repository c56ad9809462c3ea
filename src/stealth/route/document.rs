//! `Document`: a small text that is asked for beside a platform's answers, of any status: robots.txt.
//!
//! It blames no proxy for what the host says, and opens or closes no breaker.

use std::sync::Arc;

use http::{HeaderMap, StatusCode, header};
use url::Url;

use super::Route;
use crate::domain::robots::rules::MAX_BYTES;
use crate::memory::SMALL_BODY;
use crate::stealth::answer;
use crate::stealth::deps::Exchange;
use crate::stealth::error::FetchError;
use crate::stealth::failure::Failure;
use crate::stealth::host_limits::{RequestPermit, Seen};
use crate::stealth::proxy::ProxyOutcome;
use crate::stealth::transport;
use crate::{cpu, events};

#[derive(Debug)]
pub(in crate::stealth) struct Document {
    pub status: StatusCode,
    pub location: Option<String>,
    /// At most [`MAX_BYTES`].
    pub text: String,
}

impl Document {
    /// Where it says that it is.
    pub fn redirect(&self, url: &Url) -> Option<Url> {
        let location = self.location.as_deref().filter(|_| self.status.is_redirection())?;
        url.join(location).ok()
    }
}

impl Route {
    /// One try. Whatever the host says is an answer, but for a wait that it asks for.
    pub async fn fetch_document(
        &mut self,
        exchange: &Exchange<'_>,
        permit: RequestPermit,
    ) -> Result<Document, Failure> {
        let Exchange { deps, trace, request, .. } = exchange;
        trace.tried();
        let (sent, before, limit) = (deps.clock.instant(), self.traffic.bytes(), deps.transport.whole_timeout());
        let received = tokio::time::timeout(limit, self.receive_document(exchange)).await;
        let received = received.unwrap_or_else(|_| Err(transport::out_of_time(request.host(), "whole", limit)));
        let took = deps.clock.instant() - sent;
        let (outcome, label, bytes, seen) = match &received {
            Ok((document, seen)) => (ProxyOutcome::Answered, "document", document.text.len() as u64, *seen),
            Err(failure) => (failure.outcome.clone(), failure.error.label(), 0, failure.seen()),
        };
        deps.proxies.report(self.lease.proxy.id, outcome, sent);
        events::request_finished(request.host(), label, bytes, took);
        self.count(exchange, label, took, before);
        // how it answers this says little of how it answers the platform's requests
        let seen = if permit.is_probe() { Seen::Nothing } else { seen };
        deps.host_limits.note(permit, seen).await;
        received.map(|(document, _)| document)
    }

    async fn receive_document(&mut self, exchange: &Exchange<'_>) -> Result<(Document, Seen), Failure> {
        let Exchange { deps, request, .. } = exchange;
        let (connection, response) = self.send(exchange).await?;
        let (head, body) = response.into_parts();
        self.reject_answer_of_proxy(request, connection.is_forwarded(), head.status)?;
        deps.answered();
        self.keep_cookies(deps, request, &head.headers);
        let seen = match answer::judge(&request.url, &head, deps.clock.utc()) {
            Err(error @ FetchError::Throttled { .. }) => Failure::by_head(error, request.host()).seen(),
            _ => Seen::Accepted(None),
        };
        let (raw, is_whole) = deps.transport.collect_beginning(&request.url, body, MAX_BYTES).await?;
        self.connection = is_whole.then_some(connection);
        let text =
            if head.status.is_success() { self.text(request.host(), &head.headers, raw).await? } else { String::new() };
        Ok((Document { status: head.status, location: location(&head.headers), text }, seen))
    }

    /// A text that inflates to more than may be held is refused whole; of any other the beginning is kept.
    async fn text(&self, host: &str, headers: &HeaderMap, raw: bytes::Bytes) -> Result<String, Failure> {
        let (decoded_host, headers) = (host.to_owned(), headers.clone());
        let fingerprint = Arc::clone(&self.identity.fingerprint);
        let decoded = cpu::run(move || answer::decoded(&decoded_host, &headers, &raw, &fingerprint, SMALL_BODY)).await;
        let unreadable =
            |error: FetchError| Failure::local(FetchError::Http { host: host.to_owned(), reason: error.to_string() });
        let bytes = decoded.map_err(unreadable)?;
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        text.truncate(text.floor_char_boundary(MAX_BYTES));
        Ok(text)
    }
}

fn location(headers: &HeaderMap) -> Option<String> {
    headers.get(header::LOCATION)?.to_str().ok().map(str::to_owned)
}

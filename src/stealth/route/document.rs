//! `Document`: a plain answer of any status, beside a platform's: robots.txt, an image.
//!
//! It blames no proxy for what the host says, and opens or closes no breaker.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use url::Url;

use super::Route;
use crate::stealth::deps::Exchange;
use crate::stealth::failure::Failure;
use crate::stealth::{FetchError, ProxyOutcome, RequestKind, RequestPermit, answer, header_text, transport};
use domain::host::HostOutcome;
use foundation::cpu;
use foundation::memory::SMALL_BODY;
use telemetry::events;

/// How much of a document is read, and for how long.
#[derive(Clone, Copy, Debug)]
pub struct DocumentLimits {
    pub max_bytes: usize,
    /// Time limit of one try, without its waits for a proxy and for the host's rate.
    pub timeout: Duration,
}

#[derive(Clone, PartialEq, Eq)]
pub struct Document {
    pub status: StatusCode,
    /// Address at which it says that the document is.
    pub redirect: Option<Url>,
    /// Body without its content coding; empty unless the status is a success.
    pub body: Bytes,
    /// False where `body` is only the beginning, because there is more than was asked for.
    pub is_whole: bool,
}

/// Shows the document without its body, and its redirect by the host alone: the address may repeat a key.
impl fmt::Debug for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let redirect = self.redirect.as_ref().and_then(Url::host_str);
        let mut shown = f.debug_struct("Document");
        shown.field("status", &self.status).field("redirect", &redirect);
        shown.field("bytes", &self.body.len()).field("is_whole", &self.is_whole).finish()
    }
}

impl Route {
    /// One try, for the beginning of a body. Whatever the host says is an answer, except for a wait that it
    /// asks for.
    pub async fn fetch_document(
        &mut self,
        exchange: &Exchange<'_>,
        permit: RequestPermit,
        limits: DocumentLimits,
    ) -> Result<Document, Failure> {
        let Exchange { deps, trace, request, .. } = exchange;
        trace.tried();
        let (sent, before) = (deps.clock.instant(), self.traffic.bytes());
        let limit = limits.timeout.min(deps.transport.whole_timeout());
        let received = tokio::time::timeout(limit, self.receive_document(exchange, limits.max_bytes)).await;
        let received = received.unwrap_or_else(|_| Err(transport::out_of_time(request.host(), "whole", limit)));
        let took = deps.clock.instant() - sent;
        let (outcome, label, bytes, host_outcome) = match &received {
            Ok((document, host_outcome)) => (
                ProxyOutcome::Answered { host: request.host().to_owned() },
                label(request.kind),
                document.body.len() as u64,
                *host_outcome,
            ),
            Err(failure) => (failure.outcome.clone(), failure.error.label(), 0, failure.host_outcome()),
        };
        self.report(exchange, outcome, sent);
        events::request_finished(request.host(), label, bytes, took);
        self.count(exchange, label, took, before);
        // how it answers this says little of how it answers the platform's requests
        let host_outcome = if permit.is_probe() { HostOutcome::Nothing } else { host_outcome };
        deps.host_limits.note(permit, host_outcome).await;
        received.map(|(document, _)| document)
    }

    async fn receive_document(
        &mut self,
        exchange: &Exchange<'_>,
        max_bytes: usize,
    ) -> Result<(Document, HostOutcome), Failure> {
        let Exchange { deps, request, memory, .. } = exchange;
        let (connection, response) = self.send(exchange).await?;
        let (head, body) = response.into_parts();
        self.reject_answer_of_proxy(request, connection.is_forwarded(), head.status)?;
        deps.answered();
        self.keep_cookies(deps, request, &head.headers);
        let host_outcome = match answer::judge(&request.url, &head, deps.clock.utc()) {
            Err(error @ FetchError::Throttled { .. }) => Failure::by_head(error, request.host()).host_outcome(),
            _ => HostOutcome::Accepted(None),
        };
        let (raw, is_whole) = deps.transport.collect_beginning(&request.url, body, max_bytes, memory).await?;
        self.connection = is_whole.then_some(connection);
        let redirect = header_text::redirected(&request.url, &head.headers).filter(|_| head.status.is_redirection());
        if !head.status.is_success() {
            return Ok((Document { status: head.status, redirect, body: Bytes::new(), is_whole }, host_outcome));
        }
        let mut body = self.decoded(request.host(), &head.headers, raw, max_bytes).await?;
        let is_whole = is_whole && body.len() <= max_bytes;
        body.truncate(max_bytes);
        Ok((Document { status: head.status, redirect, body, is_whole }, host_outcome))
    }

    /// A body that inflates to more than may be held is refused whole.
    pub(super) async fn decoded(
        &self,
        host: &str,
        headers: &HeaderMap,
        raw: Bytes,
        max_bytes: usize,
    ) -> Result<Bytes, Failure> {
        if !headers.contains_key(header::CONTENT_ENCODING) {
            return Ok(raw);
        }
        let (decoded_host, headers) = (host.to_owned(), headers.clone());
        let identity = Arc::clone(&self.identity);
        let limit = max_bytes.max(SMALL_BODY);
        let decoded = cpu::run(move || answer::decoded(&decoded_host, &headers, &raw, &identity, limit)).await;
        decoded.map_err(|error| Failure::local(FetchError::Http { host: host.to_owned(), reason: error.to_string() }))
    }
}

fn label(kind: RequestKind) -> &'static str {
    match kind {
        RequestKind::Image => "image",
        RequestKind::Fetch | RequestKind::FetchWithBody => "document",
    }
}

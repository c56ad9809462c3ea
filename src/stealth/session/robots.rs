//! A session's work on a host's robots.txt before a request: it looks up the rules, fetches the file where no
//! process has it, and judges the request by them.
//!
//! The file is fetched like everything else of the session, through its proxy and with its identity. Where it
//! cannot be had, a policy of report sends the request all the same.

use std::sync::Arc;
use std::time::Duration;

use url::Position;

use crate::stealth::error::{FetchError, NotYetKnown, RequestDisposition};
use crate::stealth::headers::authority;
use crate::stealth::host_robots::RobotsViolation;
use crate::stealth::{Document, DocumentLimits, Request, RequestKind, RobotsTable, Session};
use domain::http::robots::rules::MAX_BYTES;
use domain::http::robots::{Robots, RobotsAnswer, RobotsKnowledge, RobotsPolicy};
use telemetry::events;

/// The whole fetch, redirects and tries included. Its task has a lease, and others may wait for it.
const MAX_FETCH: Duration = Duration::from_secs(30);
/// How long no other process begins it: the answer must be stored too.
const FETCH_LOCK: Duration = Duration::from_secs(60);
const MAX_REDIRECTS: usize = 5;
/// How long a task waits for a table that fails.
const TABLE_WAIT: Duration = Duration::from_secs(5);

impl Session {
    /// The error where the host's rules, or that they are not known, keep `request` from being sent.
    pub(super) async fn check_robots(&mut self, request: &Request) -> Result<(), FetchError> {
        let deps = Arc::clone(&self.deps);
        let policy = deps.robots.policy(request.host());
        if policy == RobotsPolicy::Ignore {
            return Ok(());
        }
        let robots = match (self.robots(request, policy).await, policy) {
            (Ok(robots), _) => robots,
            (Err(error), RobotsPolicy::Obey) => return Err(error),
            (Err(error), _) => {
                events::robots_unknown(request.host(), &error);
                return Ok(());
            }
        };
        let path = &request.url[Position::BeforePath..Position::AfterQuery];
        let Some(rule) = robots.forbids(path) else { return Ok(()) };
        let violation = RobotsViolation { host: request.host(), authority: authority(&request.url), path, rule };
        deps.robots.forbidden(policy, violation, deps.clock.instant()).await
    }

    async fn robots(&mut self, request: &Request, policy: RobotsPolicy) -> Result<Arc<Robots>, FetchError> {
        let deps = Arc::clone(&self.deps);
        let known = deps.robots.of(authority(&request.url));
        if let Some(fresh) = known.fresh(deps.clock.instant()) {
            return Ok(fresh);
        }
        let _turn = match policy {
            RobotsPolicy::Obey => known.turn.lock().await,
            // another session is at it: this one need not wait for rules that it only reports
            _ => known.turn.try_lock().map_err(|_| unknown(request, "it is being fetched", TABLE_WAIT))?,
        };
        if let Some(fresh) = known.fresh(deps.clock.instant()) {
            return Ok(fresh);
        }
        let robots = match &deps.robots.table {
            Some(table) => self.shared_robots(request, table.as_ref()).await?,
            None => Robots::default(),
        };
        Ok(known.keep(robots, deps.clock.instant()))
    }

    /// The rules that all processes share, after a fetch if it is this session's turn.
    async fn shared_robots(&mut self, request: &Request, table: &dyn RobotsTable) -> Result<Robots, FetchError> {
        let failed = |error: String| unknown(request, &error, TABLE_WAIT);
        let (authority, host) = (authority(&request.url), request.host());
        let mut record = table.read(authority).await.map_err(failed)?;
        if record.is_due() && table.take(authority, host, FETCH_LOCK).await.map_err(failed)? {
            let answer = self.fetch_robots(request).await?;
            events::robots_fetched(host, &answer);
            table.store(authority, answer).await.map_err(failed)?;
            record = table.read(authority).await.map_err(failed)?;
        }
        match record.known() {
            RobotsKnowledge::Rules(robots) => Ok(robots),
            RobotsKnowledge::Nothing { reason, wait } => Err(unknown(request, &reason, wait)),
        }
    }

    /// An error is about us: no proxy is free, or the host may not be asked now.
    async fn fetch_robots(&mut self, page: &Request) -> Result<RobotsAnswer, FetchError> {
        match tokio::time::timeout(MAX_FETCH, self.follow_to_robots(page)).await {
            Ok(Err(error)) if error.request_disposition() != RequestDisposition::TryAgain => Err(error),
            Ok(Err(error)) => Ok(RobotsAnswer::Unreachable { reason: error.to_string() }),
            Ok(Ok(answer)) => Ok(answer),
            Err(_) => Ok(RobotsAnswer::Unreachable { reason: format!("no answer within {MAX_FETCH:?}") }),
        }
    }

    async fn follow_to_robots(&mut self, page: &Request) -> Result<RobotsAnswer, FetchError> {
        let mut request = robots_request(page);
        let limits = DocumentLimits { max_bytes: MAX_BYTES, timeout: MAX_FETCH };
        for _ in 0..=MAX_REDIRECTS {
            let document = self.fetch_document(&request, limits).await?;
            match &document.redirect {
                Some(url) if self.allowed.check(url).is_ok() => request.url = url.clone(),
                // it leads to where we may not look
                Some(_) => return Ok(RobotsAnswer::NoRules),
                None => return Ok(answer(document)),
            }
        }
        Ok(RobotsAnswer::NoRules)
    }
}

/// Asks for robots.txt as the page's script would.
fn robots_request(page: &Request) -> Request {
    let mut url = page.url.clone();
    url.set_path("/robots.txt");
    url.set_query(None);
    let mut referer = url.clone();
    referer.set_path("/");
    Request::new(RequestKind::Fetch, url, referer)
}

fn answer(document: Document) -> RobotsAnswer {
    match document.status.as_u16() {
        200..=299 => RobotsAnswer::Rules(text(&document.body)),
        status @ (429 | 500..) => RobotsAnswer::Unreachable { reason: format!("status {status}") },
        _ => RobotsAnswer::NoRules,
    }
}

fn text(body: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(body).into_owned();
    text.truncate(text.floor_char_boundary(MAX_BYTES));
    text
}

fn unknown(request: &Request, reason: &str, wait: Duration) -> FetchError {
    let unknown = Box::new(NotYetKnown { reason: reason.to_owned(), wait });
    FetchError::RobotsUnknown { host: request.host().to_owned(), unknown }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use rstest::rstest;
    use url::Url;

    use super::*;

    #[rstest]
    #[case::a_file(200, RobotsAnswer::Rules("x".to_owned()))]
    #[case::none(404, RobotsAnswer::NoRules)]
    #[case::not_for_us(403, RobotsAnswer::NoRules)]
    #[case::a_redirect_to_nowhere(302, RobotsAnswer::NoRules)]
    #[case::throttled(429, RobotsAnswer::Unreachable { reason: "status 429".to_owned() })]
    #[case::down(503, RobotsAnswer::Unreachable { reason: "status 503".to_owned() })]
    fn a_status_is_an_answer(#[case] status: u16, #[case] expected: RobotsAnswer) {
        let status = StatusCode::from_u16(status).unwrap();
        assert_eq!(answer(Document { status, redirect: None, body: "x".into(), is_whole: true }), expected);
    }

    #[test]
    fn the_file_is_at_the_root_of_its_host() {
        let url: Url = "https://menu.test:8443/api/graphql?a=b".parse().unwrap();
        let page = Request { body: Some("{}".into()), ..Request::new(RequestKind::FetchWithBody, url.clone(), url) };
        let request = robots_request(&page);
        assert_eq!(request.url.as_str(), "https://menu.test:8443/robots.txt");
        assert!(request.body.is_none() && request.is_same_origin());
    }
}

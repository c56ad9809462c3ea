//! `Rejected`: an answer that its head rejects.
//!
//! In: its head, and its body, which may never come. Out: the failure by the head and the part of the body that can
//! change it, or an answer in which the platform may say more.

use http::response::Parts;
use hyper::body::Incoming;

use super::Route;
use crate::stealth::deps::Exchange;
use crate::stealth::failure::Failure;
use crate::stealth::transport::{self, Answer, Connection};
use crate::stealth::{FetchError, answer};
use foundation::memory::SMALL_BODY;

pub(super) struct Rejected {
    pub error: FetchError,
    pub head: Parts,
    pub body: Incoming,
    pub connection: Connection,
}

impl Route {
    pub(super) async fn reject(&mut self, exchange: &Exchange<'_>, rejected: Rejected) -> Result<Answer, Failure> {
        let Exchange { deps, request, .. } = exchange;
        let Rejected { error, head, body, connection } = rejected;
        let can_be_kept = !transport::is_framed_twice(&head.headers);
        deps.answered();
        let may_explain = answer::may_explain(&error, &head.headers);
        if !may_explain && !answer::may_refuse_key(&error, request) {
            let skipped = deps.transport.skip(body).await;
            self.connection = (can_be_kept && skipped.is_whole).then_some(connection);
            let error = answer::judge_key(answer::judge_beginning(error, &skipped.beginning), request);
            return Err(Failure::by_head(error, request.host()));
        }
        let Some(raw) = deps.transport.explanation(body).await else {
            return Err(Failure::by_head(answer::judge_key(error, request), request.host()));
        };
        self.connection = can_be_kept.then_some(connection);
        if may_explain {
            return Ok(Answer { status: head.status, headers: head.headers, raw });
        }
        let body = self.decoded(request.host(), &head.headers, raw, SMALL_BODY).await.unwrap_or_default();
        let error = answer::judge_key(answer::judge_refusal(error, &body), request);
        Err(Failure::by_head(error, request.host()))
    }
}

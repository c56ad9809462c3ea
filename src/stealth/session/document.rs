//! Plain answers: documents that a session fetches beside the platform's answers, such as an image.
//!
//! In: a request whose answer may have any status. Out: a [`Document`], after at most one further try by
//! another proxy. Redirects are the caller's.

use std::sync::Arc;

use super::{Session, Tries};
use crate::stealth::deps::Exchange;
use crate::stealth::{Document, DocumentLimits, FetchError, Request};

/// Maximum number of tries, each by another proxy.
const MAX_TRIES: u32 = 2;

impl Session {
    /// Fetches the document at an address of an allowed host.
    pub async fn document(&mut self, request: &Request, limits: DocumentLimits) -> Result<Document, FetchError> {
        self.check(request)?;
        self.check_robots(request).await?;
        self.fetch_document(request, limits).await
    }

    /// The same whatever the host and its rules.
    pub(super) async fn fetch_document(
        &mut self,
        request: &Request,
        limits: DocumentLimits,
    ) -> Result<Document, FetchError> {
        let deps = Arc::clone(&self.deps);
        let (trace, memory) = (self.trace.clone(), self.memory.clone());
        let exchange = Exchange {
            deps: &deps,
            trace: &trace,
            request,
            memory: &memory,
            store: self.ask.store,
            is_best_effort: self.ask.is_best_effort,
        };
        let mut tries = Tries::of(request, self.ask.is_best_effort);
        loop {
            let mut route = self.usable_route(request, &tries).await?;
            let permit = match deps.host_limits.permit(request.host()).await {
                Ok(permit) => permit,
                Err(error) => {
                    self.route = Some(route);
                    return Err(error);
                }
            };
            let failure = match route.fetch_document(&exchange, permit, limits).await {
                Ok(document) => {
                    self.route = Some(route);
                    return Ok(document);
                }
                Err(failure) => failure,
            };
            tries.note(&failure, deps.clock.instant());
            tries.made += 1;
            if tries.made >= MAX_TRIES {
                return Err(tries.verdict(&deps, failure.error));
            }
            tries.leave(&route, &failure);
        }
    }
}

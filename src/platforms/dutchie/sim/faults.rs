//! `Fault`: something the origin does wrong on purpose, to whom, and how often.
//!
//! Faults are tried in the order they were added; the first that applies to a request, and that it can show,
//! is used up by one.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::request::{GraphqlRequest, Operation};
use crate::coding_fault::CodingFault;
use crate::flood::Flood;
use crate::refusal::Refusal;
use crate::transmission::Transmission;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// 403, or a challenge page.
    Blocked(Refusal),
    /// 429; without `retry_after` the header is absent.
    Throttled { retry_after: Option<Duration> },
    /// 503 with Retry-After.
    Unavailable { retry_after: Option<Duration> },
    /// Any other 5xx.
    ServerError(u16),
    /// The connection breaks in the middle of the body.
    Truncated,
    /// The body ends early, and looks complete to HTTP.
    CutShort,
    /// The connection closes without an answer.
    Reset,
    /// No answer, ever.
    Hang,
    /// `products: []` with a total above 0; use `on_page(0)` for a menu that looks broken.
    EmptyPage,
    /// `products: []` and a total of 0, as of a store without a menu.
    EmptyMenu,
    /// The order changes between two pages: the last product of each is shown again as the first of the next,
    /// in the place of one that is on no page. Pages keep their size, and the total stays.
    LostToTies,
    /// Whatever page is asked for, the first one comes.
    RepeatedPage,
    /// A million products are announced, and the pages start again behind the last one.
    EndlessPages,
    /// Fewer than half of the pages hold anything, and the total is theirs alone: whole to look at (of a menu
    /// of three pages or more).
    HalfMenu,
    /// This many products are announced, whatever there are.
    AnnouncedTotal(usize),
    /// The menu of another store.
    OtherStore,
    /// JSON texts precede the products of the page; the total stays.
    OddItems(Vec<String>),
    /// The body is this text.
    Body(String),
    /// An answer that is far larger than any menu.
    Flood(Flood),
    /// A body whose coding differs from its head's.
    Coded(CodingFault),
    /// Bytes that are not HTTP, or come too slowly (HTTP/1.1 only).
    Sent(Transmission),
    /// `totalCount` grows from page to page, by the size of a page; the products do not.
    GrowingTotal,
    /// `totalCount` goes up and down between pages by 0.5 %, at least 1. Page 0 announces the most.
    DriftingTotal,
    /// `errors[]`, with part of the data or without any.
    GraphqlErrors { with_data: bool },
    /// `PERSISTED_QUERY_NOT_FOUND`, whatever the hash. See also `Simulator::switch_hash` and
    /// `set_shard_stale`.
    HashNotFound,
    /// The store does not exist.
    UnknownDispensary,
}

impl FaultKind {
    /// Whether such a request would notice: a menu's faults need a menu, and broken data needs data.
    fn shows_on(&self, operation: Operation, gets_data: bool) -> bool {
        match self {
            FaultKind::EmptyPage
            | FaultKind::EmptyMenu
            | FaultKind::DriftingTotal
            | FaultKind::GrowingTotal
            | FaultKind::RepeatedPage
            | FaultKind::EndlessPages
            | FaultKind::HalfMenu
            | FaultKind::AnnouncedTotal(_)
            | FaultKind::OtherStore
            | FaultKind::OddItems(_)
            | FaultKind::LostToTies => gets_data && operation == Operation::FilteredProducts,
            FaultKind::Truncated
            | FaultKind::CutShort
            | FaultKind::Coded(_)
            | FaultKind::Sent(_)
            | FaultKind::GraphqlErrors { .. }
            | FaultKind::HashNotFound
            | FaultKind::UnknownDispensary => gets_data,
            FaultKind::Blocked(_)
            | FaultKind::Throttled { .. }
            | FaultKind::Unavailable { .. }
            | FaultKind::ServerError(_)
            | FaultKind::Reset
            | FaultKind::Body(_)
            | FaultKind::Flood(_)
            | FaultKind::Hang => true,
        }
    }
}

/// A fault of the origin. Without limits it meets every request until it is removed.
#[derive(Clone, Debug)]
pub struct Fault {
    kind: FaultKind,
    store: Option<String>,
    operation: Option<Operation>,
    path: Option<String>,
    page: Option<usize>,
    /// Number of matching requests that are spared first.
    after: u64,
    times: Option<u64>,
    /// One of this many requests is spared; 0 = none.
    spares_one_of: u64,
    met: u64,
}

/// Names a fault in order to remove it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultId(u64);

impl Fault {
    pub fn new(kind: FaultKind) -> Fault {
        Fault {
            kind,
            store: None,
            operation: None,
            path: None,
            page: None,
            after: 0,
            times: None,
            spares_one_of: 0,
            met: 0,
        }
    }

    /// Only requests that name this store: by platform id, or slug where they use it.
    pub fn at_store(self, name: &str) -> Fault {
        Fault { store: Some(name.to_owned()), ..self }
    }

    pub fn on_operation(self, operation: Operation) -> Fault {
        Fault { operation: Some(operation), ..self }
    }

    /// Only one shard: `/api-3/graphql`.
    pub fn on_path(self, path: &str) -> Fault {
        Fault { path: Some(path.to_owned()), ..self }
    }

    /// Only that page of a menu, from 0.
    pub fn on_page(self, page: usize) -> Fault {
        Fault { page: Some(page), ..self }
    }

    /// Skips the first `n` requests it applies to.
    pub fn after(self, n: u64) -> Fault {
        Fault { after: n, ..self }
    }

    /// Only the next `n` requests it applies to.
    pub fn times(self, n: u64) -> Fault {
        Fault { times: Some(n), ..self }
    }

    /// Spares one of `n` requests it applies to.
    pub fn sparing_one_of(self, n: u64) -> Fault {
        Fault { spares_one_of: n, ..self }
    }

    fn applies_to(&self, path: &str, request: &GraphqlRequest, gets_data: bool) -> bool {
        self.times != Some(0)
            && self.kind.shows_on(request.operation, gets_data)
            && self.store.as_deref().is_none_or(|store| request.store() == Some(store))
            && self.operation.is_none_or(|operation| operation == request.operation)
            && self.path.as_deref().is_none_or(|only| only == path)
            && self.page.is_none_or(|page| request.page() == Some(page))
    }

    /// Counts a request that it applies to; false while such requests are spared.
    fn is_due(&mut self) -> bool {
        if self.after > 0 {
            self.after -= 1;
            return false;
        }
        self.met += 1;
        self.spares_one_of == 0 || !self.met.is_multiple_of(self.spares_one_of)
    }
}

#[derive(Default)]
pub(crate) struct Faults(Mutex<State>);

#[derive(Default)]
struct State {
    last_id: u64,
    faults: Vec<(FaultId, Fault)>,
}

impl Faults {
    pub(crate) fn add(&self, fault: Fault) -> FaultId {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.last_id += 1;
        let id = FaultId(state.last_id);
        state.faults.push((id, fault));
        id
    }

    pub(crate) fn remove(&self, id: FaultId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).faults.retain(|(other, _)| *other != id);
    }

    /// The fault this request meets, used up by one. `gets_data`: without a fault it would be answered with
    /// data.
    pub(crate) fn take(&self, path: &str, request: &GraphqlRequest, gets_data: bool) -> Option<FaultKind> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let meets = |fault: &mut Fault| fault.applies_to(path, request, gets_data) && fault.is_due();
        let (_, fault) = state.faults.iter_mut().find_map(|(id, fault)| meets(fault).then_some((id, fault)))?;
        fault.times = fault.times.map(|times| times - 1);
        let kind = fault.kind.clone();
        state.faults.retain(|(_, fault)| fault.times != Some(0));
        Some(kind)
    }
}

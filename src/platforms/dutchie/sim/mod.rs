//! Dutchie's part of the simulator: GraphQL by hash or by full text, with faults of all kinds.
//!
//! Part of the crate `sim`. It checks the real one's requirements and breaks on demand. In: an HTTP request. Out: its answer.

mod answer;
mod controls;
mod faults;
mod hashes;
mod pages;
mod request;
mod selection;
mod wire;

use std::io;

use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Limited, StreamBody};
use hyper::body::{Frame, Incoming};

use crate::body::Body;
use crate::catalogue::StoreSeed;
use crate::encoding::Coding;
use crate::oracle::{self, OracleStore};
use crate::page_cache::PageCache;
use crate::platform::{NoSettings, PlatformState};
use crate::transmission::RawAnswer;
use crate::world::World;
use crate::{refusal, reply, settings};
use faults::Faults;
use hashes::Hashes;
use request::{Ask, GraphqlRequest};

pub use faults::{Fault, FaultId, FaultKind};
pub use hashes::history;
pub use request::Operation;

pub type Settings = NoSettings;

const MAX_REQUEST_BODY: usize = 256 * 1024;

pub(crate) struct State {
    faults: Faults,
    hashes: Hashes,
    /// None = pages are not kept.
    pages: Option<PageCache<pages::Key>>,
}

impl PlatformState for State {
    fn new(settings: &settings::Settings) -> State {
        let pages = settings.keep_pages.then(PageCache::default);
        State { faults: Faults::default(), hashes: Hashes::new(), pages }
    }
}

pub(crate) fn seed(_world: &World, store: &StoreSeed, _base_url: &str) -> Option<StoreSeed> {
    Some(store.clone())
}

pub(crate) fn oracle(world: &World, store: &StoreSeed, crawl: u32) -> Option<OracleStore> {
    Some(oracle::store(world, store, crawl))
}

/// `/graphql`, and its shards `/api-0/graphql` … `/api-4/graphql`.
pub(crate) fn is_path(path: &str) -> bool {
    let shard = path.strip_prefix("/api-").and_then(|rest| rest.strip_suffix("/graphql"));
    path == "/graphql" || matches!(shard, Some("0" | "1" | "2" | "3" | "4"))
}

/// An error closes the connection without an answer.
pub(crate) async fn respond(
    world: &World,
    request: Request<Incoming>,
    proxy: Option<usize>,
) -> io::Result<Response<Body>> {
    let (path, headers) = (request.uri().path().to_owned(), request.headers().clone());
    match read(world, request).await {
        Ok(graphql) => {
            count(world, &graphql);
            world.delay().await;
            execute(world, proxy, &path, &headers, &graphql).await
        }
        Err(reason) => {
            world.counters.note(|counts| counts.other += 1);
            Ok(reply::error(StatusCode::BAD_REQUEST, &reason, "BAD_REQUEST")?)
        }
    }
}

async fn execute(
    world: &World,
    proxy: Option<usize>,
    path: &str,
    headers: &HeaderMap,
    graphql: &GraphqlRequest,
) -> io::Result<Response<Body>> {
    if let Some(refusal) = proxy.and_then(|index| refusal::of_proxy(world, index)) {
        return refusal::answer(world, refusal);
    }
    let (is_known, wrong) = (knows(world, path, graphql), answer::wrong_input(graphql));
    let fault = world.platforms.dutchie.faults.take(path, graphql, is_known && wrong.is_none());
    if let Some(fault) = &fault {
        world.counters.note(|counts| counts.faults += 1);
        if let Some(answer) = fail(world, fault).await? {
            return Ok(answer);
        }
    }
    if !is_known {
        return hash_not_found(world);
    }
    if let Some(reason) = wrong {
        return Ok(reply::error(StatusCode::OK, reason, "BAD_USER_INPUT")?);
    }
    if let Some(FaultKind::Coded(coding_fault)) = fault {
        let plain = pages::coded(world, graphql, None, None).await?;
        let (coding, bytes) = coding_fault.code(plain).await?;
        return reply::coded(coding, reply::whole(bytes));
    }
    let coding = Coding::choose(headers, world.coding);
    let bytes = pages::coded(world, graphql, coding, fault.as_ref()).await?;
    if let Some(FaultKind::Sent(how)) = fault {
        return Err(io::Error::other(RawAnswer { how, coding, body: bytes }));
    }
    let response = sent(coding, bytes, fault.as_ref())?;
    world.counters.note(|counts| counts.answered += u64::from(fault.is_none()));
    Ok(response)
}

/// Errors are the text of a 400.
async fn read(world: &World, request: Request<Incoming>) -> Result<GraphqlRequest, String> {
    require_preflight(request.headers())?;
    if request.method() == Method::GET {
        return GraphqlRequest::of_query(request.uri().query().unwrap_or_default())
            .map_err(|reason| reason.into_owned());
    }
    if request.method() != Method::POST {
        return Err(format!("method {} is not supported", request.method()));
    }
    let body = Limited::new(request.into_body(), MAX_REQUEST_BODY).collect();
    let body = tokio::time::timeout(world.client_timeout, body).await.map_err(|_| "the body took too long")?;
    let body = body.map_err(|error| error.to_string())?;
    GraphqlRequest::of_body(&body.to_bytes()).map_err(|reason| reason.into_owned())
}

/// Requires the headers without which a browser would not have asked first, and Apollo refuses the request.
fn require_preflight(headers: &HeaderMap) -> Result<(), String> {
    for (name, value) in [("content-type", "application/json"), ("apollo-require-preflight", "true")] {
        if !headers.get(name).is_some_and(|given| given.as_bytes().starts_with(value.as_bytes())) {
            return Err(format!("This operation has been blocked as a potential CSRF: {name} must be {value}"));
        }
    }
    Ok(())
}

fn count(world: &World, graphql: &GraphqlRequest) {
    // only ids of the catalogue, so that no client can make the counts grow without end
    let store = graphql.store().and_then(|id| world.catalogue.of_id(id));
    world.counters.note(|counts| {
        match graphql.operation {
            Operation::FilteredProducts => counts.filtered_products += 1,
            Operation::ConsumerDispensaries => counts.consumer_dispensaries += 1,
            Operation::DispensarySearch => counts.dispensary_search += 1,
        }
        counts.full_text += u64::from(matches!(graphql.ask, Ask::FullText(_)));
        if let (Operation::FilteredProducts, Some(store)) = (graphql.operation, store) {
            *counts.menus.entry(store.platform_dispensary_id.clone()).or_default() += 1;
        }
    });
}

/// The answer of a fault that needs no data; none = continue.
async fn fail(world: &World, fault: &FaultKind) -> io::Result<Option<Response<Body>>> {
    let response = match fault {
        FaultKind::Blocked(refusal) => refusal::answer(world, *refusal)?,
        FaultKind::Throttled { retry_after } => reply::later(StatusCode::TOO_MANY_REQUESTS, *retry_after)?,
        FaultKind::Unavailable { retry_after } => reply::later(StatusCode::SERVICE_UNAVAILABLE, *retry_after)?,
        FaultKind::ServerError(status) => {
            let status = StatusCode::from_u16(*status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            reply::plain(status, "text/plain", "upstream error")
        }
        FaultKind::Reset => return Err(io::Error::from(io::ErrorKind::ConnectionReset)),
        FaultKind::Hang => std::future::pending().await,
        FaultKind::GraphqlErrors { with_data: false } => {
            reply::error(StatusCode::OK, "Something went wrong", "INTERNAL_SERVER_ERROR")?
        }
        FaultKind::HashNotFound => hash_not_found(world)?,
        FaultKind::Body(text) => reply::coded(None, reply::whole(text.clone().into()))?,
        FaultKind::Flood(flood) => {
            let (coding, body) = flood.answer().await?;
            reply::coded(coding.as_deref(), body)?
        }
        FaultKind::Truncated
        | FaultKind::CutShort
        | FaultKind::EmptyPage
        | FaultKind::EmptyMenu
        | FaultKind::DriftingTotal
        | FaultKind::GrowingTotal
        | FaultKind::LostToTies
        | FaultKind::RepeatedPage
        | FaultKind::EndlessPages
        | FaultKind::HalfMenu
        | FaultKind::AnnouncedTotal(_)
        | FaultKind::OtherStore
        | FaultKind::OddItems(_)
        | FaultKind::Coded(_)
        | FaultKind::Sent(_)
        | FaultKind::GraphqlErrors { with_data: true }
        | FaultKind::UnknownDispensary => return Ok(None),
    };
    Ok(Some(response))
}

fn hash_not_found(world: &World) -> io::Result<Response<Body>> {
    world.counters.note(|counts| counts.hash_not_found += 1);
    Ok(reply::error(StatusCode::OK, "PersistedQueryNotFound", "PERSISTED_QUERY_NOT_FOUND")?)
}

fn knows(world: &World, path: &str, graphql: &GraphqlRequest) -> bool {
    match &graphql.ask {
        Ask::FullText(_) => true,
        Ask::Hash(hash) => world.platforms.dutchie.hashes.knows(path, graphql.operation, hash),
    }
}

/// The whole answer, unless the fault breaks it off.
fn sent(coding: Option<Coding>, mut bytes: Bytes, fault: Option<&FaultKind>) -> io::Result<Response<Body>> {
    let length = bytes.len();
    match fault {
        Some(FaultKind::Truncated) => {
            let mut response = reply::coded(coding.map(Coding::name), broken_off(bytes.split_to(length / 2)))?;
            response.headers_mut().insert(CONTENT_LENGTH, length.into());
            Ok(response)
        }
        Some(FaultKind::CutShort) => reply::json(coding, bytes.split_to(length / 2)),
        _ => reply::json(coding, bytes),
    }
}

/// Promises more than it gives.
fn broken_off(bytes: Bytes) -> Body {
    let frames = [Ok(Frame::data(bytes)), Err(io::Error::from(io::ErrorKind::BrokenPipe))];
    BodyExt::boxed(StreamBody::new(stream::iter(frames)))
}

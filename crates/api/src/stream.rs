//! `/api/events`: the feed as server-sent events. An id is `{process}-{number}`; a client that comes back
//! with its last one gets what it missed, or `reset` where that is not kept any more.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONNECTION};
use axum::http::{HeaderMap, HeaderName};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use serde::{Deserialize, Deserializer};
use tokio::sync::{OwnedSemaphorePermit, watch};
use utoipa::{IntoParams, ToSchema};

use super::feed::{Feed, FeedEvent, TooOld, Topic};
use super::server::ConnectionPermit;
use super::{ApiError, ApiState, Caller, Query, Viewer};
use domain::access::Principal;
use domain::vocabulary;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Interval that is shorter than proxies wait for a byte.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a revoked token may continue listening where nothing happens.
const RECHECK: Duration = Duration::from_secs(5);
/// How long a client waits before it comes back.
const RETRY: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Only events about these subjects, separated by commas.
    #[serde(default, deserialize_with = "topics")]
    #[param(style = Form, explode = false, min_items = 1, inline, value_type = Option<Vec<Topic>>)]
    topics: Option<Vec<Topic>>,
}

/// One message of the stream.
#[derive(ToSchema)]
#[expect(dead_code, reason = "only described: axum writes it")]
pub struct EventMessage {
    /// Id for `Last-Event-ID`.
    id: Option<String>,
    /// Its topic; `reset` where events were missed, and the client must read everything again.
    event: String,
    /// A document of JSON.
    data: String,
}

/// Changes as server-sent events; the name of an event is its topic.
#[utoipa::path(get, path = "/api/events", tag = "service",
               responses((status = 200, body = EventMessage, content_type = "text/event-stream")))]
pub async fn events(
    caller: Caller<Viewer>,
    State(api): State<ApiState>,
    permit: Option<Extension<ConnectionPermit>>,
    headers: HeaderMap,
    Query(EventsQuery { topics }): Query<EventsQuery>,
) -> Result<Response, ApiError> {
    let full = || ApiError::Busy(format!("{} clients listen already: try again later", super::MAX_LISTENERS));
    let listening = api.listeners.clone().try_acquire_owned().map_err(|_| full())?;
    if let Some(Extension(permit)) = permit {
        // listeners have places of their own
        permit.free();
    }
    let newest = api.feed.listen().await;
    let (seen, is_reset) = match headers.get(LAST_EVENT_ID) {
        None => (*newest.borrow(), false),
        Some(id) => match id.to_str().ok().and_then(|id| number(&api.feed, id)) {
            Some(number) if api.feed.after(number).is_ok() => (number, false),
            _ => (*newest.borrow(), true),
        },
    };
    let principal = caller.principal;
    let listener =
        Listener { api, principal, topics, newest, seen, is_reset, waiting: VecDeque::new(), _listening: listening };
    let answer = Sse::new(listener.events()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    // the connection has no place for another request
    Ok(([(CONNECTION, "close"), (CACHE_CONTROL, "no-store")], answer).into_response())
}

/// One client.
struct Listener {
    api: ApiState,
    principal: Principal,
    /// Topics; None: all.
    topics: Option<Vec<Topic>>,
    newest: watch::Receiver<u64>,
    /// The number of the last event that was sent or left out.
    seen: u64,
    /// The client has to be sent `reset`, because it missed events.
    is_reset: bool,
    waiting: VecDeque<Arc<FeedEvent>>,
    _listening: OwnedSemaphorePermit,
}

impl Listener {
    /// Ends with the server, and when the client's token opens nothing any more.
    fn events(self) -> impl Stream<Item = Result<Event, Infallible>> + Send {
        stream::unfold(self, |mut listener| async move {
            let stop = listener.api.stop.clone();
            let event = stop.run_until_cancelled(listener.next()).await??;
            Some((Ok(event), listener))
        })
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            if std::mem::take(&mut self.is_reset) {
                let id = self.id(self.seen);
                return Some(Event::default().event("reset").id(id).retry(RETRY).data("{}"));
            }
            if let Some(event) = self.waiting.pop_front() {
                return Some(Event::default().event(event.topic.name()).id(self.id(event.number)).data(&event.data));
            }
            // without events, to look whether the token still opens anything
            if let Ok(closed) = tokio::time::timeout(RECHECK, self.newest.changed()).await {
                closed.ok()?;
            }
            if !self.may_listen().await {
                return None;
            }
            self.fill();
        }
    }

    fn fill(&mut self) {
        let newest = *self.newest.borrow_and_update();
        match self.api.feed.after(self.seen) {
            Ok(events) => self.waiting = events.into_iter().filter(|event| self.wants(event.topic)).collect(),
            Err(TooOld) => self.is_reset = true,
        }
        self.seen = newest;
    }

    fn wants(&self, topic: Topic) -> bool {
        self.topics.as_ref().is_none_or(|topics| topics.contains(&topic))
    }

    /// Whether the caller's token still exists; true without the database.
    async fn may_listen(&self) -> bool {
        match self.api.credentials.known(&self.api.db).await {
            Ok(known) => known.holds(self.principal.token),
            Err(_) => true,
        }
    }

    fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.api.feed.process)
    }
}

/// The number of an id that this process gave.
fn number(feed: &Feed, id: &str) -> Option<u64> {
    id.strip_prefix(&feed.process)?.strip_prefix('-')?.parse().ok()
}

fn topics<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<Topic>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    vocabulary::listed(&text, "topics").map(Some).map_err(serde::de::Error::custom)
}

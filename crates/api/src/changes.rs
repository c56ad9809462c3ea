//! `/api/changes`: the feed of changes of prices, specials, stock and products, which readers follow by a cursor.
//!
//! An answer that would be empty waits for the next change. In the order `newest`, readers go back from the end.

use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::State;
use chrono::TimeDelta;

use super::media::RecordPath;
use super::{ApiError, ApiState, Caller, Path, Query, Viewer};
use contract::changes::{ChangeLimit, ChangePage, ChangePlace, ChangeQuestion, RehearsalPage, RehearsalQuestion};
use contract::position::Position;
use contract::problem::Problem;
use db::changes::feed::{self, FeedPart, FeedRead};
use db::changes::rules::{self, Rehearsed};
use db::media::records;
use db::schema::server_info;
use settings::durations;

/// Maximum time that an answer waits for changes.
const MAX_WAIT: Duration = Duration::from_secs(30);
/// Time between two looks of an answer that waits; none holds a connection of the database meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How far a rehearsal goes back by default.
const DEFAULT_DAYS: i64 = 7;
/// Part of the time of a request in which its answer is made and sent.
const ANSWER_TIME: Duration = Duration::from_secs(5);

/// Changes behind a cursor, in the order in which all readers get them.
#[utoipa::path(get, path = "/api/changes", tag = "products",
               responses((status = 200, body = ChangePage), (status = 410, response = Problem)))]
pub async fn list(
    caller: Caller<Viewer>,
    State(api): State<ApiState>,
    Query(question): Query<ChangeQuestion>,
) -> Result<Json<ChangePage>, ApiError> {
    question.check()?;
    let until = Instant::now() + wait(&api, question.wait.as_deref())?;
    if question.is_newest_first() {
        return newest_first(&caller, &api, &question, until).await.map(Json);
    }
    let mut place = first_place(&caller, &question).await?;
    loop {
        let part = read_on(&caller, &place, &question).await?;
        let left = until.saturating_duration_since(Instant::now());
        if !part.changes.is_empty() || left.is_zero() || api.stop.is_cancelled() {
            return Ok(Json(page(part)));
        }
        place = part.next;
        // a filter that leaves few changes: the rest of the feed is read at once
        if part.is_end {
            let _ = api.stop.run_until_cancelled(tokio::time::sleep(left.min(LOOK_EVERY))).await;
        }
    }
}

/// Goes back in the feed until the page is full, or the time is over.
async fn newest_first(
    caller: &Caller<Viewer>,
    api: &ApiState,
    question: &ChangeQuestion,
    until: Instant,
) -> Result<ChangePage, ApiError> {
    let (mut place, begin) = first_place_back(caller, question).await?;
    let mut changes = Vec::new();
    loop {
        let left = ChangeLimit(question.limit.0 - changes.len() as i64);
        let question = ChangeQuestion { limit: left, ..question.clone() };
        let part = feed::read_back(&caller.client().await?, &place, begin, &question).await?;
        let is_full = part.changes.len() as i64 >= left.0;
        changes.extend(part.changes);
        if is_full || part.is_end || Instant::now() >= until || api.stop.is_cancelled() {
            return Ok(page(FeedPart { changes, ..part }));
        }
        place = part.next;
    }
}

/// The messages that a rule of changes would have sent about changes of the past.
#[utoipa::path(get, path = "/api/media/change_rules/{id}/messages", tag = "media",
               responses((status = 200, body = RehearsalPage)))]
pub async fn rehearse(
    caller: Caller<Viewer>,
    Path(RecordPath { id }): Path<RecordPath>,
    Query(RehearsalQuestion { from }): Query<RehearsalQuestion>,
) -> Result<Json<RehearsalPage>, ApiError> {
    let client = caller.client().await?;
    let rule = records::get(&client, id).await?;
    let from = match from {
        Some(from) => from,
        None => server_info::read(&client).await?.now - TimeDelta::days(DEFAULT_DAYS),
    };
    let place = feed::begun_at(&client, from).await?;
    let Rehearsed { messages, is_cut } = rules::rehearse(&client, &rule, place).await?;
    Ok(Json(RehearsalPage { messages, is_cut }))
}

fn wait(api: &ApiState, text: Option<&str>) -> Result<Duration, ApiError> {
    let Some(text) = text else { return Ok(Duration::ZERO) };
    let wait = durations::parse(text).map_err(|fault| ApiError::bad("wait", fault))?;
    if wait > MAX_WAIT {
        return Err(ApiError::bad("wait", format!("'{text}' is more than {}s", MAX_WAIT.as_secs())));
    }
    Ok(wait.min(api.config.request_timeout.saturating_sub(ANSWER_TIME)))
}

async fn first_place(caller: &Caller<Viewer>, question: &ChangeQuestion) -> Result<ChangePlace, ApiError> {
    let client = caller.client().await?;
    match (&question.since, question.from) {
        (Some(_), Some(_)) => Err(ApiError::bad("from", "is of no use together with since: leave one of them out")),
        (None, Some(time)) => Ok(feed::begun_at(&client, time).await?),
        (None, None) => Ok(feed::newest(&client).await?),
        (Some(Position(place)), None) => known("since", place, &feed::newest(&client).await?),
    }
}

/// The place in front of which the changes are, and the number of the batch before the first one.
async fn first_place_back(caller: &Caller<Viewer>, question: &ChangeQuestion) -> Result<(ChangePlace, i64), ApiError> {
    let client = caller.client().await?;
    let newest = feed::newest(&client).await?;
    let begin = match question.from {
        Some(time) => feed::begun_at(&client, time).await?.seq,
        None => 0,
    };
    match &question.before {
        Some(Position(place)) => Ok((known("before", place, &newest)?, begin)),
        None => Ok((newest, begin)),
    }
}

/// The place, if it is one of this feed.
fn known(field: &'static str, place: &ChangePlace, newest: &ChangePlace) -> Result<ChangePlace, ApiError> {
    match place.installation == newest.installation && place.seq <= newest.seq {
        true => Ok(place.clone()),
        false => {
            Err(ApiError::bad(field, "a cursor of another database: leave it out to begin now, or begin with from"))
        }
    }
}

async fn read_on(
    caller: &Caller<Viewer>,
    place: &ChangePlace,
    question: &ChangeQuestion,
) -> Result<FeedPart, ApiError> {
    match feed::read_on(&caller.client().await?, place, question).await? {
        FeedRead::Part(part) => Ok(part),
        FeedRead::Expired { .. } => Err(ApiError::CursorExpired(
            "changes behind this cursor were removed, because they are older than retention.changes: begin with from, or without since"
                .to_owned(),
        )),
    }
}

fn page(part: FeedPart) -> ChangePage {
    ChangePage { changes: part.changes, next_cursor: Position(part.next).text(), caught_up: part.is_end }
}

//! `/api/hosts`: the state of each host, seen by all processes together, and its limits; its breaker can be
//! opened and closed by hand.

use std::fmt::Display;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::{IntoParams, ToSchema};

use super::access::{Caller, Changes, Operator, Viewer};
use super::body::Body;
use super::error::Problem;
use super::listing::Listing;
use super::page::PageJson;
use super::path::Path;
use super::position::Position;
use super::query::{NoParameters, Query};
use super::{ApiError, ApiState};
use db::hosts::{self, HostRow};
use db::robots::{self, Breach, RobotsRow};
use domain::host::{HostState, MAX_LATER};
use domain::robots::{Robots, RobotsPolicy};

const MAX_WHY_CHARS: usize = 200;

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HostListing {
    pub host: String,
    /// What the host does and since when, and what follows: for people.
    pub does: String,
    #[serde(flatten)]
    pub state: HostState,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HostPage {
    pub hosts: Vec<HostListing>,
    /// For the next page; null on the last.
    pub next_cursor: Option<String>,
}

/// All that is known of one host.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HostDetail {
    #[serde(flatten)]
    pub listing: HostListing,
    /// One for each address of its site that was asked.
    pub robots: Vec<RobotsListing>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RobotsListing {
    pub authority: String,
    pub policy: RobotsPolicy,
    /// What it answered, for people.
    pub answered: String,
    pub fetched_at: Option<DateTime<Utc>>,
    pub unreachable_since: Option<DateTime<Utc>>,
    pub next_fetch_at: DateTime<Utc>,
    /// Those that concern us.
    pub rules: Vec<String>,
    /// Broken by requests of ours, as last reported.
    pub breaches: Vec<Breach>,
}

/// What an operator wants of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BreakerChange {
    /// Nothing is sent to the host.
    Open,
    /// Requests are sent again, as if the host had never refused any.
    Closed,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HostUpdate {
    pub breaker: BreakerChange,
    /// Of an open breaker: when one request may try the host, whose answer closes it. By default in a year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
    /// Of an open breaker: what the tasks that wait for it say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub why: Option<String>,
}

#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct HostPath {
    /// Its name, without a port.
    #[param(example = "menu.example.com")]
    host: String,
}

/// Every host that was asked, by name.
#[utoipa::path(get, path = "/api/hosts", tag = "hosts", params(Listing<NoParameters, Position<String>>), responses((status = 200, body = HostPage)))]
pub async fn list(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Listing { limit, cursor, .. }: Listing<NoParameters, Position<String>>,
) -> Result<PageJson<HostPage, String>, ApiError> {
    let after = cursor.map(|Position(host)| host);
    let mut rows = hosts::list(&api.db.api_client().await?, after.as_deref(), limit.with_next()).await?;
    let next = limit.next(&mut rows, |row| row.host.clone());
    let hosts = rows.into_iter().map(HostListing::from).collect();
    Ok(PageJson::of(next, |next_cursor| HostPage { hosts, next_cursor }))
}

/// All that is known of a host: its breaker, hold and rate, what it answered, and its robots.txt.
#[utoipa::path(get, path = "/api/hosts/{host}", tag = "hosts", params(HostPath),
               responses((status = 200, body = HostDetail), (status = 404, response = Problem)))]
pub async fn show(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Path(path): Path<HostPath>,
    _: Query<NoParameters>,
) -> Result<Json<HostDetail>, ApiError> {
    let (client, host) = (api.db.api_client().await?, path.name());
    let listing = hosts::get(&client, &host).await?.into();
    let policy = api.politeness.robots_policy(&host);
    let robots = robots::of_host(&client, &host).await?.into_iter().map(|row| RobotsListing::new(row, policy));
    Ok(Json(HostDetail { listing, robots: robots.collect() }))
}

/// Opens or closes a host's breaker by hand. Running workers learn it within ten seconds; requests under way end as they would.
#[utoipa::path(put, path = "/api/hosts/{host}", tag = "hosts", params(HostPath), request_body = HostUpdate,
               responses((status = 200, body = HostListing), (status = 404, response = Problem)))]
pub async fn update(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    Path(path): Path<HostPath>,
    _: Query<NoParameters>,
    Body(update): Body<HostUpdate>,
) -> Result<Response, ApiError> {
    update.check()?;
    let (host, detail) = (path.name(), json!(update));
    let mut change = changes.begin(&api).await?;
    let row = hosts::change(&change, &host, |state, now| update.apply(state, now)).await?;
    change.audit("hosts.update", &host, detail);
    change.answer(StatusCode::OK, &HostListing::from(row)).await
}

/// Forgets what was learned of a host: its hold, breaker, rate and counts, and its robots.txt, which is fetched again.
#[utoipa::path(delete, path = "/api/hosts/{host}", tag = "hosts", params(HostPath),
               responses((status = 204, description = "Forgotten"), (status = 404, response = Problem)))]
pub async fn reset(
    changes: Changes<Operator>,
    State(api): State<ApiState>,
    Path(path): Path<HostPath>,
    _: Query<NoParameters>,
) -> Result<StatusCode, ApiError> {
    let host = path.name();
    let mut change = changes.begin(&api).await?;
    hosts::reset(&change, &host).await?;
    robots::forget(&change, &host).await?;
    change.audit("hosts.delete", &host, json!({}));
    change.no_content().await
}

impl HostPath {
    /// As the table has it.
    fn name(&self) -> String {
        self.host.to_ascii_lowercase()
    }
}

impl HostUpdate {
    fn check(&self) -> Result<(), ApiError> {
        if self.breaker == BreakerChange::Closed {
            let given = [("until", self.until.is_some()), ("why", self.why.is_some())];
            let extra = given.into_iter().find(|(_, is_given)| *is_given);
            return extra
                .map_or(Ok(()), |(field, _)| Err(ApiError::bad(field, "is only for a breaker that is opened")));
        }
        match &self.why {
            Some(why) if why.chars().count() > MAX_WHY_CHARS => {
                Err(ApiError::bad("why", format_args!("is longer than {MAX_WHY_CHARS} characters")))
            }
            Some(why) if why.trim().is_empty() || why.contains(char::is_control) => {
                Err(ApiError::bad("why", "is not one line of text"))
            }
            _ => Ok(()),
        }
    }

    /// `now` is the database's.
    fn apply(&self, state: &mut HostState, now: DateTime<Utc>) -> Result<(), ApiError> {
        match (self.breaker, self.until) {
            (BreakerChange::Closed, _) => state.close_by_hand(now),
            (BreakerChange::Open, Some(until)) if until <= now => return Err(ApiError::bad("until", "has passed")),
            (BreakerChange::Open, Some(until)) if until - now > MAX_LATER => {
                return Err(ApiError::bad("until", "is more than a year away"));
            }
            (BreakerChange::Open, until) => state.open_by_hand(self.why.as_deref(), until, now),
        }
        Ok(())
    }
}

impl From<HostRow> for HostListing {
    fn from(HostRow { host, state, now }: HostRow) -> Self {
        HostListing { host, does: state.summary(now), state }
    }
}

impl RobotsListing {
    fn new(row: RobotsRow, policy: RobotsPolicy) -> Self {
        let robots = Robots::parse(row.rules.as_deref().unwrap_or_default());
        RobotsListing {
            answered: answered(&row, robots.len()),
            authority: row.authority,
            policy,
            fetched_at: row.fetched_at,
            unreachable_since: row.unreachable_since,
            next_fetch_at: row.next_fetch_at,
            rules: robots.rules().map(|rule| rule.shown().to_owned()).collect(),
            breaches: row.breaches,
        }
    }
}

fn answered(row: &RobotsRow, rules: usize) -> String {
    let latest = match (row.fetched_at, &row.rules) {
        (Some(at), Some(_)) => format!("{rules} rules for us, fetched {}", time(at)),
        (Some(at), None) => format!("there is none, asked {}", time(at)),
        (None, _) => "not known".to_owned(),
    };
    match (row.unreachable_since, &row.why) {
        (Some(since), Some(why)) => format!("{latest}; cannot be had since {} ({why})", time(since)),
        _ => latest,
    }
}

fn time(at: DateTime<Utc>) -> impl Display {
    at.format("%F %T")
}

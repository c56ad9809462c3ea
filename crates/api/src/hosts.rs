//! `/api/hosts`: the state of each host, seen by all processes together, and its limits; its breaker can be
//! opened and closed by hand.

use std::fmt::Display;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::{ApiError, ApiState, Body, Caller, Changes, Listing, Operator, PageJson, Path, Viewer};
use contract::hosts::{BreakerChange, HostDetail, HostFilter, HostListing, HostPage, HostUpdate, RobotsListing};
use contract::position::Position;
use db::hosts::robots::RobotsRow;
use db::hosts::{self, HostRow};
use db::tasks::pauses::NewPause;
use domain::http::robots::{Robots, RobotsPolicy};
use domain::task::pause::PauseTarget;

#[derive(Deserialize, IntoParams)]
pub struct HostPath {
    /// Its name, without a port.
    #[param(example = "menu.example.com")]
    host: String,
}

/// Lists every host that was asked, by name.
#[utoipa::path(get, path = "/api/hosts", tag = "hosts", responses((status = 200, body = HostPage)))]
pub async fn list(
    caller: Caller<Viewer>,
    Listing { filter, limit, cursor }: Listing<HostFilter, Position<String>>,
) -> Result<PageJson<HostPage, String>, ApiError> {
    let filter = HostFilter { after: cursor.map(|Position(host)| host), ..filter };
    let mut rows = hosts::list(&caller.client().await?, &filter, limit.with_next()).await?;
    let next = limit.next(&mut rows, |row| row.host.clone());
    let hosts = rows.into_iter().map(listing).collect();
    Ok(PageJson::of(next, |next_cursor| HostPage { hosts, next_cursor }))
}

/// Shows all that is known about a host: its breaker, hold and rate, what it answered, and its robots.txt.
#[utoipa::path(get, path = "/api/hosts/{host}", tag = "hosts", responses((status = 200, body = HostDetail)))]
pub async fn show(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Path(path): Path<HostPath>,
) -> Result<Json<HostDetail>, ApiError> {
    let (client, host) = (api.db.api_client().await?, path.name());
    let listing = listing(hosts::get(&client, &host).await?);
    let policy = api.politeness.current().robots_policy(&host);
    let robots = hosts::robots::of_host(&client, &host).await?.into_iter().map(|row| robots_listing(row, policy));
    Ok(Json(HostDetail { listing, robots: robots.collect() }))
}

/// Opens or closes a host's breaker by hand: an open one is a pause of scope `host`. Workers follow within a second;
/// requests under way finish normally.
#[utoipa::path(put, path = "/api/hosts/{host}", tag = "hosts", responses((status = 200, body = HostListing)))]
pub async fn update(
    changes: Changes<Operator>,
    Path(path): Path<HostPath>,
    Body(update): Body<HostUpdate>,
) -> Result<Response, ApiError> {
    update.check()?;
    let (host, detail, caller) = (path.name(), json!(update), changes.name.clone());
    let mut change = changes.begin().await?;
    let row = hosts::change(&change, &host, |state, now| update.apply(state, now).map_err(ApiError::from)).await?;
    let target = PauseTarget::Host(host.clone());
    match update.breaker {
        BreakerChange::Closed => drop(db::tasks::pauses::end_of(&change, &target).await?),
        BreakerChange::Open => {
            let reason = update.why.as_deref().unwrap_or("switched off by hand");
            let new = NewPause { target: &target, reason, until: update.until, created_by: &caller };
            db::tasks::pauses::put(&change, &new).await?;
        }
    }
    change.audit("hosts.update", &host, detail);
    change.answer(StatusCode::OK, &listing(row)).await
}

/// Forgets what was learned about a host: its hold, breaker, rate and counts, and its robots.txt, which is fetched
/// again.
#[utoipa::path(delete, path = "/api/hosts/{host}", tag = "hosts", responses((status = 204, description = "Forgotten")))]
pub async fn reset(changes: Changes<Operator>, Path(path): Path<HostPath>) -> Result<StatusCode, ApiError> {
    let host = path.name();
    let mut change = changes.begin().await?;
    hosts::reset(&change, &host).await?;
    db::tasks::pauses::end_of(&change, &PauseTarget::Host(host.clone())).await?;
    hosts::robots::forget(&change, &host).await?;
    change.audit("hosts.delete", &host, json!({}));
    change.no_content().await
}

impl HostPath {
    /// Name in the table.
    fn name(&self) -> String {
        self.host.to_ascii_lowercase()
    }
}

fn listing(HostRow { host, state, now }: HostRow) -> HostListing {
    HostListing::new(host, state, now)
}

fn robots_listing(row: RobotsRow, policy: RobotsPolicy) -> RobotsListing {
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

fn answered(row: &RobotsRow, rules: usize) -> String {
    let latest = match (row.fetched_at, &row.rules) {
        (Some(at), Some(_)) => format!("{rules} rules for us, fetched {}", time(at)),
        (Some(at), None) => format!("the host has none, checked {}", time(at)),
        (None, _) => "not known".to_owned(),
    };
    match (row.unreachable_since, &row.why) {
        (Some(since), Some(why)) => format!("{latest}; unavailable since {} ({why})", time(since)),
        _ => latest,
    }
}

fn time(at: DateTime<Utc>) -> impl Display {
    at.format("%F %T")
}

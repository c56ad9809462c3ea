//! `/api/tasks/capacity/forecast`: whether slots, politeness and proxies suffice for the schedules, or for
//! other stores at another interval.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use url::Url;
use utoipa::IntoParams;

use super::access::{Caller, Viewer};
use super::query::{Query, number_within};
use super::{ApiError, ApiState};
use contract::pauses::Pause;
use db::forecast::{self, HostStores};
use db::{Client, DbError, pauses, proxies};
use domain::forecast::{Forecast, HostPoliteness, SLOTS, STORES, Supply, WhatIf};
use domain::proxy::RestingProxies;
use domain::role::Role;
use domain::schedule::INTERVALS;
use settings::durations;

const SECONDS_PER_HOUR: f64 = 3600.0;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ForecastQuery {
    /// Number of stores to crawl; by default those of the schedules.
    #[serde(default, deserialize_with = "store_count")]
    #[param(minimum = 1, maximum = 10000000)]
    stores: Option<i64>,
    /// Time between two crawls of a store, in place of the schedules of crawls; at most 366d.
    #[serde(default, deserialize_with = "interval")]
    #[param(value_type = Option<String>, example = "4h")]
    every: Option<Duration>,
    /// Number of slots, for every role; by default those of the live workers.
    #[serde(default, deserialize_with = "slot_count")]
    #[param(minimum = 1, maximum = 1000000)]
    slots: Option<i64>,
}

/// Compares the slots, requests and proxies that the schedules need, or the stores and interval of the query, with the existing ones;
/// names the limit that is reached first, and estimates the duration of one crawl of all the stores from the runs of the last 24 hours.
#[utoipa::path(get, path = "/api/tasks/capacity/forecast", tag = "tasks", responses((status = 200, body = Forecast)))]
pub async fn show(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Query(query): Query<ForecastQuery>,
) -> Result<Json<Forecast>, ApiError> {
    let snapshot = api.db.api_snapshot().await?;
    let supply = supply(&api, &snapshot).await?;
    Ok(Json(supply.forecast(query.what_if())))
}

async fn supply(api: &ApiState, client: &Client) -> Result<Supply, DbError> {
    let stores = forecast::stores_by_host(client).await?;
    let users = forecast::proxy_users(client).await?;
    let resting = proxies::resting(client, api.budgets()).await?;
    let sessions = i64::try_from(api.proxies.current().sessions).unwrap_or(i64::MAX);
    Ok(Supply {
        schedules: forecast::schedules(client).await?,
        costs: forecast::costs(client).await?,
        workers: forecast::workers(client).await?,
        crawlable_stores: stores.iter().map(|host| host.stores).sum(),
        permitted_rate: permitted_rate(api, client, &stores).await?,
        // without a process yet: as many as one would have
        sessions: users.proxies.saturating_mul(users.processes.max(1)).saturating_mul(sessions),
        stopped: stopped(&pauses::list(client).await?, &resting),
    })
}

/// Why no store is crawled now, the widest reason first.
fn stopped(pauses: &[Pause], resting: &RestingProxies) -> Option<String> {
    let stops = |pause: &&Pause| pause.parsed().is_some_and(|target| target.stops_role(Role::PayloadFetch));
    let paused = pauses.iter().find(stops);
    let paused = paused.map(|pause| format!("{} is paused by {} ({})", pause.target(), pause.created_by, pause.reason));
    paused.or_else(|| resting.is_all().then(|| resting.to_string()))
}

/// Each host has a limit of its own: the one with the most stores is the first that reaches it.
async fn permitted_rate(api: &ApiState, client: &Client, stores: &[HostStores]) -> Result<Option<f64>, DbError> {
    let mut hosts = BTreeMap::<String, i64>::new();
    for group in stores {
        *hosts.entry(host_of(api, group)).or_default() += group.stores;
    }
    let all: i64 = hosts.values().sum();
    let (host, share) = match hosts.into_iter().max_by_key(|(_, stores)| *stores) {
        Some((host, most)) => (host, most as f64 / all as f64),
        None => (String::new(), 1.0),
    };
    let settings::Politeness { requests_per_second: rate, concurrency, .. } = api.politeness.current();
    let politeness = HostPoliteness {
        rate,
        concurrency,
        seconds_per_request: forecast::seconds_per_request(client, &host).await?,
        share,
    };
    Ok(politeness.permitted_rate())
}

/// Without a port, as requests are counted.
fn host_of(api: &ApiState, stores: &HostStores) -> String {
    let base = match &stores.api_host {
        Some(host) => format!("https://{host}"),
        None => api.crawl_limits.base_urls.get(&stores.platform).cloned().unwrap_or_default(),
    };
    let host = Url::parse(&base).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| stores.platform.clone())
}

impl ForecastQuery {
    fn what_if(&self) -> WhatIf {
        let every_hours = self.every.map(|every| every.as_secs_f64() / SECONDS_PER_HOUR);
        WhatIf { stores: self.stores, every_hours, slots: self.slots }
    }
}

fn store_count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    number_within(from, STORES)
}

fn slot_count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    number_within(from, SLOTS)
}

fn interval<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let every = durations::deserialize(from)?;
    match INTERVALS.contains(&(every.as_secs_f64() / SECONDS_PER_HOUR)) {
        true => Ok(Some(every)),
        false => Err(D::Error::custom("expected a duration from 4s to 366d")),
    }
}

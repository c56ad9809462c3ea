//! `/api/tasks/capacity/forecast`: whether slots, politeness and proxies suffice for the schedules, or for
//! other stores at another interval.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use utoipa::IntoParams;

use super::query::{Query, number_within};
use super::{ApiError, ApiState, Caller, Viewer, store_hosts};
use contract::verdict::{StoresOfHost, stopped};
use db::{Client, DbError, proxies, schedules, tasks};
use domain::schedule::INTERVALS;
use domain::schedule::forecast::{Forecast, HostPoliteness, SLOTS, STORES, Supply, WhatIf};
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
    let hosts = store_hosts::read(api, client).await?;
    let users = schedules::forecast::proxy_users(client).await?;
    let resting = proxies::resting(client, api.budgets()).await?;
    let sessions = i64::try_from(api.proxies.current().sessions).unwrap_or(i64::MAX);
    Ok(Supply {
        schedules: schedules::forecast::schedules(client).await?,
        costs: schedules::forecast::costs(client).await?,
        workers: schedules::forecast::workers(client).await?,
        crawlable_stores: hosts.iter().map(|host| host.stores).sum(),
        permitted_rate: permitted_rate(api, client, &hosts).await?,
        // without a process yet: as many as one would have
        sessions: users.proxies.saturating_mul(users.processes.max(1)).saturating_mul(sessions),
        stopped: stopped(&tasks::pauses::list(client).await?, &hosts, &resting),
    })
}

/// Each host has a limit of its own: the one with the most stores is the first that reaches it.
async fn permitted_rate(api: &ApiState, client: &Client, hosts: &[StoresOfHost]) -> Result<Option<f64>, DbError> {
    let all: i64 = hosts.iter().map(|host| host.stores).sum();
    let (host, share) = match hosts.iter().max_by_key(|host| host.stores) {
        Some(most) => (most.host.as_str(), most.stores as f64 / all as f64),
        None => ("", 1.0),
    };
    let settings::Politeness { requests_per_second: rate, concurrency, .. } = api.politeness.current();
    let politeness = HostPoliteness {
        rate,
        concurrency,
        seconds_per_request: schedules::forecast::seconds_per_request(client, host).await?,
        share,
    };
    Ok(politeness.permitted_rate())
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

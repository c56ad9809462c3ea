//! `/api/stats`: charts of runs and requests, from counts by minute, and of stores by day.

use std::time::Duration;

use axum::Json;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer};
use utoipa::IntoParams;

use super::query::{Query, number_within};
use super::{ApiError, Caller, Viewer};
use contract::charts::{Dimension, Grid, MAX_SERIES, Metric, StatsSeries};
use db::counts::charts::{Chart, ChartRequest};
use db::{counts, schema};
use domain::span;
use settings::durations;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SeriesQuery {
    #[param(inline)]
    metric: Metric,
    /// Tasks, waits, runs and products: by role or outcome, by default by role. Requests, blocks, unanswered requests and bytes: by host, proxy or outcome, by
    /// default by host. Requests and bytes also by store.
    #[param(inline)]
    by: Option<Dimension>,
    /// Start of the time range; by default a day before the end.
    #[serde(default, deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    from: Option<DateTime<Utc>>,
    /// Exclusive, but for a day, which is part of it; by default now.
    #[serde(default, deserialize_with = "span::optional_end")]
    #[param(schema_with = span::schema)]
    to: Option<DateTime<Utc>>,
    /// How long a point is: some whole minutes, at most 1,000 points. By default, a step that gives a readable chart.
    /// By store, a point is always one day.
    #[serde(default, deserialize_with = "durations::optional::deserialize")]
    #[param(value_type = Option<String>, example = "1h")]
    step: Option<Duration>,
    /// Maximum number of series; the rest is summed. By default 20, by store 100.
    #[serde(default, deserialize_with = "series_count")]
    #[param(minimum = 1, maximum = 100)]
    series: Option<i64>,
}

/// Counts, point by point. They are kept for 30 days (`retention.stats`).
#[utoipa::path(get, path = "/api/stats/series", tag = "stats", responses((status = 200, body = StatsSeries)))]
pub async fn series(caller: Caller<Viewer>, Query(query): Query<SeriesQuery>) -> Result<Json<StatsSeries>, ApiError> {
    let SeriesQuery { metric, by, from, to, step, series } = query;
    let by = metric.by(by)?;
    let (step, series) = (by.step(step)?, series.unwrap_or(by.default_series()));
    let client = caller.client().await?;
    let to = match to {
        Some(to) => to,
        None => schema::server_info::read(&client).await?.now,
    };
    let from = from.map_or_else(|| Grid::default_from(to), Ok)?;
    let request = ChartRequest { metric, by, grid: Grid::new(from, to, step)?, series };
    let Chart { series, other } = counts::charts::chart(&client, &request).await?;
    let closed_until = match metric.is_of_runs() {
        true => counts::charts::written(&client).await?.runs_until,
        false => None,
    };
    let Grid { from, to, .. } = request.grid;
    let step_seconds = request.grid.step_seconds();
    Ok(Json(StatsSeries { metric, by, from, to, step_seconds, series, other, closed_until }))
}

fn series_count<'de, D: Deserializer<'de>>(from: D) -> Result<Option<i64>, D::Error> {
    number_within(from, 1..=MAX_SERIES)
}

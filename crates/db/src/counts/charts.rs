//! Charts of counts by minute (`stats_minute`, `fetch_minute`) and by day (`fetch_store_day`). Reads only.
//! In: a metric, a dimension and the points. Out: series.
//!
//! The hot tables are not read: minutes are counted beforehand.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;

use crate::statements::{named, sql};
use crate::{Client, DbError};
use contract::charts::{Dimension, Grid, Metric, OtherSeries, Percentiles, SecondsByPoint, Series, Values};
use domain::counts::duration_buckets::DurationBuckets;

#[derive(Clone, Copy, Debug)]
pub struct ChartRequest {
    pub metric: Metric,
    pub by: Dimension,
    pub grid: Grid,
    /// Maximum number of series; the rest is summed.
    pub series: i64,
}

/// The largest series, largest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chart {
    pub series: Vec<Series>,
    pub other: Option<OtherSeries>,
}

/// Time up to which minutes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenMinutes {
    /// Counts of runs in earlier minutes do not change any more.
    pub runs_until: Option<DateTime<Utc>>,
    /// The latest minute with requests, which may still grow.
    pub requests_until: Option<DateTime<Utc>>,
}

pub async fn chart(client: &Client, request: &ChartRequest) -> Result<Chart, DbError> {
    let ChartRequest { metric, by, grid, series } = request;
    let (metric_word, by_word): (&str, &str) = (metric.into(), by.into());
    let rows = named!(client.query_planned(
        "counts/charts/series.sql",
        from = grid.from,
        to = grid.to,
        seconds = grid.step_seconds() as f64,
        metric = metric_word,
        by = by_word,
        series
    ))
    .await?;
    let mut durations = match metric.has_percentiles() {
        true => durations(client, request).await?,
        false => BTreeMap::new(),
    };
    let mut chart = Chart::default();
    for row in &rows {
        let mut values = values(row, request)?;
        let Some(key) = row.try_get::<_, Option<String>>("key")? else {
            chart.other = Some(OtherSeries { series: row.try_get("keys")?, values });
            continue;
        };
        values.percentiles = durations.remove(&key).map(|points| percentiles(&points, request.grid.points()));
        chart.series.push(Series { key, name: row.try_get("name")?, values });
    }
    Ok(chart)
}

/// The distribution of each series and point that has one.
async fn durations(
    client: &Client,
    request: &ChartRequest,
) -> Result<BTreeMap<String, BTreeMap<usize, DurationBuckets>>, DbError> {
    let ChartRequest { metric, by, grid, .. } = request;
    let (metric_word, by_word): (&str, &str) = (metric.into(), by.into());
    let rows = named!(client.query_planned(
        "counts/charts/durations.sql",
        from = grid.from,
        to = grid.to,
        seconds = grid.step_seconds() as f64,
        metric = metric_word,
        by = by_word
    ))
    .await?;
    let mut all: BTreeMap<String, BTreeMap<usize, DurationBuckets>> = BTreeMap::new();
    for row in &rows {
        let Some(point) = grid.point(row.try_get("point")?) else { continue };
        let (buckets, numbers): (Vec<i32>, Vec<i64>) = (row.try_get("buckets")?, row.try_get("numbers")?);
        let distribution = all.entry(row.try_get("key")?).or_default().entry(point).or_default();
        buckets.iter().zip(&numbers).for_each(|(bucket, number)| distribution.add(*bucket, *number));
    }
    Ok(all)
}

fn percentiles(points: &BTreeMap<usize, DurationBuckets>, length: usize) -> Percentiles {
    let mut whole = DurationBuckets::default();
    points.values().for_each(|point| whole.absorb(point));
    let at = |share: f64| SecondsByPoint {
        whole: whole.percentile(share),
        points: (0..length).map(|place| points.get(&place).and_then(|point| point.percentile(share))).collect(),
    };
    Percentiles { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

pub async fn written(client: &Client) -> Result<WrittenMinutes, DbError> {
    let row = client.query_one(sql!("counts/charts/written.sql"), &[]).await?;
    Ok(WrittenMinutes { runs_until: row.try_get("runs_until")?, requests_until: row.try_get("requests_until")? })
}

/// The row's points, each in its position.
fn values(row: &Row, request: &ChartRequest) -> Result<Values, DbError> {
    let times: Vec<DateTime<Utc>> = row.try_get("points")?;
    let numbers: Vec<i64> = row.try_get("numbers")?;
    let seconds: Vec<f64> = row.try_get("seconds")?;
    let length = request.grid.points();
    let (mut points, mut means) = (vec![0; length], vec![None; length]);
    for ((time, number), seconds) in times.iter().zip(&numbers).zip(&seconds) {
        if let Some(place) = request.grid.point(*time) {
            (points[place], means[place]) = (*number, mean(*seconds, *number));
        }
    }
    let total = numbers.iter().sum();
    let whole = mean(seconds.iter().sum(), total);
    let mean_seconds = request.metric.is_timed(request.by).then_some(SecondsByPoint { whole, points: means });
    Ok(Values { total, points, mean_seconds, percentiles: None })
}

fn mean(seconds: f64, number: i64) -> Option<f64> {
    (number > 0).then(|| seconds / number as f64)
}

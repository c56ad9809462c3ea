//! `robots`: the last robots.txt of each host, and the rules that our requests break. One process fetches a
//! file at a time.
//!
//! Times are the database's: results hold the time left, parameters a duration.

use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use crate::statements::{FromRow, named, read_all, rows, sql};
use crate::{Client, DbError};
use contract::hosts::BrokenRule;
use domain::http::robots::{RobotsAnswer, RobotsRecord};

/// Rules and times for display.
#[derive(Clone, Debug)]
pub struct RobotsRow {
    pub authority: String,
    pub rules: Option<String>,
    pub fetched_at: Option<DateTime<Utc>>,
    pub unreachable_since: Option<DateTime<Utc>>,
    pub why: Option<String>,
    pub next_fetch_at: DateTime<Utc>,
    /// The latest first, at most twenty.
    pub breaches: Vec<BrokenRule>,
}

pub async fn read(client: &Client, authority: &str) -> Result<RobotsRecord, DbError> {
    let row = client.query_opt(sql!("hosts/robots/read.sql"), &[&authority]).await?;
    row.map_or_else(|| Ok(RobotsRecord::default()), |row| RobotsRecord::from_row(&row))
}

/// Whether this process shall fetch the file of `authority`, within `limit`.
pub async fn take(client: &Client, authority: &str, host: &str, limit: Duration) -> Result<bool, DbError> {
    let seconds = limit.as_secs_f64();
    Ok(client.execute(sql!("hosts/robots/take.sql"), &[&authority, &host, &seconds]).await? > 0)
}

pub async fn store(client: &Client, authority: &str, answer: &RobotsAnswer) -> Result<(), DbError> {
    let (is_answer, rules, why) = match answer {
        // the server refuses a NUL
        RobotsAnswer::Rules(text) => (true, Some(text.replace('\0', " ")), None),
        RobotsAnswer::NoRules => (true, None, None),
        RobotsAnswer::Unreachable { reason } => (false, None, Some(reason.replace('\0', " "))),
    };
    let lasts = answer.lasts().as_secs_f64();
    named!(client.execute("hosts/robots/store.sql", authority, is_answer, rules, why, seconds = lasts)).await?;
    Ok(())
}

/// Whether to log it: once a day for each rule.
pub async fn report(client: &Client, authority: &str, rule: &str, path: &str) -> Result<bool, DbError> {
    Ok(client.execute(sql!("hosts/robots/report.sql"), &[&authority, &rule, &path]).await? > 0)
}

pub async fn of_host(client: &Client, host: &str) -> Result<Vec<RobotsRow>, DbError> {
    read_all(&client.query(sql!("hosts/robots/of_host.sql"), &[&host]).await?)
}

pub async fn forget(client: &Client, host: &str) -> Result<(), DbError> {
    client.execute(sql!("hosts/robots/forget.sql"), &[&host]).await?;
    Ok(())
}

impl FromRow for RobotsRecord {
    fn from_row(row: &Row) -> Result<RobotsRecord, DbError> {
        let unreachable: Option<f64> = row.try_get("unreachable_s")?;
        let why: Option<String> = row.try_get("why")?;
        Ok(RobotsRecord {
            is_known: row.try_get("is_known")?,
            text: row.try_get("rules")?,
            unreachable: unreachable.map(|passed| (seconds(passed), why.unwrap_or_default())),
            next_fetch: seconds(row.try_get("next_fetch_s")?),
        })
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

rows! {
    RobotsRow {
        authority, rules, fetched_at, unreachable_since, why, next_fetch_at,
        breaches: read_breaches,
    }
}

fn read_breaches(row: &Row, column: &str) -> Result<Vec<BrokenRule>, DbError> {
    let breaches = serde_json::from_value(row.try_get(column)?);
    breaches.map_err(|error| DbError::Other(format!("the rules of a host: {error}")))
}

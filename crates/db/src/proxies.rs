//! `proxies`: the forward proxies. Several processes share the table, so counters are only incremented.
//!
//! Only [`load`] returns passwords; [`passwords`] describes how they are stored. Cooldowns follow the
//! database's clock: [`load`] returns the time left, [`flush`] takes the duration of a cooldown.

pub(crate) mod benches;
pub(crate) mod hosts;
pub mod passwords;
pub mod requests;
pub mod usage;

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use super::proxies::passwords::UnreadableProxy;
use super::{Client, Db, DbError, Tx, proxies};
use crate::statements::{FromRow, column, known_word, named, read_all, rows, sql, word};
use contract::proxies::{ImportCounts, ProxyFilter, ProxyListing};
use domain::proxy::{
    Budgets, ConditionChange, CounterDelta, Counters, HealthCounts, HealthFacts, Proxy, ProxyEntry, ProxyId, ProxyRow,
    RecentRequests, RestingProxies, ShownHealth, StoredState, UsageToday, recent_requests,
};
use foundation::secrets::SecretKeys;

/// Minimum rows of one reading of a list: a filter by health may leave few of them.
const PART: i64 = 500;
/// Maximum bytes of a stored error.
const MAX_ERROR_BYTES: usize = 500;

/// Rows of a pool.
#[derive(Debug, Default)]
pub struct LoadedProxies {
    pub rows: Vec<ProxyRow>,
    /// Proxies left out because their passwords cannot be read.
    pub unreadable: Vec<UnreadableProxy>,
}

/// Every proxy whose protocol the program speaks, switched-off ones too.
pub async fn load(client: &Client, keys: &SecretKeys) -> Result<LoadedProxies, DbError> {
    let mut loaded = LoadedProxies::default();
    let mut benches = proxies::benches::load(client).await?;
    for mut row in read_all::<ProxyRow>(&client.query(sql!("proxies/load.sql"), &[]).await?)? {
        row.host_benches = benches.remove(&row.proxy.id).unwrap_or_default();
        let Proxy { id, host, port, username, password, .. } = &mut row.proxy;
        let port = i32::from(*port);
        let about = proxies::passwords::about(host, port, username.as_deref());
        match password.as_deref().map(|stored| keys.open(stored, &about)).transpose() {
            Ok(read) => {
                *password = read;
                loaded.rows.push(row);
            }
            Err(error) => loaded.unreadable.push(UnreadableProxy { id: *id, host: host.clone(), port, error }),
        }
    }
    Ok(loaded)
}

/// Lists at most `limit` proxies, by id, without their passwords.
pub async fn list(
    client: &Client,
    filter: &ProxyFilter,
    budgets: Budgets,
    limit: i64,
) -> Result<Vec<ProxyListing>, DbError> {
    let mut listed = rows(client, filter, limit).await?;
    if !listed.is_empty() {
        let usage = proxies::usage::today(client).await?;
        listed.iter_mut().for_each(|proxy| note_usage(proxy, budgets, &usage));
    }
    Ok(listed)
}

async fn rows(client: &Client, filter: &ProxyFilter, limit: i64) -> Result<Vec<ProxyListing>, DbError> {
    let found = matching(client, filter, limit).await?;
    let ids = column(&found, |proxy| proxy.id);
    let mut benches = proxies::benches::list(client, &ids).await?;
    let mut hosts = proxies::hosts::list(client, &ids).await?;
    let complete = |mut proxy: ProxyListing| {
        proxy.benched = benches.remove(&proxy.id).unwrap_or_default();
        let hosts = hosts.remove(&proxy.id).unwrap_or_default();
        proxy.with_hosts(hosts)
    };
    Ok(found.into_iter().map(complete).collect())
}

/// Reads part by part where a health is wanted: it is judged here, and not a column.
async fn matching(client: &Client, filter: &ProxyFilter, limit: i64) -> Result<Vec<ProxyListing>, DbError> {
    let ProxyFilter { id, health, mut above } = *filter;
    let part = if health.is_some() { limit.max(PART) } else { limit };
    let (wanted, mut found) = (usize::try_from(limit).unwrap_or_default(), Vec::new());
    loop {
        let sql = sql!("proxies/list.sql");
        let read: Vec<ProxyListing> = read_all(&client.query(sql, &[&id, &above, &part]).await?)?;
        let is_last = read.len() < usize::try_from(part).unwrap_or_default();
        above = read.last().map_or(above, |last| Some(last.id));
        found.extend(read.into_iter().filter(|proxy| health.is_none_or(|health| proxy.health == health)));
        if is_last || found.len() >= wanted {
            found.truncate(wanted);
            return Ok(found);
        }
    }
}

/// `Missing` when the proxy does not exist.
pub async fn get(client: &Client, id: ProxyId, budgets: Budgets) -> Result<ProxyListing, DbError> {
    let mut found = row(client, id).await?;
    note_usage(&mut found, budgets, &proxies::usage::today(client).await?);
    Ok(found)
}

/// The same without its usage.
pub(super) async fn row(client: &Client, id: ProxyId) -> Result<ProxyListing, DbError> {
    let found = rows(client, &ProxyFilter { id: Some(id), ..ProxyFilter::default() }, 1).await?.pop();
    found.ok_or_else(|| DbError::Missing(format!("proxy {id}")))
}

/// Fills in the bytes that the proxy has carried today, and its budget.
fn note_usage(proxy: &mut ProxyListing, budgets: Budgets, usage: &UsageToday) {
    let Some(own) = usage.by_proxy.get(&proxy.id) else { return };
    proxy.bytes_today = own.bytes;
    proxy.budget_left = budgets.left(own, &usage.in_all);
    proxy.rests_until = budgets.rests_until(own, &usage.in_all);
}

/// Number of proxies by their health.
pub async fn count(client: &Client) -> Result<HealthCounts, DbError> {
    client.query(sql!("proxies/count.sql"), &[]).await?.iter().map(ShownHealth::from_row).collect()
}

/// Proxies by their health, and those through which requests may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsableProxies {
    pub counts: HealthCounts,
    /// Number of proxies that are neither off nor benched everywhere.
    pub usable: i64,
}

pub async fn usable(client: &Client) -> Result<UsableProxies, DbError> {
    let mut found = UsableProxies::default();
    let mut healths = Vec::new();
    for row in &client.query(sql!("proxies/count.sql"), &[]).await? {
        let facts = HealthFacts::from_row(row)?;
        healths.push(ShownHealth::of(&facts));
        found.usable += i64::from(!facts.is_off && !facts.is_on_trial);
    }
    found.counts = healths.into_iter().collect();
    Ok(found)
}

/// The proxies that have spent their budget of today. Sums up the minutes of the day; without a budget, it asks nothing.
pub async fn resting(client: &Client, budgets: Budgets) -> Result<RestingProxies, DbError> {
    if !budgets.is_set() {
        return Ok(RestingProxies::default());
    }
    let mut switched_on = Vec::new();
    for row in &client.query(sql!("proxies/count.sql"), &[]).await? {
        if ShownHealth::from_row(row)? != ShownHealth::Off {
            switched_on.push(row.try_get("id")?);
        }
    }
    Ok(RestingProxies::of(&switched_on, budgets, &proxies::usage::today(client).await?))
}

/// Adds `entries`, or changes the password, and state and timezone where given, of existing proxies; all or
/// none. No address may come twice.
pub async fn import(db: &Db, entries: &[ProxyEntry], keys: &SecretKeys) -> Result<ImportCounts, DbError> {
    let tx = db.begin().await?;
    let counts = import_into(&tx, entries, keys).await?;
    tx.commit().await?;
    Ok(counts)
}

/// Workers write their counts ordered by id and a list has any order, so without the lock the two could
/// deadlock.
pub(super) async fn lock(tx: &Tx) -> Result<(), DbError> {
    tx.batch("LOCK TABLE proxies IN SHARE ROW EXCLUSIVE MODE").await
}

/// Same as [`import`], in the caller's transaction.
pub async fn import_into(tx: &Tx, entries: &[ProxyEntry], keys: &SecretKeys) -> Result<ImportCounts, DbError> {
    lock(tx).await?;
    let passwords = proxies::passwords::to_store(tx, entries, keys).await?;
    let rows = named!(tx.query(
        "proxies/import.sql",
        protocols = column(entries, |entry| entry.protocol.name()),
        hosts = column(entries, |entry| entry.host.as_str()),
        ports = column(entries, |entry| i32::from(entry.port)),
        usernames = column(entries, |entry| entry.username.as_deref()),
        passwords,
        states = column(entries, |entry| entry.state_code.as_deref()),
        timezones = column(entries, |entry| entry.timezone.as_deref())
    ))
    .await?;
    let touched: Vec<bool> = rows.iter().map(|row| row.try_get("created")).collect::<Result<_, _>>()?;
    let created = touched.iter().filter(|created| **created).count();
    Ok(ImportCounts { created, updated: touched.len() - created, unchanged: entries.len() - touched.len() })
}

/// Adds the deltas to the rows, at most one per proxy; deltas of missing rows are skipped.
///
/// `now` converts the ends of cooldowns to remaining times. After `Unavailable` the deltas may be written all
/// the same: deltas sent again then count twice, which is better than not at all.
pub async fn flush(client: &Client, deltas: &[CounterDelta], now: Instant) -> Result<(), DbError> {
    proxies::benches::flush(client, deltas, now).await?;
    proxies::hosts::flush(client, deltas).await?;
    named!(client.execute(
        "proxies/flush.sql",
        ids = column(deltas, |delta| delta.proxy),
        used = column(deltas, |delta| delta.used),
        successes = column(deltas, |delta| delta.successes),
        failures = column(deltas, |delta| delta.failures),
        blocks_reset = column(deltas, |delta| delta.blocks_reset),
        blocks = column(deltas, |delta| delta.blocks),
        decay = column(deltas, |delta| delta.latency.decay),
        addend = column(deltas, |delta| delta.latency.add),
        last_errors = column(deltas, |delta| delta.last_error.as_deref().map(printable)),
        changes = column(deltas, |delta| delta.change.map(change_name)),
        cooldowns = column(deltas, |delta| cooldown_seconds(delta.change, now)),
        unanswered_reset = column(deltas, |delta| delta.unanswered_reset),
        unanswered = column(deltas, |delta| delta.unanswered),
        requests = column(deltas, |delta| delta.recent.requests),
        refused = column(deltas, |delta| delta.recent.refused),
        failed = column(deltas, |delta| delta.recent.failed),
        max_requests = recent_requests::MAX_REQUESTS
    ))
    .await?;
    Ok(())
}

/// Removes control characters, because the server refuses a NUL, and cuts the text to a few lines.
fn printable(error: &str) -> String {
    error[..error.floor_char_boundary(MAX_ERROR_BYTES)].replace(char::is_control, " ")
}

fn change_name(change: ConditionChange) -> &'static str {
    match change {
        ConditionChange::Benched { .. } => "benched",
        ConditionChange::Revived => "revived",
    }
}

fn cooldown_seconds(change: Option<ConditionChange>, now: Instant) -> Option<f64> {
    match change {
        Some(ConditionChange::Benched { until }) => Some(until.saturating_duration_since(now).as_secs_f64()),
        _ => None,
    }
}

rows! {
    ProxyRow {
        proxy: row,
        state_code, timezone,
        stored: row,
        host_benches = Vec::new(),
        counters: row,
        idle: idle("idle_s"),
    }

    Proxy { id, protocol: known_word, host, port: port, username, password }

    ProxyListing {
        id,
        protocol: word,
        host, port, username, key,
        health: row,
        healthy_share: healthy_share,
        recent_requests: request_count,
        benched = Vec::new(), hosts = Vec::new(), hosts_text = String::new(),
        is_active, state_code, timezone, last_used_at, success_count, failure_count, consecutive_403_count,
        consecutive_failure_count, avg_response_time_ms, last_failure_at, last_error, cooldown_until,
        bytes_today = 0, budget_left = None, rests_until = None,
        created_at, updated_at,
    }

    Counters {
        success_count, failure_count, consecutive_403_count, consecutive_failure_count,
        recent: row,
        avg_response_time_ms, last_error,
    }

    HealthFacts { is_off, is_benched, is_on_trial, consecutive_403_count, consecutive_failure_count, recent: row }

    RecentRequests { requests: "recent_requests", refused: "recent_refused", failed: "recent_failed" }
}

impl FromRow for ShownHealth {
    fn from_row(row: &Row) -> Result<ShownHealth, DbError> {
        Ok(ShownHealth::of(&HealthFacts::from_row(row)?))
    }
}

impl FromRow for StoredState {
    fn from_row(row: &Row) -> Result<StoredState, DbError> {
        if row.try_get("is_active")? {
            return Ok(StoredState::Active);
        }
        let left = row.try_get::<_, Option<f64>>("cooldown_left_s")?.map(seconds);
        let cooldown_until: Option<DateTime<Utc>> = row.try_get("cooldown_until")?;
        Ok(match (left, cooldown_until) {
            (Some(left), Some(cooldown_until)) => StoredState::Benched { left, cooldown_until },
            _ => StoredState::Off,
        })
    }
}

fn port(row: &Row, column: &str) -> Result<u16, DbError> {
    let port: i32 = row.try_get(column)?;
    u16::try_from(port).map_err(|_| DbError::Other(format!("the port '{port}' of a proxy cannot be read")))
}

fn healthy_share(row: &Row, _: &str) -> Result<Option<f64>, DbError> {
    Ok(RecentRequests::from_row(row)?.healthy_share())
}

fn request_count(row: &Row, _: &str) -> Result<i64, DbError> {
    Ok(RecentRequests::from_row(row)?.requests.round() as i64)
}

fn idle(row: &Row, column: &str) -> Result<Option<Duration>, DbError> {
    Ok(row.try_get::<_, Option<f64>>(column)?.map(seconds))
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO)
}

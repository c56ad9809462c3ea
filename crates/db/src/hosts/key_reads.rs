//! `key_reads`: reads of a platform's key from a public page of a menu. All processes together begin one an hour at most for each
//! platform.
//!
//! Times are the database's. A process that began a read ends it, whatever came of it; the key itself is kept in
//! [`super::rotating_values`].

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::rotating_values;
use crate::access::audit_log;
use crate::statements::{FromRow, named, rows, sql};
use crate::{Client, Db, DbError};
use domain::access::{AuditEntry, Principal};
use domain::store::{Platform, StoreId};

/// Minimum time between the beginnings of two reads.
const INTERVAL: Duration = Duration::from_secs(3600);
/// Maximum time of a read: one that has not ended by then died with its process.
pub const MAX_READ: Duration = Duration::from_secs(60);

/// The last read of a platform's key.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyRead {
    pub begun_at: DateTime<Utc>,
    /// Time from which on a process may begin the next one.
    pub next_read_at: DateTime<Utc>,
    /// The store whose page it was.
    pub store: Option<StoreId>,
    pub ended_at: Option<DateTime<Utc>>,
    /// Why it gave no key.
    pub failure: Option<String>,
    pub is_under_way: bool,
}

/// Result of a read: a key by its digest, and sealed where a key seals it, or the reason why there is none.
pub type KeyReadResult<'a> = Result<(&'a str, Option<&'a str>), &'a str>;

/// Whether this process shall read the key of `platform` from a page of `store`.
pub async fn begin(client: &Client, platform: Platform, store: Option<StoreId>) -> Result<bool, DbError> {
    let (platform, seconds) = (platform.name(), INTERVAL.as_secs_f64());
    Ok(named!(client.execute("hosts/key_reads/begin.sql", platform, seconds, store)).await? > 0)
}

/// Keeps what a read gave, with its entry in the audit. `request`: the run that made it.
pub async fn end(
    db: &Db,
    platform: Platform,
    result: KeyReadResult<'_>,
    request: &str,
    entry: AuditEntry,
) -> Result<(), DbError> {
    let tx = db.begin().await?;
    if let Ok((digest, sealed)) = result {
        rotating_values::keep_key(&tx, platform, digest, sealed).await?;
    }
    tx.execute(sql!("hosts/key_reads/end.sql"), &[&platform.name(), &result.err()]).await?;
    audit_log::commit(tx, &Principal::crawl(), request, &[entry], async |_: &Client| Ok(())).await
}

/// Ends a read for which nothing was sent: the next one is due.
pub async fn give_back(client: &Client, platform: Platform, reason: &str) -> Result<(), DbError> {
    client.execute(sql!("hosts/key_reads/give_back.sql"), &[&platform.name(), &reason]).await?;
    Ok(())
}

/// None where no key of the platform was ever read.
pub async fn get(client: &Client, platform: Platform) -> Result<Option<KeyRead>, DbError> {
    let row = client.query_opt(sql!("hosts/key_reads/get.sql"), &[&platform.name(), &MAX_READ.as_secs_f64()]).await?;
    row.map(|row| KeyRead::from_row(&row)).transpose()
}

rows! {
    KeyRead { begun_at, next_read_at, store, ended_at, failure, is_under_way }
}

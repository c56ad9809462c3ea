//! `idempotency_keys`: answers to requests with an `Idempotency-Key`, so that the same request sent again
//! within a day gets the same answer and changes nothing.

use serde_json::Value;
use tokio_postgres::Row;

use crate::statements::{FromRow, named, sql};
use crate::{Client, DbError, Tx};

/// A kept answer.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptAnswer {
    /// Digest of the answered request.
    pub request: String,
    pub status: u16,
    pub location: Option<String>,
    pub body: Value,
}

/// Takes `key` of `who` for this transaction; waits for another transaction that has taken it. None: this
/// transaction has it, and must [`keep`] an answer. Some: the request was answered before.
pub async fn take(tx: &Tx, who: &str, key: &str, request: &str) -> Result<Option<KeptAnswer>, DbError> {
    let taken = tx.execute(sql!("access/idempotency_keys/reserve.sql"), &[&who, &key, &request]).await?;
    if taken > 0 {
        return Ok(None);
    }
    let row = tx.query_opt(sql!("access/idempotency_keys/find.sql"), &[&who, &key]).await?;
    match row {
        Some(row) => KeptAnswer::from_row(&row).map(Some),
        None => Err(DbError::Contention(format!("the key '{key}' was removed just now"))),
    }
}

pub async fn keep(tx: &Tx, who: &str, key: &str, answer: &KeptAnswer) -> Result<(), DbError> {
    let KeptAnswer { request: _, status, location, body } = answer;
    named!(tx.execute("access/idempotency_keys/answer.sql", who, key, status = i32::from(*status), location, body))
        .await?;
    Ok(())
}

/// Removes at most `batch` keys that are older than a day; returns their number.
pub async fn prune(client: &Client, batch: i64) -> Result<u64, DbError> {
    client.execute(sql!("access/idempotency_keys/prune.sql"), &[&batch]).await
}

impl FromRow for KeptAnswer {
    fn from_row(row: &Row) -> Result<Self, DbError> {
        let status: i32 = row.try_get("status")?;
        Ok(KeptAnswer {
            request: row.try_get("request")?,
            status: u16::try_from(status).map_err(|_| DbError::Other(format!("status {status} of a kept answer")))?,
            location: row.try_get("location")?,
            body: row.try_get("body")?,
        })
    }
}

//! Indexes built while the queue works, by `CREATE INDEX CONCURRENTLY`, which no migration's transaction can
//! hold; built in one, an index of millions of tasks would stop the queue. Without these indexes everything
//! works, but slowly.
//!
//! In: the pools. Out: the number of indexes built. One process builds at a time. A process that dies leaves
//! an invalid index, which is replaced.

use std::time::Duration;

use tokio_postgres::SimpleQueryMessage;

use crate::connection::server::Server;
use crate::statements::sql;
use crate::{Client, Db, DbError};

/// Advisory lock held while building indexes, by a transaction on a connection of its own: no index can be
/// built in a transaction, and a pooler keeps nothing else on one connection. Builds do not wait for it,
/// because it has no snapshot.
const LOCK: &str = "SELECT pg_try_advisory_xact_lock(7345)";
/// Maximum time of that transaction between its two statements.
const MAX_TURN: &str = "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '2h'";
const LOCK_DEADLINE: Duration = Duration::from_secs(5);
/// Each build waits for the transactions that are open when it begins. Longer ones are a person's, and the
/// next turn tries again.
const LOCK_TIMEOUT: &str = "SET lock_timeout = '60s'";

/// Built only where the server has trigrams (migrations/0006_product_search.sql).
const ERROR_TRIGRAMS: &str = "worker_tasks_error_trigrams";

const INDEXES: [(&str, &str); 11] = [
    ("media_items_ownerless", sql!("schema/indexes/media_items_ownerless.sql")),
    ("past_attempts_finished", sql!("schema/indexes/past_attempts_finished.sql")),
    ("worker_tasks_with_error", sql!("schema/indexes/worker_tasks_with_error.sql")),
    (ERROR_TRIGRAMS, sql!("schema/indexes/worker_tasks_error_trigrams.sql")),
    ("worker_tasks_retried", sql!("schema/indexes/worker_tasks_retried.sql")),
    ("worker_tasks_ended_store", sql!("schema/indexes/worker_tasks_ended_store.sql")),
    ("worker_tasks_ended_role", sql!("schema/indexes/worker_tasks_ended_role.sql")),
    ("worker_tasks_ended_worker", sql!("schema/indexes/worker_tasks_ended_worker.sql")),
    ("worker_tasks_ended_schedule", sql!("schema/indexes/worker_tasks_ended_schedule.sql")),
    ("worker_tasks_ended_platform", sql!("schema/indexes/worker_tasks_ended_platform.sql")),
    ("worker_tasks_media", sql!("schema/indexes/worker_tasks_media.sql")),
];

/// Builds missing indexes; None when another process is building.
pub async fn ensure(db: &Db) -> Result<Option<u64>, DbError> {
    if missing(&db.client().await?).await?.is_empty() {
        return Ok(Some(0));
    }
    let Some(_turn) = begin_turn(db.server()).await? else { return Ok(None) };
    let client = db.maintenance_client().await?;
    if !client.is_pooled() {
        client.batch(LOCK_TIMEOUT).await?;
    }
    let mut made = 0;
    for (name, is_broken) in missing(&client).await? {
        let Some((_, create)) = INDEXES.iter().find(|(known, _)| *known == name) else { continue };
        if is_broken {
            client.batch(&format!("DROP INDEX CONCURRENTLY IF EXISTS {name}")).await?;
        }
        client.batch(create).await?;
        made += 1;
    }
    Ok(Some(made))
}

/// The connection that holds the lock, and releases it when dropped; None while another process holds it.
async fn begin_turn(server: &Server) -> Result<Option<tokio_postgres::Client>, DbError> {
    let (client, connection) = server.connect("drover indexes", LOCK_DEADLINE).await?;
    tokio::spawn(connection);
    let lock = async {
        client.batch_execute(MAX_TURN).await?;
        // by the simple protocol: the other one's portal keeps its snapshot, and every build would wait for
        // it
        let answer = client.simple_query(LOCK).await?;
        let is_locked = |message: &SimpleQueryMessage| match message {
            SimpleQueryMessage::Row(row) => row.try_get(0).is_ok_and(|value| value == Some("t")),
            _ => false,
        };
        Ok::<_, DbError>(answer.iter().any(is_locked))
    };
    let silent = |_| DbError::Unavailable(format!("the server did not answer within {LOCK_DEADLINE:?}"));
    let is_held = tokio::time::timeout(LOCK_DEADLINE, lock).await.map_err(silent)??;
    Ok(is_held.then_some(client))
}

/// Name, and whether an invalid part of it exists.
async fn missing(client: &Client) -> Result<Vec<(String, bool)>, DbError> {
    let names: Vec<&str> = INDEXES.iter().map(|(name, _)| *name).collect();
    let rows = client.query(sql!("schema/indexes/missing.sql"), &[&names, &ERROR_TRIGRAMS]).await?;
    rows.iter().map(|row| Ok((row.try_get("name")?, row.try_get("is_broken")?))).collect()
}

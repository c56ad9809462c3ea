//! `Client` (one borrowed connection) and `Tx` (one transaction), each call under a deadline.
//!
//! The driver knows no deadlines, and dropping its futures cancels nothing; both are covered here, and only here.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use deadpool_postgres::Object;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::connect::Server;
use super::error::DbError;

type Params<'a> = &'a [&'a (dyn ToSql + Sync)];
type TypedParams<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

/// One borrowed connection. Dropped in the middle of a call, it is cancelled and closed, never returned to the pool.
pub struct Client {
    object: Option<Object>,
    server: Server,
    deadline: Duration,
    until: Option<Instant>,
    state: State,
}

/// What must be known before the next call, and when the client is dropped.
#[derive(Default)]
struct State {
    /// Calls without an answer yet: the server may still be at them.
    open_calls: AtomicUsize,
    /// A call met its deadline; there will be no other.
    gave_up: AtomicBool,
    /// The session is not what the next borrower expects.
    discard: AtomicBool,
}

impl Client {
    /// `deadline` is each call's own.
    pub(super) fn new(object: Object, server: Server, deadline: Duration) -> Self {
        Client { object: Some(object), server, deadline, until: None, state: State::default() }
    }

    pub async fn query(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, DbError> {
        self.within(async |object| {
            let statement = object.prepare_cached(sql).await?;
            object.query(&statement, params).await
        })
        .await
    }

    /// Like [`Client::query`], but planned for these very values each time: for filters that may be absent.
    pub async fn query_planned(&self, sql: &str, params: TypedParams<'_>) -> Result<Vec<Row>, DbError> {
        self.within(async |object| object.query_typed(sql, params).await).await
    }

    /// At most one row.
    pub async fn query_opt(&self, sql: &str, params: Params<'_>) -> Result<Option<Row>, DbError> {
        self.within(async |object| {
            let statement = object.prepare_cached(sql).await?;
            object.query_opt(&statement, params).await
        })
        .await
    }

    /// Exactly one row; none is an error.
    pub async fn query_one(&self, sql: &str, params: Params<'_>) -> Result<Row, DbError> {
        self.within(async |object| {
            let statement = object.prepare_cached(sql).await?;
            object.query_one(&statement, params).await
        })
        .await
    }

    /// The number of rows touched.
    pub async fn execute(&self, sql: &str, params: Params<'_>) -> Result<u64, DbError> {
        self.within(async |object| {
            let statement = object.prepare_cached(sql).await?;
            object.execute(&statement, params).await
        })
        .await
    }

    /// Statements without parameters, separated by semicolons.
    pub async fn batch(&self, sql: &str) -> Result<(), DbError> {
        self.within(async |object| object.batch_execute(sql).await).await
    }

    /// Closes the connection instead of giving it back.
    pub fn discard_when_done(&self) {
        self.state.discard.store(true, Ordering::Relaxed);
    }

    async fn within<T>(
        &self,
        call: impl AsyncFnOnce(&Object) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, DbError> {
        let Some(object) = self.object.as_ref().filter(|_| !self.state.gave_up.load(Ordering::Relaxed)) else {
            return Err(DbError::Unavailable("the connection was given up in an earlier call".to_owned()));
        };
        let left = self.until.map_or(self.deadline, |until| until.saturating_duration_since(Instant::now()));
        self.state.open_calls.fetch_add(1, Ordering::Relaxed);
        let Ok(answer) = tokio::time::timeout(left, call(object)).await else {
            self.state.gave_up.store(true, Ordering::Relaxed);
            return Err(DbError::TooSlow(format!("no answer within {left:?}")));
        };
        self.state.open_calls.fetch_sub(1, Ordering::Relaxed);
        answer.map_err(DbError::from).inspect_err(|error| self.distrust_after(error))
    }

    /// Any failure but a rule's own word may be this connection's fault: a statement prepared before a migration.
    fn distrust_after(&self, error: &DbError) {
        if !matches!(error, DbError::Conflict { .. } | DbError::Missing(_)) {
            self.discard_when_done();
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let Some(object) = self.object.take() else { return };
        let in_call = self.state.open_calls.load(Ordering::Relaxed) > 0;
        if in_call {
            cancel(&self.server, &object);
        }
        if in_call || self.state.discard.load(Ordering::Relaxed) {
            // taken out of its pool it is closed; the pool makes a new one when it needs it
            drop(Object::take(object));
        }
    }
}

/// Closing alone would let the statement run on, with its locks, until its own time-out.
fn cancel(server: &Server, object: &Object) {
    let (server, token) = (server.clone(), object.cancel_token());
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move { server.cancel(token).await });
    }
}

/// One open transaction. Dropped without [`Tx::commit`], its connection closes and the server rolls back.
pub struct Tx {
    client: Client,
    open: bool,
}

impl Tx {
    /// `deadline` is that of the transaction as a whole.
    pub(super) async fn begin(mut client: Client, deadline: Duration) -> Result<Tx, DbError> {
        client.until = Some(Instant::now() + deadline);
        client.batch(&format!("BEGIN; SET LOCAL statement_timeout = {}", deadline.as_millis())).await?;
        Ok(Tx { client, open: true })
    }

    /// `Unavailable` from here means that nobody knows whether it was committed: look before doing anything again.
    pub async fn commit(mut self) -> Result<(), DbError> {
        self.client.batch("COMMIT").await?;
        self.open = false;
        Ok(())
    }

    pub async fn rollback(mut self) -> Result<(), DbError> {
        self.client.batch("ROLLBACK").await?;
        self.open = false;
        Ok(())
    }
}

impl Deref for Tx {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        if self.open {
            self.client.discard_when_done();
        }
    }
}

//! `Client` (one borrowed connection) and `Tx` (one transaction), each call under a deadline.
//!
//! The driver has no deadlines, and dropping its futures cancels nothing on the server. This file adds both,
//! and no other does.

use std::ops::{ControlFlow, Deref};
use std::pin::pin;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use deadpool_postgres::Object;
use futures_util::{FutureExt, TryStreamExt};
use tokio::time::timeout;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::parameter_types::ParameterTypes;
use super::server::{FIXED_SETTINGS, Server};
use crate::{DbError, pipeline};

type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A parameter of a statement, and its type.
pub(crate) type TypedParam<'a> = (&'a (dyn ToSql + Sync), Type);

/// Maximum time in which a live server confirms that it cancelled a statement.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// The settings of a session, set in each transaction where drover has no session of its own.
static LOCAL_SETTINGS: LazyLock<String> = LazyLock::new(|| {
    let settings = FIXED_SETTINGS.map(|(name, value)| format!("; SET LOCAL {name} = '{value}'"));
    format!("{}; SET TRANSACTION ISOLATION LEVEL READ COMMITTED", settings.concat())
});

/// COMMIT alone rolls a failed transaction back and reports success; the server refuses any statement before
/// it.
const COMMIT: &str = "SELECT; COMMIT";

/// One borrowed connection. Dropped in the middle of a call, it is cancelled and closed, and does not return
/// to the pool.
pub struct Client {
    object: Option<Object>,
    server: Server,
    deadline: Duration,
    until: Option<Instant>,
    sending: Sending,
    state: State,
}

/// How a connection sends its statements.
#[derive(Clone)]
pub(crate) enum Sending {
    /// Statements are prepared at their first use.
    Prepared,
    /// Prepared only where the types of the parameters are unknown: each statement runs once.
    OneOff,
    /// Never prepared, and no setting outlives a transaction: behind a pooler, the next statement may run
    /// on another connection.
    Pooled(ParameterTypes),
}

/// State of the connection, which the next call and the drop read.
#[derive(Default)]
struct State {
    /// Calls without an answer: the server may still run them.
    open_calls: AtomicUsize,
    /// A call exceeded its deadline: its cancel request may arrive late, and would hit the next statement.
    gave_up: AtomicBool,
    /// The session differs from the state that the next borrower expects.
    discard: AtomicBool,
}

impl Client {
    /// `deadline` holds for each call by itself.
    pub(crate) fn new(object: Object, server: Server, deadline: Duration, sending: Sending) -> Self {
        Client { object: Some(object), server, deadline, until: None, sending, state: State::default() }
    }

    pub async fn query(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, DbError> {
        self.within(async |object| {
            if let Sending::Pooled(types) = &self.sending {
                return Ok(object.query_typed(sql, &typed(types, object, sql, params).await?).await?);
            }
            let statement = object.prepare_cached(sql).await?;
            Ok::<_, DbError>(object.query(&statement, params).await?)
        })
        .await
    }

    /// Same as [`Client::query`], but planned for the given values each time: for filters that may be absent.
    pub async fn query_planned(&self, sql: &str, params: &[TypedParam<'_>]) -> Result<Vec<Row>, DbError> {
        self.within(async |object| object.query_typed(sql, params).await).await
    }

    /// Same as [`Client::query_planned`], for rows that are too many to keep: passes each to `read`, until it breaks off.
    pub async fn read_planned(
        &self,
        sql: &str,
        params: &[TypedParam<'_>],
        mut read: impl FnMut(&Row) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), DbError> {
        self.within(async |object| {
            let mut rows = pin!(object.query_typed_raw(sql, params.iter().cloned()).await?);
            while let Some(row) = rows.try_next().await? {
                if read(&row)?.is_break() {
                    break;
                }
            }
            Ok::<_, DbError>(())
        })
        .await
    }

    /// Same as [`Client::query`], with the types of the parameters: a command that runs each statement once saves the wait
    /// for its preparation.
    pub async fn query_typed(&self, sql: &str, params: &[TypedParam<'_>]) -> Result<Vec<Row>, DbError> {
        if let Sending::OneOff | Sending::Pooled(_) = self.sending {
            return self.query_planned(sql, params).await;
        }
        let values: Vec<_> = params.iter().map(|(value, _)| *value).collect();
        self.query(sql, &values).await
    }

    /// Reads at most one row.
    pub async fn query_opt(&self, sql: &str, params: Params<'_>) -> Result<Option<Row>, DbError> {
        self.within(async |object| {
            if let Sending::Pooled(types) = &self.sending {
                return Ok(object.query_typed_opt(sql, &typed(types, object, sql, params).await?).await?);
            }
            let statement = object.prepare_cached(sql).await?;
            Ok::<_, DbError>(object.query_opt(&statement, params).await?)
        })
        .await
    }

    /// Reads exactly one row; none is an error.
    pub async fn query_one(&self, sql: &str, params: Params<'_>) -> Result<Row, DbError> {
        self.within(async |object| {
            if let Sending::Pooled(types) = &self.sending {
                return Ok(object.query_typed_one(sql, &typed(types, object, sql, params).await?).await?);
            }
            let statement = object.prepare_cached(sql).await?;
            Ok::<_, DbError>(object.query_one(&statement, params).await?)
        })
        .await
    }

    /// The number of rows touched.
    pub async fn execute(&self, sql: &str, params: Params<'_>) -> Result<u64, DbError> {
        self.within(async |object| {
            if let Sending::Pooled(types) = &self.sending {
                return Ok(object.execute_typed(sql, &typed(types, object, sql, params).await?).await?);
            }
            let statement = object.prepare_cached(sql).await?;
            Ok::<_, DbError>(object.execute(&statement, params).await?)
        })
        .await
    }

    /// Runs statements without parameters, separated by semicolons.
    pub async fn batch(&self, sql: &str) -> Result<(), DbError> {
        self.within(async |object| object.batch_execute(sql).await).await
    }

    /// Sends statements without parameters and does not wait for their answer: later statements run after
    /// them.
    fn send(&self, sql: &str) {
        let Some(object) = self.object.as_ref().filter(|_| !self.is_discarded()) else { return };
        // the first poll hands the statements to the connection
        if let Some(Err(_)) = object.batch_execute(sql).now_or_never() {
            self.discard_when_done();
        }
    }

    /// A pooler is between this connection and the server.
    pub(crate) fn is_pooled(&self) -> bool {
        matches!(self.sending, Sending::Pooled(_))
    }

    /// Whether the connection is closed, not returned to the pool.
    fn is_discarded(&self) -> bool {
        self.state.open_calls.load(Ordering::Relaxed) > 0 || self.state.discard.load(Ordering::Relaxed)
    }

    /// Closes the connection at the end, and does not return it to the pool.
    pub fn discard_when_done(&self) {
        self.state.discard.store(true, Ordering::Relaxed);
    }

    /// Runs a call within the deadline.
    pub(crate) async fn within<T, E>(&self, call: impl AsyncFnOnce(&Object) -> Result<T, E>) -> Result<T, DbError>
    where
        DbError: From<E>,
    {
        let Some(object) = self.object.as_ref().filter(|_| !self.state.gave_up.load(Ordering::Relaxed)) else {
            return Err(DbError::Unavailable("the connection was closed after an earlier deadline".to_owned()));
        };
        let remaining = self.until.map_or(self.deadline, |until| until.saturating_duration_since(Instant::now()));
        if remaining.is_zero() {
            return Err(DbError::TooSlow("the deadline of the transaction has passed".to_owned()));
        }
        self.state.open_calls.fetch_add(1, Ordering::Relaxed);
        let mut call = pin!(call(object));
        let answer = match timeout(remaining, &mut call).await {
            Ok(answer) => answer,
            Err(_) => self.answer_after_cancel(object, call, remaining).await?,
        };
        self.state.open_calls.fetch_sub(1, Ordering::Relaxed);
        answer.map_err(DbError::from).inspect_err(|error| self.discard_after(error))
    }

    /// Cancels a call that exceeded its deadline. A live server answers the cancellation at once, which
    /// distinguishes a slow statement from a silent server. The connection is not used again.
    async fn answer_after_cancel<T>(
        &self,
        object: &Object,
        call: impl Future<Output = T>,
        waited: Duration,
    ) -> Result<T, DbError> {
        self.state.gave_up.store(true, Ordering::Relaxed);
        self.discard_when_done();
        cancel(&self.server, object);
        match timeout(CANCEL_TIMEOUT, call).await {
            Ok(answer) => Ok(answer),
            Err(_) => Err(DbError::Unavailable(format!("the server did not answer within {waited:?}"))),
        }
    }

    /// Discards the connection after any failure except a violated constraint: the connection itself may be at fault.
    fn discard_after(&self, error: &DbError) {
        if !matches!(error, DbError::Conflict { .. } | DbError::Missing(_) | DbError::NoTable(_) | DbError::Aborted) {
            self.discard_when_done();
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let Some(object) = self.object.take() else { return };
        if self.state.open_calls.load(Ordering::Relaxed) > 0 {
            cancel(&self.server, &object);
        }
        if self.is_discarded() {
            // an object taken out of its pool is closed when it is dropped, and the pool makes a new one
            drop(Object::take(object));
        }
    }
}

/// The parameters with the types that the server expects.
async fn typed<'a>(
    types: &ParameterTypes,
    object: &Object,
    sql: &str,
    params: Params<'a>,
) -> Result<Vec<TypedParam<'a>>, DbError> {
    if params.is_empty() {
        return Ok(Vec::new());
    }
    let types = types.of(sql, object).await?;
    if types.len() != params.len() {
        return Err(DbError::Other(format!("{} parameters for a statement with {}", params.len(), types.len())));
    }
    Ok(params.iter().copied().zip(types.iter().cloned()).collect())
}

/// A closed connection alone would leave the statement running, with its locks, until the server's own
/// timeout.
fn cancel(server: &Server, object: &Object) {
    let (server, token) = (server.clone(), object.cancel_token());
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move { server.cancel(token).await });
    }
}

/// One open transaction. Dropped without [`Tx::commit`], it is rolled back.
pub struct Tx {
    client: Client,
    open: bool,
}

impl Tx {
    /// `deadline` bounds the whole transaction, `max_lock_wait` each wait for a lock. The first statement
    /// shows whether the connection works.
    pub(crate) fn begin(mut client: Client, deadline: Duration, max_lock_wait: Duration) -> Tx {
        client.until = Some(Instant::now() + deadline);
        let timeout = deadline.as_millis();
        let lock_timeout = max_lock_wait.as_millis();
        let mut begin =
            format!("BEGIN; SET LOCAL statement_timeout = {timeout}; SET LOCAL lock_timeout = {lock_timeout}");
        if client.is_pooled() {
            begin += &LOCAL_SETTINGS;
        }
        client.send(&begin);
        Tx { client, open: true }
    }

    /// Reads from one snapshot, and writes nothing. Call it before the first statement.
    pub(crate) fn into_snapshot(self) -> Tx {
        self.client.send("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
        self
    }

    /// Commits. After `Unavailable` the outcome of the commit is unknown: look before running the transaction again.
    pub async fn commit(mut self) -> Result<(), DbError> {
        self.client.batch(COMMIT).await?;
        self.open = false;
        Ok(())
    }

    /// Same as [`Tx::commit`], after one last statement and beside a read; none of the three waits for another. If the
    /// statement fails, nothing is committed. The read may also run right after the commit.
    pub async fn commit_with<T>(
        mut self,
        sql: &str,
        params: &[TypedParam<'_>],
        read: impl AsyncFnOnce(&Client) -> Result<T, DbError>,
    ) -> Result<T, DbError> {
        let client = &self.client;
        // planned for these values alone: the first poll sends the statement, so the server gets it before
        // the COMMIT
        let commit = pipeline(client.query_planned(sql, params), client.batch(COMMIT));
        let (found, _) = pipeline(read(client), commit).await?;
        self.open = false;
        Ok(found)
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
            self.client.send("ROLLBACK");
        }
    }
}

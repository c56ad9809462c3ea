//! `Db` (the pools), `Client` (one borrowed connection) and `Tx` (one transaction), each call under a deadline.
//!
//! deadpool's own time-outs do not cover queries, so they are covered here, and only here.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use deadpool_postgres::{Hook, HookError, ManagerConfig, Object, Pool, RecyclingMethod, Runtime, Timeouts};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::connect::Server;
use super::error::DbError;
use crate::config;

type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// How many connections each pool may hold.
#[derive(Clone, Copy, Debug)]
pub struct PoolSizes {
    pub work: usize,
    pub api: usize,
}

/// Every way to the database but the heartbeat's and LISTEN's own connections. Cheap to clone.
#[derive(Clone)]
pub struct Db {
    server: Server,
    work: Pool,
    api: Pool,
    deadlines: Deadlines,
}

#[derive(Clone, Copy)]
struct Deadlines {
    connect: Duration,
    statement: Duration,
    transaction: Duration,
    maintenance: Duration,
}

impl Db {
    /// Makes the pools; connects nothing yet. `url` is a libpq URL or key-value string.
    pub fn new(url: &str, config: &config::Database, sizes: PoolSizes) -> Result<Db, DbError> {
        let deadlines = Deadlines {
            connect: config.connect_timeout,
            statement: config.statement_timeout,
            transaction: config.transaction_timeout,
            maintenance: config.maintenance_timeout,
        };
        let server = Server::parse(url, config.connect_timeout)?;
        let (work, api) = (pool(&server, config, sizes.work)?, pool(&server, config, sizes.api)?);
        Ok(Db { server, work, api, deadlines })
    }

    /// For connections of one's own, such as the heartbeat's.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// A connection for work, within the connect deadline.
    pub async fn client(&self) -> Result<Client, DbError> {
        self.borrow(&self.work, self.deadlines.statement).await
    }

    /// A connection for the HTTP API, which work can never starve.
    pub async fn api_client(&self) -> Result<Client, DbError> {
        self.borrow(&self.api, self.deadlines.statement).await
    }

    /// A connection for migrations and refreshes of views, with minutes to run.
    pub async fn maintenance_client(&self) -> Result<Client, DbError> {
        let client = self.borrow(&self.work, self.deadlines.maintenance).await?;
        let millis = self.deadlines.maintenance.as_millis();
        client.batch(&format!("SET statement_timeout = {millis}")).await?;
        // the setting must not travel back into the pool
        client.discard_when_done();
        Ok(client)
    }

    /// Begins a write transaction, which has its own, longer deadline as a whole.
    pub async fn begin(&self) -> Result<Tx, DbError> {
        self.begin_within(self.deadlines.transaction).await
    }

    /// Begins a transaction that may take minutes: migrations.
    pub async fn begin_maintenance(&self) -> Result<Tx, DbError> {
        self.begin_within(self.deadlines.maintenance).await
    }

    async fn begin_within(&self, deadline: Duration) -> Result<Tx, DbError> {
        let mut client = self.borrow(&self.work, deadline).await?;
        client.until = Some(Instant::now() + deadline);
        client.batch(&format!("BEGIN; SET LOCAL statement_timeout = {}", deadline.as_millis())).await?;
        Ok(Tx { client, open: true })
    }

    async fn borrow(&self, pool: &Pool, deadline: Duration) -> Result<Client, DbError> {
        let connect = self.deadlines.connect;
        let object = match tokio::time::timeout(connect, pool.get()).await {
            Ok(object) => object?,
            Err(_) => return Err(DbError::Unavailable(format!("no connection within {connect:?}"))),
        };
        Ok(Client { object: Some(object), server: self.server.clone(), deadline, until: None, state: State::default() })
    }
}

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
    pub async fn query(&self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, DbError> {
        self.within(async |object| {
            let statement = object.prepare_cached(sql).await?;
            object.query(&statement, params).await
        })
        .await
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
            return Err(DbError::Unavailable(format!("no answer within {left:?}")));
        };
        self.state.open_calls.fetch_sub(1, Ordering::Relaxed);
        answer.map_err(DbError::from)
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

fn pool(server: &Server, config: &config::Database, size: usize) -> Result<Pool, DbError> {
    let manager = server.manager(ManagerConfig { recycling_method: RecyclingMethod::Fast });
    let settings = session_settings(config);
    let timeouts = Timeouts {
        wait: Some(config.connect_timeout),
        create: Some(config.connect_timeout),
        recycle: Some(config.connect_timeout),
    };
    Pool::builder(manager)
        .max_size(size)
        .timeouts(timeouts)
        .runtime(Runtime::Tokio1)
        .post_create(Hook::async_fn(move |client, _| {
            let settings = settings.clone();
            Box::pin(async move { client.batch_execute(&settings).await.map_err(HookError::Backend) })
        }))
        .build()
        .map_err(|error| DbError::Other(error.to_string()))
}

/// The server's half of the deadlines; a frozen process must not keep rows locked against its successor.
fn session_settings(config: &config::Database) -> String {
    format!(
        "SET application_name = 'drover'; SET timezone = 'UTC'; SET statement_timeout = {}; \
         SET idle_in_transaction_session_timeout = '10s'",
        config.statement_timeout.as_millis()
    )
}

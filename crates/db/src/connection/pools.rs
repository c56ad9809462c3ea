//! `Db`: the connection pools. A borrow returns a connection or `Unavailable` within `connect_timeout` and
//! [`BORROW_GRACE`].
//!
//! The pools recover from an outage by themselves: a closed connection is detected before it is lent, and
//! replaced.

use std::time::{Duration, Instant};

use deadpool_postgres::{
    Hook, HookError, ManagerConfig, Pool, PoolError, RecyclingMethod, Runtime, TimeoutType, Timeouts,
};
use futures_util::FutureExt;

use super::client::{Client, Sending, Tx};
use super::parameter_types::ParameterTypes;
use super::server::{Server, lock_timeout};
use crate::error::DbError;
use telemetry::events;

/// Maximum number of connections of each pool.
#[derive(Clone, Copy, Debug)]
pub struct PoolSizes {
    pub work: usize,
    pub api: usize,
}

/// Added to the pool's own deadlines, for a connection that first waits for its turn and is then slow to
/// open.
const BORROW_GRACE: Duration = Duration::from_secs(1);

/// All connections to the database except those of the heartbeat and of LISTEN. Cheap to clone.
#[derive(Clone)]
pub struct Db {
    server: Server,
    work: NamedPool,
    api: NamedPool,
    deadlines: Deadlines,
    sending: Sending,
}

#[derive(Clone)]
struct NamedPool {
    /// Name as a label of metrics.
    name: &'static str,
    pool: Pool,
}

#[derive(Clone, Copy)]
struct Deadlines {
    connect: Duration,
    statement: Duration,
    transaction: Duration,
    maintenance: Duration,
}

impl Db {
    /// Makes the pools; opens no connection yet. `url` is a libpq URL or key-value string.
    pub fn new(url: &str, config: &settings::Database, sizes: PoolSizes) -> Result<Db, DbError> {
        let deadlines = Deadlines {
            connect: config.connect_timeout,
            statement: config.statement_timeout,
            transaction: config.transaction_timeout,
            maintenance: config.maintenance_timeout,
        };
        let server = Server::parse(url, config.connect_timeout)?.behind_pooler(config.pooler);
        let sending = match config.pooler {
            true => Sending::Pooled(ParameterTypes::default()),
            false => Sending::Prepared,
        };
        let work = NamedPool { name: "work", pool: pool(&server, config, sizes.work)? };
        let api = NamedPool { name: "api", pool: pool(&server, config, sizes.api)? };
        Ok(Db { server, work, api, deadlines, sending })
    }

    /// Database of a command, which runs its statements one by one and each once: work and API share the connections.
    pub fn one_off(&self) -> Db {
        let sending = match &self.sending {
            Sending::Prepared => Sending::OneOff,
            other => other.clone(),
        };
        Db { api: self.work.clone(), sending, ..self.clone() }
    }

    /// Server for connections outside the pools, such as the heartbeat's.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Borrows a connection for work, within the connect deadline.
    pub async fn client(&self) -> Result<Client, DbError> {
        self.borrow(&self.work, self.deadlines.statement).await
    }

    /// Borrows a connection for the HTTP API, which work cannot starve.
    pub async fn api_client(&self) -> Result<Client, DbError> {
        self.borrow(&self.api, self.deadlines.statement).await
    }

    /// Borrows a connection for migrations and refreshes of views, with minutes to run.
    pub async fn maintenance_client(&self) -> Result<Client, DbError> {
        let client = self.borrow(&self.work, self.deadlines.maintenance).await?;
        if client.is_pooled() {
            // the account's own statement_timeout holds: docs/deploy.md
            return Ok(client);
        }
        let millis = self.deadlines.maintenance.as_millis();
        client.batch(&format!("SET statement_timeout = {millis}")).await?;
        // the setting must not stay in the pool
        client.discard_when_done();
        Ok(client)
    }

    /// Begins a write transaction, which has a longer deadline of its own for the whole.
    pub async fn begin(&self) -> Result<Tx, DbError> {
        self.begin_within(&self.work, self.deadlines.transaction, self.deadlines.transaction).await
    }

    /// Begins a transaction that may take minutes: a migration, or an import of stores.
    pub async fn begin_maintenance(&self) -> Result<Tx, DbError> {
        self.begin_within(&self.work, self.deadlines.maintenance, self.deadlines.maintenance).await
    }

    /// Begins a write transaction of the HTTP API, on a connection that work cannot starve. A client waits
    /// for the answer, so it waits for a lock no longer than a single statement does.
    pub async fn begin_api(&self) -> Result<Tx, DbError> {
        self.begin_within(&self.api, self.deadlines.transaction, self.deadlines.statement).await
    }

    /// Begins a read of the HTTP API by several statements that see one moment.
    pub async fn api_snapshot(&self) -> Result<Tx, DbError> {
        Ok(self.begin_api().await?.into_snapshot())
    }

    async fn begin_within(&self, pool: &NamedPool, deadline: Duration, lock_deadline: Duration) -> Result<Tx, DbError> {
        Ok(Tx::begin(self.borrow(pool, deadline).await?, deadline, lock_timeout(lock_deadline)))
    }

    async fn borrow(&self, from: &NamedPool, deadline: Duration) -> Result<Client, DbError> {
        let longest = self.deadlines.connect + BORROW_GRACE;
        let begun = Instant::now();
        let Ok(object) = tokio::time::timeout(longest, from.pool.get()).await else {
            return Err(DbError::Unavailable(format!("no connection within {longest:?}")));
        };
        // the wait for a server that does not answer says nothing about the number of connections
        if matches!(object, Ok(_) | Err(PoolError::Timeout(TimeoutType::Wait))) {
            events::connection_awaited(from.name, begun.elapsed());
        }
        Ok(Client::new(object?, self.server.clone(), deadline, self.sending.clone()))
    }
}

fn pool(server: &Server, config: &settings::Database, size: usize) -> Result<Pool, DbError> {
    let manager = server.manager(ManagerConfig { recycling_method: RecyclingMethod::Fast });
    let settings = server.session_settings("drover", config.statement_timeout);
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
            // not awaited: the first statement runs after it
            let sent = client.batch_execute(&settings).now_or_never();
            let failed = sent.and_then(Result::err).map(HookError::Backend);
            Box::pin(std::future::ready(failed.map_or(Ok(()), Err)))
        }))
        .build()
        .map_err(|error| DbError::Other(error.to_string()))
}

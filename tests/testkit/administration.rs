//! Statements that make and drop the databases of tests, on a few connections that all tests share: a connection costs
//! the server as much processor time as a third of a database.
//!
//! The connections live in a runtime that outlives the tests.

use std::sync::mpsc::channel;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::{Client, Error, NoTls};

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
/// Connections that no test uses at the moment.
static IDLE: Mutex<Vec<Client>> = Mutex::new(Vec::new());

/// Runs a statement on the shared server at `url`.
pub async fn execute(url: &str, statement: String) -> Result<(), Error> {
    RUNTIME.spawn(on_idle_connection(url.to_owned(), statement)).await.unwrap()
}

/// Same as [`execute`], at the end of a test, whose own runtime is ending too. Waits no longer than `deadline`.
pub fn execute_within(url: &str, statement: String, deadline: Duration) {
    let (is_done, done) = channel();
    let work = on_idle_connection(url.to_owned(), statement);
    RUNTIME.spawn(async move { is_done.send(work.await) });
    let _ = done.recv_timeout(deadline);
}

async fn on_idle_connection(url: String, statement: String) -> Result<(), Error> {
    let idle = idle().pop().filter(|client| !client.is_closed());
    let client = match idle {
        Some(client) => client,
        None => connect(&url).await?,
    };
    let ended = client.batch_execute(&statement).await;
    idle_again(client);
    ended
}

async fn connect(url: &str) -> Result<Client, Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

fn idle_again(client: Client) {
    idle().push(client);
}

fn idle() -> MutexGuard<'static, Vec<Client>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Every call comes back in time, and a connection that did not answer is never used again.

use std::time::Duration;

use db::{Db, DbError, PoolSizes, pipeline};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const SOON: Duration = Duration::from_secs(60);

/// The test waits its deadline out, and other statements are answered within it.
fn impatient(url: &str) -> Db {
    with_deadline(url, Duration::from_secs(1))
}

/// Database with deadlines that no statement comes near, on a busy machine either.
fn patient(url: &str) -> Db {
    with_deadline(url, Duration::from_secs(30))
}

/// One connection, so that the next borrower would meet the last one's leftovers.
fn with_deadline(url: &str, statement_timeout: Duration) -> Db {
    let settings = settings::Database { statement_timeout, ..testkit::database_settings() };
    Db::new(url, &settings, PoolSizes { work: 1, api: 1 }).unwrap()
}

async fn sleepers(database: &testkit::TestDatabase) -> i64 {
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND query LIKE 'SELECT pg_sleep%'";
    database.raw.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn a_statement_that_exceeds_its_deadline_is_cancelled_and_called_slow() {
    let database = testkit::database().await;
    let db = impatient(&database.url);
    let client = db.client().await.unwrap();
    // the server's own time-out must not end it first
    client.batch("SET statement_timeout = 0").await.unwrap();

    let error = client.query("SELECT pg_sleep(60)", &[]).await.unwrap_err();
    assert!(matches!(error, DbError::TooSlow(_)), "{error}");
    let error = client.query("SELECT 1", &[]).await.unwrap_err();
    assert!(matches!(error, DbError::Unavailable(_)), "the cancel request may hit the next statement: {error}");
    drop(client);

    testkit::until("the statement has ended on the server", SOON, async || sleepers(&database).await == 0).await;
    assert_eq!(db.client().await.unwrap().query_one("SELECT 1", &[]).await.unwrap().get::<_, i32>(0), 1);
}

#[tokio::test]
async fn a_server_that_falls_silent_is_unavailable_and_no_statement_is_called_slow() {
    let database = testkit::database().await;
    let db = impatient(&database.url);
    let client = db.client().await.unwrap();
    let pid: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    let backend = FrozenProcess::freeze(pid);
    let error = client.query("SELECT 1", &[]).await.unwrap_err();
    drop(backend);
    assert!(matches!(error, DbError::Unavailable(_)) && error.is_external(), "{error}");
    assert!(error.to_string().contains("the server did not answer within 1s"), "{error}");
}

/// A process that is stopped until this is dropped.
struct FrozenProcess(Pid);

impl FrozenProcess {
    fn freeze(pid: i32) -> FrozenProcess {
        kill(Pid::from_raw(pid), Signal::SIGSTOP).unwrap();
        FrozenProcess(Pid::from_raw(pid))
    }
}

impl Drop for FrozenProcess {
    fn drop(&mut self) {
        let _ = kill(self.0, Signal::SIGCONT);
    }
}

#[tokio::test]
async fn a_lock_that_is_held_too_long_is_contention_and_not_a_slow_statement() {
    let database = testkit::database().await;
    // a tenth of it lies between the two time-outs: enough for a busy machine
    let db = with_deadline(&database.url, Duration::from_secs(3));
    database.raw.batch_execute("CREATE TABLE held (id int)").await.unwrap();
    database.raw.batch_execute("BEGIN; LOCK TABLE held").await.unwrap();
    let error = db.client().await.unwrap().query("SELECT FROM held", &[]).await.unwrap_err();
    assert!(matches!(error, DbError::Contention(_)) && error.is_external(), "{error}");
}

#[tokio::test]
async fn the_victim_of_a_deadlock_may_run_its_transaction_again() {
    let database = testkit::database().await;
    database.raw.batch_execute("CREATE TABLE pair (id int); INSERT INTO pair VALUES (1), (2)").await.unwrap();
    let (first, second) = (database.db.begin().await.unwrap(), database.db.begin().await.unwrap());
    let update = "UPDATE pair SET id = id WHERE id = $1";
    first.execute(update, &[&1]).await.unwrap();
    second.execute(update, &[&2]).await.unwrap();
    let (one, other) = tokio::join!(first.execute(update, &[&2]), async {
        let outcome = second.execute(update, &[&1]).await;
        if outcome.is_err() {
            let _ = second.rollback().await;
        }
        outcome
    });
    let error = one.err().or(other.err()).expect("one of them is the victim");
    assert!(matches!(error, DbError::Contention(_)), "{error}");
    assert!(!error.to_string().contains("unavailable"), "{error}");
}

#[tokio::test]
async fn a_pool_without_a_free_connection_says_so_and_a_silent_server_says_otherwise() {
    let database = testkit::database().await;
    // waited out twice, and the first connection is made within it
    let settings = settings::Database { connect_timeout: Duration::from_secs(1), ..testkit::database_settings() };
    let db = Db::new(&database.url, &settings, PoolSizes { work: 1, api: 1 }).unwrap();
    let held = db.client().await.unwrap();
    let busy = db.client().await.err().unwrap().to_string();
    assert!(busy.contains("every connection of the pool is in use"), "{busy}");
    drop(held);

    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgresql://drover@{}/drover", silent.local_addr().unwrap());
    let db = Db::new(&url, &settings, PoolSizes { work: 1, api: 1 }).unwrap();
    let silent = db.client().await.err().unwrap().to_string();
    assert!(silent.contains("the server does not answer"), "{silent}");
}

#[tokio::test]
async fn the_heartbeats_connection_is_named_and_has_limits_on_the_server() {
    let database = testkit::database().await;
    let deadline = Duration::from_secs(4);
    let (client, connection) = database.db.server().connect("drover heartbeat", deadline).await.unwrap();
    tokio::spawn(connection);
    let setting = async |name: &str| {
        let row = client.query_one("SELECT current_setting($1)", &[&name]).await.unwrap();
        row.get::<_, String>(0)
    };
    assert_eq!(setting("application_name").await, "drover heartbeat");
    assert_eq!(setting("statement_timeout").await, "4s");
    assert_eq!(setting("lock_timeout").await, "3600ms");
    assert_eq!(setting("idle_in_transaction_session_timeout").await, "10s");
    assert_eq!(setting("jit").await, "off");
}

#[tokio::test]
async fn a_dropped_future_is_cancelled_and_does_not_poison_the_pool() {
    let database = testkit::database().await;
    let db = patient(&database.url);
    {
        let client = db.client().await.unwrap();
        client.batch("SET statement_timeout = 0").await.unwrap();
        let sleeping = client.query("SELECT pg_sleep(60)", &[]);
        let watching = testkit::until("the statement runs", SOON, async || sleepers(&database).await == 1);
        tokio::select! {
            biased;
            () = watching => {}
            answer = sleeping => panic!("it should have slept on: {answer:?}"),
        }
    }
    testkit::until("the statement has ended on the server", SOON, async || sleepers(&database).await == 0).await;
    assert_eq!(db.client().await.unwrap().query_one("SELECT 2", &[]).await.unwrap().get::<_, i32>(0), 2);
}

#[tokio::test]
async fn a_frozen_transaction_loses_its_locks() {
    let database = testkit::database().await;
    database.raw.batch_execute("CREATE TABLE held (id int); INSERT INTO held VALUES (1)").await.unwrap();
    let frozen = database.db.begin().await.unwrap();
    frozen.execute("UPDATE held SET id = 2", &[]).await.unwrap();

    testkit::until("its successor can have the row", Duration::from_secs(60), async || {
        let lock = "SELECT FROM held FOR UPDATE NOWAIT";
        database.raw.query(lock, &[]).await.is_ok()
    })
    .await;
    let error = frozen.commit().await.unwrap_err();
    assert!(error.is_transient(), "{error}");
    let id: i32 = database.raw.query_one("SELECT id FROM held", &[]).await.unwrap().get(0);
    assert_eq!(id, 1);
}

#[tokio::test]
async fn a_database_that_never_answers_is_unavailable_within_the_connect_deadline() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgresql://drover@{}/drover", silent.local_addr().unwrap());
    assert_unavailable_soon(&url).await;
}

#[tokio::test]
async fn a_database_that_is_not_there_is_unavailable() {
    assert_unavailable_soon("postgresql:///drover?host=/nowhere&user=drover").await;
}

async fn assert_unavailable_soon(url: &str) {
    let connect_timeout = Duration::from_millis(300);
    let statement_timeout = 4 * SOON;
    let settings = settings::Database { connect_timeout, statement_timeout, ..testkit::database_settings() };
    let db = Db::new(url, &settings, PoolSizes { work: 1, api: 1 }).unwrap();
    let begun = std::time::Instant::now();
    let error = db.client().await.err().unwrap();
    assert!(error.is_transient(), "{error}");
    assert!(begun.elapsed() < SOON, "another deadline than that of connections ended it");
}

#[tokio::test]
async fn a_dropped_transaction_is_rolled_back() {
    let database = testkit::database().await;
    database.raw.batch_execute("CREATE TABLE written (id int)").await.unwrap();
    let tx = database.db.begin().await.unwrap();
    tx.execute("INSERT INTO written VALUES (1)", &[]).await.unwrap();
    drop(tx);
    let tx = database.db.begin().await.unwrap();
    tx.execute("INSERT INTO written VALUES (2)", &[]).await.unwrap();
    tx.commit().await.unwrap();
    let ids: Vec<i32> =
        database.raw.query("SELECT id FROM written", &[]).await.unwrap().iter().map(|row| row.get(0)).collect();
    assert_eq!(ids, [2]);
}

#[tokio::test]
async fn a_dropped_transaction_gives_its_connection_back() {
    let database = testkit::database().await;
    database.raw.batch_execute("CREATE TABLE written (id int)").await.unwrap();
    let db = patient(&database.url);
    let tx = db.begin().await.unwrap();
    let backend: i32 = tx.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    tx.execute("INSERT INTO written VALUES (1)", &[]).await.unwrap();
    drop(tx);
    let client = db.client().await.unwrap();
    let sql = "SELECT pg_backend_pid(), (SELECT count(*) FROM written)";
    let row = client.query_one(sql, &[]).await.unwrap();
    assert_eq!((row.get::<_, i32>(0), row.get::<_, i64>(1)), (backend, 0));
}

#[tokio::test]
async fn statements_prepared_before_a_migration_do_not_outlive_it() {
    let database = testkit::database().await;
    let db = patient(&database.url);
    database.raw.batch_execute("CREATE TABLE grows (a int)").await.unwrap();
    db.client().await.unwrap().query("SELECT * FROM grows", &[]).await.unwrap();
    database.raw.batch_execute("ALTER TABLE grows ADD b int").await.unwrap();
    let error = db.client().await.unwrap().query("SELECT * FROM grows", &[]).await.unwrap_err();
    assert!(error.is_transient(), "{error}");
    db.client().await.unwrap().query("SELECT * FROM grows", &[]).await.unwrap();
}

#[tokio::test]
async fn a_plan_that_a_migration_made_invalid_is_contention_and_another_refusal_is_not() {
    let database = testkit::database().await;
    let client = database.db.client().await.unwrap();
    database.raw.batch_execute("CREATE TABLE growing (id int)").await.unwrap();
    client.query("SELECT * FROM growing", &[]).await.unwrap();
    database.raw.batch_execute("ALTER TABLE growing ADD COLUMN more text").await.unwrap();
    let error = client.query("SELECT * FROM growing", &[]).await.unwrap_err();
    assert!(matches!(error, DbError::Contention(_)), "{error}");
    let error = client.batch("ALTER TABLE worker_tasks ALTER COLUMN platform TYPE varchar(20)").await.unwrap_err();
    assert!(matches!(error, DbError::Other(_)), "{error}");
}

#[tokio::test]
async fn a_transaction_in_which_a_statement_failed_cannot_be_committed() {
    let database = testkit::database().await;
    let tx = database.db.begin().await.unwrap();
    tx.batch("CREATE TABLE half (id int)").await.unwrap();
    assert!(tx.batch("SELECT 1 / 0").await.is_err());
    let committed = tx.commit().await;
    assert!(matches!(committed, Err(DbError::Aborted)), "{committed:?}");
}

#[tokio::test]
async fn of_statements_sent_together_the_one_that_failed_is_told() {
    let database = testkit::database().await;
    let tx = database.db.begin().await.unwrap();
    let refused = async {
        tx.batch("SELECT 1").await?;
        tx.batch("SELECT 'refused after the failure of the other'").await
    };
    let error = pipeline(refused, tx.batch("SELECT 1 / 0")).await.unwrap_err();
    assert!(error.to_string().contains("division by zero"), "{error}");
    tx.rollback().await.unwrap();
    let client = database.db.client().await.unwrap();
    let both = pipeline(client.query("SELECT 1", &[]), client.query("SELECT 2", &[])).await.unwrap();
    assert_eq!((both.0[0].get::<_, i32>(0), both.1[0].get::<_, i32>(0)), (1, 2));
}

#[tokio::test]
async fn transactions_are_read_committed_whatever_the_database_says() {
    let database = testkit::database().await;
    let alter = format!("ALTER DATABASE {} SET default_transaction_isolation = 'serializable'", database.name);
    database.raw.batch_execute(&alter).await.unwrap();
    let db = patient(&database.url);
    let tx = db.begin().await.unwrap();
    let level: String = tx.query_one("SHOW transaction_isolation", &[]).await.unwrap().get(0);
    assert_eq!(level, "read committed");
}

#[tokio::test]
async fn a_request_waits_for_a_lock_no_longer_than_a_statement_does() {
    let database = testkit::database().await;
    database.raw.batch_execute("BEGIN; LOCK TABLE worker_tasks").await.unwrap();
    let mut enqueue = testkit::drover();
    enqueue.args(["enqueue", "--role", "analytics_refresh"]).env("DATABASE_URL", &database.url);
    let output = enqueue.output().await.unwrap();
    assert_eq!(output.status.code(), Some(69), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn a_search_path_without_a_schema_is_named_with_its_remedy() {
    let empty = testkit::empty_database().await;
    let alter = format!("ALTER DATABASE {} SET search_path = 'elsewhere'", empty.name);
    empty.raw.batch_execute(&alter).await.unwrap();
    let mut up = testkit::drover();
    let output = up.args(["migrate", "up"]).env("DATABASE_URL", &empty.url).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(78), "{said}");
    assert!(said.contains("search_path"), "{said}");
}

//! Migrations on a real database, in use.

use std::time::{Duration, Instant};

use db::schema;
use db::schema::migrate::MigrateError;

#[tokio::test]
async fn eight_processes_at_once_all_start_and_one_migrates() {
    let database = testkit::empty_database().await;
    let runs: Vec<_> = (0..8)
        .map(|_| {
            let url = database.url.clone();
            tokio::spawn(async move {
                let sizes = db::PoolSizes { work: 1, api: 1 };
                let db = db::Db::new(&url, &testkit::database_settings(), sizes).unwrap();
                schema::migrate::up(&db).await.unwrap()
            })
        })
        .collect();
    let mut worked = 0;
    for run in runs {
        worked += usize::from(run.await.unwrap() != schema::migrate::Report::default());
    }
    assert_eq!(worked, 1);
    assert!(schema::migrate::status(&database.db).await.unwrap().is_current());
}

#[tokio::test]
async fn a_migration_that_was_changed_afterwards_is_refused_by_name() {
    let database = testkit::database().await;
    database.raw.execute("UPDATE schema_migrations SET checksum = 'x' WHERE version = 1", &[]).await.unwrap();
    let error = schema::migrate::up(&database.db).await.unwrap_err();
    assert!(matches!(&error, MigrateError::Changed(name) if name.starts_with("0001_")), "{error}");
}

#[tokio::test]
async fn a_database_from_the_future_is_refused() {
    let database = testkit::database().await;
    let insert = "INSERT INTO schema_migrations (version, name, checksum) VALUES (9999, '9999_future', 'x')";
    database.raw.execute(insert, &[]).await.unwrap();
    let error = schema::migrate::up(&database.db).await.unwrap_err();
    assert!(matches!(&error, MigrateError::Unknown(name) if name == "9999_future"), "{error}");
}

#[tokio::test]
async fn a_failing_migration_leaves_nothing_behind() {
    let database = testkit::empty_database().await;
    // an object that a later migration creates is there already
    database.raw.batch_execute("CREATE TABLE worker_tasks ()").await.unwrap();
    let error = schema::migrate::up(&database.db).await.unwrap_err();
    assert!(matches!(error, MigrateError::Failed { .. }), "{error}");
    let tables: i64 =
        database.raw.query_one("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", &[]).await.unwrap().get(0);
    assert_eq!(tables, 1);

    database.raw.batch_execute("DROP TABLE worker_tasks").await.unwrap();
    schema::migrate::up(&database.db).await.unwrap();
}

#[tokio::test]
async fn a_view_with_other_columns_is_replaced() {
    let database = testkit::database().await;
    let made_by_an_older_program = "
        DROP VIEW v_worker_capacity CASCADE;
        CREATE VIEW v_worker_capacity AS SELECT 1 AS one;
        UPDATE schema_objects SET checksum = 'older'";
    database.raw.batch_execute(made_by_an_older_program).await.unwrap();
    let report = schema::migrate::up(&database.db).await.unwrap();
    assert!(report.applied.is_empty() && !report.objects.is_empty(), "{report:?}");
    database.raw.batch_execute("SELECT pending_tasks FROM v_worker_capacity").await.unwrap();
    assert_eq!(schema::migrate::up(&database.db).await.unwrap(), schema::migrate::Report::default());
}

#[tokio::test]
async fn check_tells_scripts_by_its_exit_code() {
    let database = testkit::empty_database().await;
    let exit_code = async |command: &str| {
        let mut drover = testkit::drover();
        drover.args(["migrate", command, "--json"]).env("DATABASE_URL", &database.url);
        drover.output().await.unwrap().status.code()
    };
    assert_eq!(exit_code("check").await, Some(1));
    assert_eq!(exit_code("up").await, Some(0));
    assert_eq!(exit_code("check").await, Some(0));
}

#[tokio::test]
async fn a_process_makes_no_tables_in_another_programs_database() {
    let database = testkit::empty_database().await;
    database.raw.batch_execute("CREATE TABLE orders (id int); CREATE EXTENSION IF NOT EXISTS pg_trgm").await.unwrap();
    let run = async |args: &[&str]| {
        let output = testkit::drover().args(args).env("DATABASE_URL", &database.url).output().await.unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for args in [&["worker"][..], &["enqueue", "--role", "analytics_refresh"]] {
        let (code, said) = run(args).await;
        assert_eq!(code, Some(78), "{said}");
        assert!(said.contains("orders") && said.contains("drover migrate up"), "{said}");
    }
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(database.raw.query_one(tables, &[]).await.unwrap().get::<_, i64>(0), 1);
    assert_eq!(run(&["migrate", "up"]).await.0, Some(0));
    assert_eq!(run(&["enqueue", "--role", "analytics_refresh"]).await.0, Some(0));
}

/// Row of an object that an older program made.
const OLDER: &str = "UPDATE schema_objects SET checksum = 'older', revision = 0";

#[tokio::test]
async fn functions_with_another_result_and_overloads_with_other_arguments_are_replaced() {
    let database = testkit::database().await;
    let made_by_an_older_program = "
        DROP FUNCTION recover_stale_tasks(int);
        CREATE FUNCTION recover_stale_tasks(minutes int) RETURNS text LANGUAGE sql AS 'SELECT 1::text';
        CREATE FUNCTION recover_stale_tasks(minutes int, force boolean DEFAULT true) RETURNS int LANGUAGE sql AS 'SELECT 1'";
    database.raw.batch_execute(made_by_an_older_program).await.unwrap();
    database.raw.batch_execute(OLDER).await.unwrap();
    schema::migrate::up(&database.db).await.unwrap();
    let recovered = database.raw.query_one("SELECT recover_stale_tasks(10)", &[]).await.unwrap();
    assert_eq!(recovered.get::<_, i32>(0), 0);
}

#[tokio::test]
async fn an_object_that_did_not_change_is_not_touched() {
    let database = testkit::database().await;
    let versions = async || -> Vec<(String, String)> {
        let sql = "SELECT tgname::text, xmin::text FROM pg_trigger WHERE NOT tgisinternal
                   UNION ALL SELECT proname::text, xmin::text FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
                   ORDER BY 1, 2";
        let rows = database.raw.query(sql, &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    };
    let before = versions().await;
    let one = "UPDATE schema_objects SET checksum = 'older' WHERE name = '60_capacity'";
    database.raw.batch_execute(one).await.unwrap();
    assert_eq!(schema::migrate::up(&database.db).await.unwrap().objects, ["60_capacity"]);
    assert_eq!(versions().await, before);
}

#[tokio::test]
async fn an_older_program_starts_beside_newer_objects_and_leaves_them() {
    let database = testkit::database().await;
    let made_by_a_newer_program = "
        CREATE OR REPLACE FUNCTION recover_stale_tasks(minutes int) RETURNS int LANGUAGE sql AS 'SELECT 4711';
        UPDATE schema_objects SET checksum = 'newer', revision = 1000000 WHERE name = '90_psql'";
    database.raw.batch_execute(made_by_a_newer_program).await.unwrap();
    assert_eq!(schema::migrate::up(&database.db).await.unwrap(), schema::migrate::Report::default());
    let status = schema::migrate::status(&database.db).await.unwrap();
    assert!(status.is_current() && status.has_newer_objects, "{status:?}");
    let answer = database.raw.query_one("SELECT recover_stale_tasks(10)", &[]).await.unwrap();
    assert_eq!(answer.get::<_, i32>(0), 4711);
}

#[tokio::test]
async fn claims_go_on_while_objects_wait_for_a_reader_to_leave() {
    let database = testkit::database().await;
    let reader = testkit::connect(&database.url).await;
    // locks the view and every table under it
    reader.batch_execute("BEGIN; SELECT FROM v_worker_capacity; SELECT FROM task_attempts").await.unwrap();
    database.raw.batch_execute(OLDER).await.unwrap();
    let db = database.db.clone();
    let migrating = tokio::spawn(async move { schema::migrate::up(&db).await });
    let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'";
    testkit::until("a view waits for its reader", Duration::from_secs(60), async || {
        database.raw.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) > 0
    })
    .await;

    claim_for(&database, Duration::from_secs(4)).await;
    assert!(!migrating.is_finished(), "the reader should hold it up");
    reader.batch_execute("COMMIT").await.unwrap();
    assert!(!migrating.await.unwrap().unwrap().objects.is_empty());
}

/// Enqueues and claims for a while. A claim that the migration really holds up runs into its deadline.
async fn claim_for(database: &testkit::TestDatabase, time: Duration) {
    let begun = Instant::now();
    let client = testkit::connect(&database.url).await;
    client.batch_execute("SET statement_timeout = '20s'").await.unwrap();
    while begun.elapsed() < time {
        client.batch_execute(r#"SELECT enqueue_tasks('[{"role": "analytics_refresh"}]')"#).await.unwrap();
        let claimed = client.query("SELECT FROM claim_task('analytics_refresh', 'me')", &[]).await.unwrap();
        assert_eq!(claimed.len(), 1);
    }
}

#[tokio::test]
async fn commands_that_only_read_refuse_an_outdated_schema_and_change_nothing() {
    let database = testkit::empty_database().await;
    for command in [
        "tasks list",
        "tasks show 1",
        "workers list",
        "stores list",
        "proxies list",
        "proxies check",
        "schedules list",
        "payload show 1",
        "platforms hashes list",
    ] {
        let mut program = testkit::drover();
        let output = program.args(command.split(' ')).env("DATABASE_URL", &database.url).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(69), "{command}: {said}");
        assert!(said.contains("drover migrate up"), "{command}: {said}");
    }
    let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(database.raw.query_one(tables, &[]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_read_only_server_can_be_read() {
    let database = testkit::database().await;
    let read_only = format!("ALTER DATABASE {} SET default_transaction_read_only = on", database.name);
    database.raw.batch_execute(&read_only).await.unwrap();
    let output = testkit::drover().args(["tasks", "list"]).env("DATABASE_URL", &database.url).output().await.unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn a_schema_that_cannot_be_compared_ends_a_command_within_the_statements_deadline() {
    let database = testkit::database().await;
    database.raw.batch_execute("BEGIN; LOCK TABLE schema_migrations").await.unwrap();
    let mut list = testkit::drover();
    list.args(["tasks", "list"]).env("DATABASE_URL", &database.url).env("DROVER__DATABASE__STATEMENT_TIMEOUT", "500ms");
    let output = tokio::time::timeout(testkit::PATIENCE, list.output()).await.expect("it hangs").unwrap();
    assert_eq!(output.status.code(), Some(69), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test]
async fn a_session_that_forgot_its_commit_is_ended_by_the_database() {
    let database = testkit::empty_database().await;
    schema::migrate::up(&database.db).await.unwrap();
    let session = testkit::connect(&database.url).await;
    let limit = session.query_one("SHOW idle_in_transaction_session_timeout", &[]).await.unwrap();
    assert_eq!(limit.get::<_, String>(0), "5min");
}

#[tokio::test]
async fn a_view_whose_rows_a_function_returns_is_replaced() {
    let database = testkit::database().await;
    let made_by_an_older_program = "
        DROP FUNCTION claimed_with(uuid);
        DROP VIEW claimed_tasks;
        CREATE VIEW claimed_tasks AS SELECT 1 AS one, id FROM worker_tasks;
        CREATE FUNCTION claimed_with(token uuid) RETURNS SETOF claimed_tasks LANGUAGE sql AS 'SELECT * FROM claimed_tasks'";
    database.raw.batch_execute(made_by_an_older_program).await.unwrap();
    database.raw.batch_execute(OLDER).await.unwrap();
    schema::migrate::up(&database.db).await.unwrap();
    database.raw.batch_execute("SELECT fence FROM claimed_with(gen_random_uuid())").await.unwrap();
}

#[tokio::test]
async fn cron_lines_of_the_former_reading_keep_their_times() {
    let lines = [
        ("0 30 6 * * *", "0 30 6 * * *"),
        ("0 0 6 * * 1", "0 0 6 * * SUN"),
        ("0 0 6 * * 2-6", "0 0 6 * * MON-FRI"),
        ("0 0 6 ? * 1,7", "0 0 6 ? * SUN,SAT"),
        ("0 0 6 * * 2/2", "0 0 6 * * MON-SAT/2"),
        ("0 0 6 * * 1-7/3", "0 0 6 * * SUN-SAT/3"),
        ("0 0 6 * * */2", "0 0 6 * * */2"),
        ("0 0 6 13 * 6", "0 0 6 13 * +FRI"),
        ("0 0 6 13 * Friday", "0 0 6 13 * +Friday"),
        ("  0 0  6 1 1 * 2027 ", "0 0 6 1 1 * 2027"),
        ("@weekly", "@weekly"),
        ("now and then", "now and then"),
    ];
    let database = testkit::database().await;
    let before = "ALTER TABLE task_schedules DROP COLUMN time_zone CASCADE; DELETE FROM schema_migrations WHERE name LIKE '%cron_lines'";
    database.raw.batch_execute(before).await.unwrap();
    for (line, _) in lines {
        let insert = "INSERT INTO task_schedules (name, role, cron, next_run_at) VALUES ($1, 'payload_fetch', $1, now() + interval '1 day')";
        database.raw.execute(insert, &[&line]).await.unwrap();
    }
    schema::migrate::up(&database.db).await.unwrap();
    for (line, after) in lines {
        let row = database.raw.query_one("SELECT cron FROM task_schedules WHERE name = $1", &[&line]).await.unwrap();
        assert_eq!(row.get::<_, String>(0), after, "of '{line}'");
    }
}

#[tokio::test]
async fn a_database_that_is_not_utf8_is_refused_before_anything_is_made() {
    let database = testkit::empty_database().await;
    let name: String = database.raw.query_one("SELECT current_database()", &[]).await.unwrap().get(0);
    let create = "ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0";
    database.raw.batch_execute(&format!("CREATE DATABASE latin_{name} {create}")).await.unwrap();
    let url = database.url.replace(&name, &format!("latin_{name}"));
    for command in [&["migrate", "up"][..], &["doctor"]] {
        let mut drover = testkit::drover();
        let output = drover.args(command).env("DATABASE_URL", &url).output().await.unwrap();
        let text = [output.stdout.clone(), output.stderr.clone()].map(|text| String::from_utf8(text).unwrap()).concat();
        assert!(!output.status.success() && text.contains("LATIN1") && text.contains("TEMPLATE template0"), "{text}");
    }
    let db = db::Db::new(&url, &testkit::database_settings(), db::PoolSizes { work: 1, api: 1 }).unwrap();
    let client = db.client().await.unwrap();
    let tables = client.query_one("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", &[]).await.unwrap();
    assert_eq!(tables.try_get::<_, i64>(0).unwrap(), 0);
}

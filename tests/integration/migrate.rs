//! Migrations on a real database.

use drover::db::migrate::{self, MigrateError};

use crate::support;

#[tokio::test]
async fn eight_processes_at_once_all_start_and_one_migrates() {
    let database = support::empty_database().await;
    let runs: Vec<_> = (0..8)
        .map(|_| {
            let url = database.url.clone();
            tokio::spawn(async move {
                let sizes = drover::db::PoolSizes { work: 1, api: 1 };
                let db = drover::db::Db::new(&url, &support::database_settings(), sizes).unwrap();
                migrate::up(&db).await.unwrap()
            })
        })
        .collect();
    let mut worked = 0;
    for run in runs {
        worked += usize::from(run.await.unwrap() != migrate::Report::default());
    }
    assert_eq!(worked, 1);
    assert!(migrate::status(&database.db).await.unwrap().is_current());
}

#[tokio::test]
async fn a_migration_that_was_changed_afterwards_is_refused_by_name() {
    let database = support::database().await;
    database.raw.execute("UPDATE schema_migrations SET checksum = 'x' WHERE version = 1", &[]).await.unwrap();
    let error = migrate::up(&database.db).await.unwrap_err();
    assert!(matches!(&error, MigrateError::Changed(name) if name.starts_with("0001_")), "{error}");
}

#[tokio::test]
async fn a_database_from_the_future_is_refused() {
    let database = support::database().await;
    let insert = "INSERT INTO schema_migrations (version, name, checksum) VALUES (9999, '9999_future', 'x')";
    database.raw.execute(insert, &[]).await.unwrap();
    let error = migrate::up(&database.db).await.unwrap_err();
    assert!(matches!(&error, MigrateError::Unknown(name) if name == "9999_future"), "{error}");
}

#[tokio::test]
async fn a_failing_migration_leaves_nothing_behind() {
    let database = support::empty_database().await;
    // what a later migration wants to make is there already
    database.raw.batch_execute("CREATE TABLE worker_tasks ()").await.unwrap();
    let error = migrate::up(&database.db).await.unwrap_err();
    assert!(matches!(error, MigrateError::Failed { .. }), "{error}");
    let tables: i64 =
        database.raw.query_one("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'", &[]).await.unwrap().get(0);
    assert_eq!(tables, 1);

    database.raw.batch_execute("DROP TABLE worker_tasks").await.unwrap();
    migrate::up(&database.db).await.unwrap();
}

#[tokio::test]
async fn views_with_other_columns_are_made_anew() {
    let database = support::database().await;
    let made_by_an_older_program = "
        DROP VIEW v_worker_capacity CASCADE;
        CREATE VIEW v_worker_capacity AS SELECT 1 AS one;
        UPDATE schema_objects SET checksum = 'older'";
    database.raw.batch_execute(made_by_an_older_program).await.unwrap();
    let report = migrate::up(&database.db).await.unwrap();
    assert!(report.applied.is_empty() && !report.objects.is_empty(), "{report:?}");
    database.raw.batch_execute("SELECT pending_tasks FROM v_worker_capacity").await.unwrap();
    assert_eq!(migrate::up(&database.db).await.unwrap(), migrate::Report::default());
}

#[tokio::test]
async fn check_tells_scripts_by_its_exit_code() {
    let database = support::empty_database().await;
    let exit_code = async |command: &str| {
        let mut drover = support::drover();
        drover.args(["migrate", command, "--json"]).env("DATABASE_URL", &database.url);
        drover.output().await.unwrap().status.code()
    };
    assert_eq!(exit_code("check").await, Some(1));
    assert_eq!(exit_code("up").await, Some(0));
    assert_eq!(exit_code("check").await, Some(0));
}

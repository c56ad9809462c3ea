//! A reader reads the views and the menu at a time, and nothing else: no table, no other function, no other database.

use tokio_postgres::error::SqlState;

use super::{login_of, reader_of, refused, texts, url_of};

const DENIED: Option<SqlState> = Some(SqlState::INSUFFICIENT_PRIVILEGE);
const NOTHING: [&str; 0] = [];

#[tokio::test]
async fn a_reader_reads_each_view() {
    let database = testkit::database().await;
    let reader = reader_of(&database).await;
    let views =
        texts(&reader, "SELECT relname::text FROM pg_class WHERE relnamespace = 'drover_v1'::regnamespace").await;
    assert_eq!(views.len(), 5);
    for view in views {
        assert_eq!(
            refused(&reader, &format!("SELECT * FROM drover_v1.{view}; SELECT * FROM {view}")).await,
            None,
            "{view}"
        );
    }
}

#[tokio::test]
async fn a_reader_reads_no_table_and_no_other_view() {
    let database = testkit::database().await;
    let reader = reader_of(&database).await;
    let all = "SELECT c.oid::regclass::text FROM pg_class c
                WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relnamespace = 'public'::regnamespace";
    let tables = texts(&database.raw, all).await;
    assert!(tables.len() > 60, "{}", tables.len());
    for table in tables {
        assert_eq!(refused(&reader, &format!("SELECT FROM public.{table}")).await, DENIED, "{table}");
    }
}

#[tokio::test]
async fn a_reader_has_no_right_on_any_relation_but_to_read_the_views() {
    let database = testkit::database().await;
    let reader = reader_of(&database).await;
    let rights = "
        SELECT format('%s %s', c.oid::regclass, r.name)
          FROM pg_class c
         CROSS JOIN unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE,REFERENCES,TRIGGER}'::text[]) AS r(name)
         WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
           AND has_table_privilege(c.oid, r.name)
           AND NOT (c.relnamespace = 'drover_v1'::regnamespace AND r.name = 'SELECT')
         UNION ALL
        SELECT c.oid::regclass::text FROM pg_class c
         WHERE CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(c.oid, 'USAGE,SELECT,UPDATE') END
         UNION ALL
        SELECT nspname::text FROM pg_namespace WHERE has_schema_privilege(oid, 'CREATE')";
    assert_eq!(texts(&reader, rights).await, NOTHING);
}

#[tokio::test]
async fn a_reader_calls_no_function_of_drover() {
    let database = testkit::database().await;
    let reader = reader_of(&database).await;
    let open = "
        SELECT f.oid::regprocedure::text FROM pg_proc f
         WHERE f.pronamespace = 'public'::regnamespace AND has_function_privilege(f.oid, 'EXECUTE')
           AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_proc'::regclass AND e.objid = f.oid AND e.deptype = 'e')";
    assert_eq!(texts(&reader, open).await, NOTHING);
    for call in
        ["claim_task(NULL, 'me')", "sweep_all()", "recover_stale_tasks(0)", "try_lock_sweep()", "publish_changes(1)"]
    {
        assert_eq!(refused(&reader, &format!("SELECT * FROM public.{call}")).await, DENIED, "{call}");
    }
}

#[tokio::test]
async fn a_reader_alone_calls_the_functions_of_drover_v1() {
    let database = testkit::database().await;
    let login = format!("{}_stranger", database.name);
    let stranger = format!("CREATE ROLE {login} LOGIN; GRANT USAGE ON SCHEMA drover_v1 TO {login}");
    database.raw.batch_execute(&stranger).await.unwrap();
    let stranger = testkit::connect(&url_of(&database.url, &login.parse().unwrap())).await;
    let reader = reader_of(&database).await;
    let call = "SELECT * FROM drover_v1.menu_as_of(1, now())";
    assert_eq!([refused(&reader, call).await, refused(&stranger, call).await], [None, DENIED]);
}

#[tokio::test]
async fn a_reader_of_a_release_before_may_call_a_function_that_comes() {
    let database = testkit::database().await;
    let reader = reader_of(&database).await;
    let older = "DROP FUNCTION drover_v1.menu_as_of;
                 ALTER DEFAULT PRIVILEGES IN SCHEMA drover_v1 REVOKE EXECUTE ON FUNCTIONS FROM drover_reader;
                 DELETE FROM schema_objects WHERE name = '07_menu_as_of'";
    database.raw.batch_execute(older).await.unwrap();
    db::schema::migrate::up(&database.db).await.unwrap();
    assert_eq!(refused(&reader, "SELECT * FROM drover_v1.menu_as_of(1, now())").await, None);
}

#[tokio::test]
async fn no_table_of_a_reader_takes_the_place_of_one_of_drovers() {
    let database = testkit::database().await;
    let reader = reader_of(&database).await;
    for own in [
        "SET default_transaction_read_only = off",
        "CREATE TEMP TABLE dispensaries AS SELECT 1::bigint AS id, 'Mine' AS name, '' AS city, '' AS state",
        "SET search_path = pg_temp, drover_v1",
    ] {
        reader.batch_execute(own).await.unwrap();
    }
    let stores = texts(&reader, "SELECT store FROM drover_v1.menu_as_of(1, now())").await;
    assert_eq!(stores, NOTHING, "there is no store");
}

#[tokio::test]
async fn a_function_that_a_later_release_adds_is_closed_too() {
    let database = testkit::database().await;
    let reader = reader_of(&database).await;
    database.raw.batch_execute("CREATE FUNCTION later() RETURNS int LANGUAGE sql AS 'SELECT 1'").await.unwrap();
    assert_eq!(refused(&reader, "SELECT public.later()").await, DENIED);
}

#[tokio::test]
async fn a_view_that_a_later_release_adds_is_open() {
    let database = testkit::database().await;
    let reader = reader_of(&database).await;
    database.raw.batch_execute("CREATE VIEW drover_v1.later AS SELECT name FROM dispensaries").await.unwrap();
    assert_eq!(refused(&reader, "SELECT FROM drover_v1.later").await, None);
}

#[tokio::test]
async fn a_reader_writes_nothing_whatever_it_sets() {
    let database = testkit::database().await;
    let reader = reader_of(&database).await;
    assert_eq!(refused(&reader, "CREATE TEMP TABLE mine ()").await, Some(SqlState::READ_ONLY_SQL_TRANSACTION));
    reader.batch_execute("SET default_transaction_read_only = off").await.unwrap();
    for write in [
        "INSERT INTO drover_v1.stores (store) VALUES ('mine')",
        "UPDATE drover_v1.stores SET store = 'mine'",
        "DELETE FROM drover_v1.stores",
        "INSERT INTO public.worker_tasks (role) VALUES ('payload_fetch')",
        "CREATE TABLE drover_v1.mine ()",
        "CREATE TABLE public.mine ()",
        "CREATE SCHEMA mine",
        "LOCK TABLE drover_v1.stores IN SHARE MODE",
        "SELECT FROM drover_v1.stores FOR UPDATE",
    ] {
        assert_eq!(refused(&reader, &format!("BEGIN; {write}")).await, DENIED, "{write}");
        reader.batch_execute("ROLLBACK").await.unwrap();
    }
}

#[tokio::test]
async fn a_login_is_no_more_than_a_member_of_the_readers() {
    let database = testkit::database().await;
    let reader = reader_of(&database).await;
    let login = login_of(&database);
    let powers = "SELECT rolname::text FROM pg_roles
                   WHERE rolname IN (current_user, 'drover_reader')
                     AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)";
    assert_eq!(texts(&reader, powers).await, NOTHING);
    let groups = "SELECT r.rolname::text FROM pg_roles r WHERE pg_has_role(r.oid, 'MEMBER') ORDER BY r.rolname";
    let mut expected = vec!["drover_reader", login.as_str()];
    expected.sort_unstable();
    assert_eq!(texts(&reader, groups).await, expected);
}

#[tokio::test]
async fn a_reader_reads_no_database_that_was_not_opened() {
    let (opened, closed) = (testkit::database().await, testkit::database().await);
    reader_of(&opened).await;
    let elsewhere = testkit::connect(&url_of(&closed.url, &login_of(&opened))).await;
    for sql in ["SELECT FROM drover_v1.stores", "SELECT FROM public.dispensaries"] {
        assert_eq!(refused(&elsewhere, sql).await, DENIED, "{sql}");
    }
}

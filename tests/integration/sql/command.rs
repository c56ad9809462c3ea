//! `drover db reader`: with an account that may make roles, and with one that owns its database alone.

use std::process::Output;

use tokio_postgres::error::SqlState;

use super::{login_of, refused, url_of};
use testkit::{TestDatabase, connect, database, drover, empty_database};

async fn db_reader(url: &str, args: &[&str]) -> Output {
    drover().args(["db", "reader"]).args(args).env("DATABASE_URL", url).output().await.unwrap()
}

fn said(output: &Output) -> (Option<i32>, String) {
    let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat();
    (output.status.code(), text)
}

/// The URL of an account that owns this database, and has no other right.
async fn owner_of(database: &TestDatabase) -> String {
    let account = format!("{}_owner", database.name);
    let make = format!("CREATE ROLE {account} LOGIN; ALTER DATABASE {} OWNER TO {account}", database.name);
    database.raw.batch_execute(&make).await.unwrap();
    url_of(&database.url, &account.parse().unwrap())
}

#[tokio::test]
async fn a_login_is_made_once_and_may_read() {
    let database = database().await;
    let login = login_of(&database);
    let (code, text) = said(&db_reader(&database.url, &[login.as_str()]).await);
    assert!(code == Some(0) && text.contains(&format!("\\password {}", login.as_str())), "{text}");
    let (code, text) = said(&db_reader(&database.url, &[login.as_str(), "--json"]).await);
    assert!(code == Some(0) && text.contains("\"made\":false"), "{text}");
    let reader = connect(&url_of(&database.url, &login)).await;
    assert_eq!(refused(&reader, "SELECT FROM stores").await, None);
}

#[tokio::test]
async fn an_owner_that_may_make_no_roles_leaves_them_to_an_administrator() {
    let database = empty_database().await;
    let owner = owner_of(&database).await;
    let login = login_of(&database);
    let (code, text) = said(&db_reader(&owner, &[login.as_str()]).await);
    assert!(code == Some(4) && text.contains(&format!("drover db reader {} --sql", login.as_str())), "{text}");

    let (code, statements) = said(&db_reader(&owner, &[login.as_str(), "--sql"]).await);
    assert_eq!(code, Some(0));
    database.raw.batch_execute(&statements).await.unwrap();
    let reader = connect(&url_of(&database.url, &login)).await;
    assert_eq!(refused(&reader, "SELECT FROM stores").await, None);

    // views that the owner makes later are open, too
    let later = connect(&owner).await;
    later.batch_execute("CREATE VIEW drover_v1.later AS SELECT name FROM dispensaries").await.unwrap();
    assert_eq!(refused(&reader, "SELECT FROM later").await, None);
}

#[tokio::test]
async fn an_owner_opens_its_database_to_a_login_that_an_administrator_made_for_another_one() {
    let (first, second) = (database().await, empty_database().await);
    let login = login_of(&first);
    assert_eq!(said(&db_reader(&first.url, &[login.as_str()]).await).0, Some(0));
    let owner = owner_of(&second).await;
    assert_eq!(said(&db_reader(&owner, &[login.as_str()]).await).0, Some(0));
    let reader = connect(&url_of(&second.url, &login)).await;
    assert_eq!(refused(&reader, "SELECT FROM stores").await, None);
    assert_eq!(refused(&reader, "SELECT FROM public.dispensaries").await, Some(SqlState::INSUFFICIENT_PRIVILEGE));
}

#[tokio::test]
async fn a_role_that_is_no_reader_stays_as_it_is() {
    let database = database().await;
    let login = login_of(&database);
    database.raw.batch_execute(&format!("CREATE ROLE {} LOGIN", login.as_str())).await.unwrap();
    let (code, text) = said(&db_reader(&database.url, &[login.as_str()]).await);
    assert!(code == Some(4) && text.contains("choose another name"), "{text}");
    let other = connect(&url_of(&database.url, &login)).await;
    assert_eq!(refused(&other, "SELECT FROM drover_v1.stores").await, Some(SqlState::INSUFFICIENT_PRIVILEGE));
}

#[tokio::test]
async fn readers_of_several_databases_of_a_server_are_made_at_once() {
    let databases = [database().await, database().await, database().await];
    let made = databases.iter().map(|database| async {
        let login = login_of(database);
        said(&db_reader(&database.url, &[login.as_str()]).await)
    });
    for (code, text) in futures_util::future::join_all(made).await {
        assert_eq!(code, Some(0), "{text}");
    }
}

#[tokio::test]
async fn an_account_that_may_make_no_schema_is_named_the_statement_for_its_owner() {
    let database = empty_database().await;
    let account = format!("{}_guest", database.name);
    let make = format!("CREATE ROLE {account} LOGIN; GRANT CREATE ON SCHEMA public TO {account}");
    database.raw.batch_execute(&make).await.unwrap();
    let url = url_of(&database.url, &account.parse().unwrap());
    let migrate = async || said(&drover().args(["migrate", "up"]).env("DATABASE_URL", &url).output().await.unwrap());
    let (code, text) = migrate().await;
    let create = format!("CREATE SCHEMA drover_v1 AUTHORIZATION {account}");
    assert!(code != Some(0) && text.contains(&create), "{text}");
    database.raw.batch_execute(&create).await.unwrap();
    let (code, text) = migrate().await;
    assert_eq!(code, Some(0), "{text}");
}

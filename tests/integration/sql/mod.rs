//! The schema `drover_v1`, and the logins that read it: `drover db reader`.

mod command;
mod limits;
mod menus;
mod plans;
mod promise;
mod questions;
mod rights;

use db::schema::reader::{self, LoginName};
use settings::DatabaseUrl;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use testkit::TestDatabase;

/// The login for a reader of a database: names of roles are of the whole server, which all tests share.
fn login_of(database: &TestDatabase) -> LoginName {
    format!("{}_reader", database.name).parse().unwrap()
}

fn url_of(url: &str, login: &LoginName) -> String {
    let mut url = DatabaseUrl::parse(url).unwrap();
    url.take("user");
    url.set("user", login.as_str());
    url.to_string()
}

/// A connection with a login that was made as `drover db reader` makes it.
async fn reader_of(database: &TestDatabase) -> Client {
    let login = login_of(database);
    reader::add(&database.db, &login).await.unwrap();
    testkit::connect(&url_of(&database.url, &login)).await
}

/// The code with which the server refuses these statements; None: it runs them.
async fn refused(client: &Client, sql: &str) -> Option<SqlState> {
    let refusal = client.batch_execute(sql).await.err()?;
    Some(refusal.code().expect("the connection is whole").clone())
}

/// The first column of all rows.
async fn texts(client: &Client, sql: &str) -> Vec<String> {
    client.query(sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
}

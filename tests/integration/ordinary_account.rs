//! An account that owns its database and may do nothing else on the server, as a hosted Postgres gives it.

use domain::task::role::Role;
use nix::sys::signal::Signal;
use settings::DatabaseUrl;

use testkit::{Child, Farm, PATIENCE, empty_database};

#[tokio::test]
async fn an_account_that_owns_nothing_but_its_database_migrates_and_crawls() {
    let database = empty_database().await;
    let account = format!("{}_owner", database.name);
    let make = format!("CREATE ROLE {account} LOGIN; ALTER DATABASE {} OWNER TO {account}", database.name);
    database.raw.batch_execute(&make).await.unwrap();
    let mut url = DatabaseUrl::parse(&database.url).unwrap();
    url.take("user");
    url.set("user", &account);
    let farm = Farm::on(&url.to_string(), 2).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    worker.signal(Signal::SIGTERM);
    assert_eq!(worker.ended(PATIENCE).await.code(), Some(0));
    assert_eq!(farm.products().await, farm.expected_products(1));
}

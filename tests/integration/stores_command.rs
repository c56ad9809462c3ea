//! `drover stores` and `drover payload`, as people run them.

use std::process::Output;

use rstest::rstest;
use serde_json::Value;

use crate::support::{self, TestDatabase, drover};

async fn run(database: &TestDatabase, args: &[&str]) -> Output {
    drover().env("DATABASE_URL", &database.url).args(args).output().await.unwrap()
}

fn stdout(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[tokio::test]
async fn a_store_is_added_once_and_listed() {
    let database = support::database().await;
    let add = ["stores", "add", "--name", "A Shop", "--platform-id", "0123", "--state", "az", "--json"];

    let added = stdout(&run(&database, &add).await);
    assert_eq!(added["entry_point_task_id"], Value::Null);
    assert_eq!(run(&database, &add).await.status.code(), Some(4));

    let listed = stdout(&run(&database, &["stores", "list", "--json"]).await);
    assert_eq!(listed.as_array().unwrap().len(), 1);
    assert_eq!((&listed[0]["state"], &listed[0]["crawl_enabled"]), (&"AZ".into(), &true.into()));
}

#[rstest]
#[case::its_slug(["--slug", "a-shop"], ["--slug", "a-shop"])]
#[case::its_slug_in_an_address(["--slug", "a-shop"], ["--menu-url", "https://dutchie.com/stores/a-shop"])]
#[case::its_address(["--menu-url", "https://dutchie.com/dispensary/a-shop"], ["--menu-url", "https://dutchie.com/stores/a-shop"])]
#[case::its_address_as_a_slug(["--menu-url", "https://dutchie.com/dispensary/a-shop"], ["--slug", "a-shop"])]
#[tokio::test]
async fn a_store_known_without_an_id_is_not_added_with_one(#[case] known: [&str; 2], #[case] given: [&str; 2]) {
    let database = support::database().await;
    let add =
        async |more: &[&str]| run(&database, &[["stores", "add", "--name", "A Shop"].as_slice(), more].concat()).await;
    assert!(add(&known).await.status.success());
    let doubled = add(&[["--platform-id", "0123"], given].concat()).await;
    assert_eq!(doubled.status.code(), Some(4), "{doubled:?}");
}

#[tokio::test]
async fn a_store_without_an_id_gets_the_task_that_finds_it() {
    let database = support::database().await;
    let url = "https://dutchie.com/embedded-menu/deeply-rooted";
    let added =
        stdout(&run(&database, &["stores", "add", "--name", "Deeply Rooted", "--menu-url", url, "--json"]).await);
    let sql = "SELECT id, role, dispensary_id, ready FROM worker_tasks";
    let task = database.raw.query_one(sql, &[]).await.unwrap();
    assert_eq!(task.get::<_, i64>("id"), added["entry_point_task_id"].as_i64().unwrap());
    assert_eq!(task.get::<_, &str>("role"), "entry_point_discovery");
    assert_eq!(task.get::<_, i64>("dispensary_id"), added["id"].as_i64().unwrap());
    assert!(task.get::<_, bool>("ready"));
}

#[tokio::test]
async fn a_list_with_faults_imports_nothing_and_names_them_all() {
    let database = support::database().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stores.csv");
    std::fs::write(&file, "name,platform_dispensary_id,state\nA,1,AZ\nB,2,Arizona\n,3,AZ\n").unwrap();

    let refused = run(&database, &["stores", "import", file.to_str().unwrap()]).await;

    assert_eq!(refused.status.code(), Some(2));
    let says = String::from_utf8_lossy(&refused.stderr);
    assert!(says.contains("stores.csv line 3: state") && says.contains("stores.csv line 4: name is missing"), "{says}");
    let stores = database.raw.query_one("SELECT count(*) FROM dispensaries", &[]).await.unwrap();
    assert_eq!(stores.get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_list_is_imported_and_again_without_doubling() {
    let database = support::database().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stores.csv");
    std::fs::write(&file, "name,platform_dispensary_id,slug\nA,1,\nB,,b-slug\n").unwrap();
    let import = ["stores", "import", file.to_str().unwrap(), "--json"];

    assert_eq!(stdout(&run(&database, &import).await)["imported"].as_array().unwrap().len(), 2);
    let again = stdout(&run(&database, &import).await);
    assert_eq!((again["imported"].as_array().unwrap().len(), &again["known"]), (0, &2.into()));
}

#[tokio::test]
async fn a_store_is_known_however_its_name_is_spelt() {
    let database = support::database().await;
    let add =
        async |key: &str, name: &str| run(&database, &["stores", "add", "--name", "A", key, name, "--json"]).await;
    stdout(&add("--menu-url", "https://dutchie.com/dispensary/Deeply-Rooted").await);
    stdout(&add("--slug", "Other-Shop").await);

    for (key, name) in [
        ("--slug", "deeply-rooted"),
        ("--menu-url", "https://dutchie.com/stores/deeply-ROOTED"),
        ("--slug", "other-shop"),
        ("--menu-url", "https://dutchie.com/stores/other-shop"),
    ] {
        assert_eq!(add(key, name).await.status.code(), Some(4), "{key} {name}");
    }
}

#[tokio::test]
async fn a_payload_that_does_not_exist_is_not_found() {
    let database = support::database().await;
    assert_eq!(run(&database, &["payload", "show", "7"]).await.status.code(), Some(3));
}

/// Far more than fit into the deadline of a transaction if each were compared with each.
const MANY: usize = 3_000;

#[tokio::test]
async fn a_long_list_of_menu_addresses_is_imported_once() {
    let database = support::database().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("stores.csv");
    let lines = (0..MANY).map(|n| format!("Shop {n},https://dutchie.com/dispensary/shop-{n}\n"));
    // one of them twice, by another address
    let list =
        format!("name,menu_url\n{}Again,https://dutchie.com/embedded-menu/shop-7/?x=1\n", lines.collect::<String>());
    std::fs::write(&file, list).unwrap();
    let import = ["stores", "import", file.to_str().unwrap(), "--json"];

    let first = stdout(&run(&database, &import).await);
    assert_eq!((first["imported"].as_array().unwrap().len(), &first["known"]), (MANY, &1.into()));
    let looked_up = "SELECT count(*) FROM worker_tasks WHERE role = 'entry_point_discovery' AND ready";
    assert_eq!(database.raw.query_one(looked_up, &[]).await.unwrap().get::<_, i64>(0), MANY as i64);

    let again = stdout(&run(&database, &import).await);
    assert_eq!((again["imported"].as_array().unwrap().len(), &again["known"]), (0, &(MANY + 1).into()));
}

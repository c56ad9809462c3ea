//! Passwords of proxies in the table: encrypted where there is a key, readable with it.

use std::process::Output;

use db::proxies::{self, LoadedProxies};
use domain::task::role::Role;
use foundation::secrets::{SecretError, SecretKeys};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use tokio::process::Command;

use super::import;
use testkit::{Child, Farm, PATIENCE, TestDatabase, config, database, drover, until};

const OLD: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const NEW: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

fn keys(current: &'static str, previous: &str) -> SecretKeys {
    config(&[("secrets.key", current), ("secrets.previous_keys", previous)]).secrets.keys()
}

async fn load(database: &TestDatabase, keys: &SecretKeys) -> LoadedProxies {
    proxies::load(&database.db.client().await.unwrap(), keys).await.unwrap()
}

async fn passwords(database: &TestDatabase, keys: &SecretKeys) -> Vec<Option<String>> {
    load(database, keys).await.rows.into_iter().map(|row| row.proxy.password).collect()
}

async fn stored(database: &TestDatabase) -> Vec<Option<String>> {
    let rows = database.raw.query("SELECT password FROM proxies ORDER BY id", &[]).await.unwrap();
    rows.iter().map(|row| row.get(0)).collect()
}

fn with_keys<'a>(command: &'a mut Command, current: &str, previous: &str) -> &'a mut Command {
    command.env("DROVER__SECRETS__KEY", current).env("DROVER__SECRETS__PREVIOUS_KEYS", previous)
}

async fn run(database: &TestDatabase, args: &[&str], current: &str, previous: &str) -> Output {
    let mut command = drover();
    command.args(args).env("DATABASE_URL", &database.url);
    with_keys(&mut command, current, previous).output().await.unwrap()
}

async fn rekey(database: &TestDatabase, flags: &[&str], current: &str, previous: &str) -> (Option<i32>, Value) {
    let output = run(database, &[&["proxies", "rekey", "--json"], flags].concat(), current, previous).await;
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
}

fn some(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| Some((*text).to_owned())).collect()
}

#[tokio::test]
async fn an_import_with_a_key_stores_no_password_that_can_be_read_and_leaves_equal_ones_alone() {
    let database = database().await;
    let keys = keys(OLD, "");
    let list = drover::cli::proxies::list::parse("test", "a:1:u:s3cret\nb:1").unwrap().entries;
    proxies::import(&database.db, &list, &keys).await.unwrap();

    let before = stored(&database).await;
    assert!(before[0].as_ref().unwrap().starts_with("$drover$1$") && before[1].is_none(), "{before:?}");
    assert_eq!(passwords(&database, &keys).await, [Some("s3cret".to_owned()), None]);
    let again = proxies::import(&database.db, &list, &keys).await.unwrap();
    assert_eq!((again.created, again.updated, again.unchanged), (0, 0, 2));
    assert_eq!(stored(&database).await, before, "an equal password is not encrypted anew");
    let changed = drover::cli::proxies::list::parse("test", "a:1:u:other").unwrap().entries;
    assert_eq!(proxies::import(&database.db, &changed, &keys).await.unwrap().updated, 1);
    assert_eq!(passwords(&database, &keys).await[0].as_deref(), Some("other"));
}

#[tokio::test]
async fn rekeying_encrypts_what_is_plain_and_what_an_earlier_key_encrypted_and_says_how_many() {
    let database = database().await;
    import(&database, "a:1:u:one\nb:1:u:two\nc:1").await;
    let refused = run(&database, &["proxies", "rekey"], "", "").await;
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8(refused.stderr).unwrap().contains("openssl rand -hex 32"));

    let (_, dry) = rekey(&database, &["--dry-run"], OLD, "").await;
    assert_eq!(
        (&dry["encrypted"], stored(&database).await),
        (&json!(2), vec![Some("one".to_owned()), Some("two".to_owned()), None])
    );
    let (code, first) = rekey(&database, &[], OLD, "").await;
    assert_eq!((code, &first["encrypted"], &first["unchanged"]), (Some(0), &json!(2), &json!(0)));
    assert_eq!(&passwords(&database, &keys(OLD, "")).await[..2], some(&["one", "two"]));

    let (code, second) = rekey(&database, &[], NEW, OLD).await;
    assert_eq!((code, &second["reencrypted"]), (Some(0), &json!(2)));
    assert_eq!(&passwords(&database, &keys(NEW, "")).await[..2], some(&["one", "two"]));
    let (_, third) = rekey(&database, &[], NEW, "").await;
    assert_eq!((&third["reencrypted"], &third["unchanged"]), (&json!(0), &json!(2)));
}

#[tokio::test]
async fn a_password_that_cannot_be_read_spoils_no_other_and_is_named_with_the_remedy() {
    let database = database().await;
    import(&database, "a:1:u:one\nb:1:u:two").await;
    rekey(&database, &[], OLD, "").await;
    // an edited dump: one password in the place of another
    database
        .raw
        .batch_execute("UPDATE proxies SET password = (SELECT password FROM proxies WHERE host = 'a') WHERE host = 'b'")
        .await
        .unwrap();

    let loaded = load(&database, &keys(OLD, "")).await;
    assert_eq!((loaded.rows.len(), loaded.unreadable.len()), (1, 1));
    assert!(matches!(loaded.unreadable[0].error, SecretError::Altered(_)));
    let (code, rekeyed) = rekey(&database, &[], NEW, OLD).await;
    assert_eq!(
        (code, &rekeyed["reencrypted"], &rekeyed["unreadable"][0]["address"]),
        (Some(5), &json!(1), &json!("b:1"))
    );
    let told = run(&database, &["proxies", "rekey"], NEW, OLD).await;
    assert!(String::from_utf8(told.stdout).unwrap().contains("or import these proxies again"), "the remedy");
    let doctor = run(&database, &["doctor"], NEW, OLD).await;
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    assert!(doctor.contains("1 cannot be read") && doctor.contains("import these proxies again"), "{doctor}");
    import(&database, "b:1:u:two").await;
    assert_eq!(load(&database, &keys(NEW, "")).await.rows.len(), 2);
}

#[tokio::test]
async fn no_key_and_no_password_is_shown() {
    let database = database().await;
    import(&database, "a:1:u:s3cret").await;
    let plain = String::from_utf8(run(&database, &["doctor"], "", "").await.stdout).unwrap();
    assert!(plain.contains("advice  stored in plain text\n"), "{plain}");
    assert!(plain.contains("remedy: set secrets.key, then run `drover proxies rekey`\n"), "nothing is cut: {plain}");
    rekey(&database, &[], OLD, "").await;
    let mut said = String::new();
    for args in [&["config", "show"][..], &["config", "show", "--json"], &["proxies", "list", "--json"], &["doctor"]] {
        let output = run(&database, args, NEW, OLD).await;
        said += &String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    }
    assert!(said.contains("\"key\":\"") && said.contains("secrets.key"), "{said}");
    for secret in ["s3cret", OLD, NEW] {
        assert!(!said.contains(secret), "{secret}");
    }
    let bad = run(&database, &["config", "check"], "abc123secret", "").await;
    let bad = String::from_utf8([bad.stdout, bad.stderr].concat()).unwrap();
    assert!(bad.contains("64 hex digits") && !bad.contains("abc123secret"), "{bad}");
}

#[tokio::test]
async fn workers_crawl_through_encrypted_proxies_while_the_key_changes_and_pass_over_one_that_cannot_be_read() {
    let farm = Farm::with_stores(4).await;
    let mut rekey = farm.drover(&["proxies", "rekey"]);
    assert!(with_keys(&mut rekey, OLD, "").output().await.unwrap().status.success());
    farm.execute("UPDATE proxies SET password = password || 'x' WHERE id = (SELECT min(id) FROM proxies WHERE password IS NOT NULL)").await;
    let mut command = farm.drover(&["worker", "--workers", "2", "--slots", "2"]);
    let _worker =
        Child::spawn(with_keys(&mut command, NEW, OLD)).allow_errors(&["because its password cannot be read"]);
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_crawled().await;

    let mut rekey = farm.drover(&["proxies", "rekey"]);
    assert_eq!(with_keys(&mut rekey, NEW, OLD).output().await.unwrap().status.code(), Some(5));
    farm.execute("DELETE FROM worker_tasks").await;
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_crawled().await;
    let refused: u64 = farm.sim.counts().proxies.iter().map(|proxy| proxy.refused).sum();
    let used = farm.sim.counts().proxies.iter().filter(|proxy| proxy.connections > 0).count();
    assert_eq!((refused, used), (0, 2), "credentials are right, and the unreadable proxy is not used");
}

async fn rekey_farm(farm: &Farm, current: &str, previous: &str) {
    let output = with_keys(&mut farm.drover(&["proxies", "rekey"]), current, previous).output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
}

fn worker(farm: &Farm, current: &str, previous: &str) -> Child {
    let mut command = farm.drover(&["worker", "--workers", "2", "--slots", "2"]);
    Child::spawn(with_keys(&mut command, current, previous).env("DROVER__PROXIES__FLUSH_EVERY", "200ms"))
}

const FETCHED: &str = "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND role = 'payload_fetch'";

async fn crawl_once_more(farm: &Farm) {
    farm.execute("DELETE FROM worker_tasks").await;
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_crawled().await;
    assert_nothing_failed(farm).await;
}

async fn assert_nothing_failed(farm: &Farm) {
    let retries = "SELECT coalesce(sum(retry_count), 0)::bigint FROM worker_tasks";
    assert_eq!(farm.count(retries).await, 0, "failed runs");
    assert_eq!(farm.count("SELECT coalesce(sum(failure_count), 0)::bigint FROM proxies").await, 0, "blamed proxies");
    let counts = farm.sim.counts();
    let refused: u64 = counts.proxies.iter().map(|proxy| proxy.refused).sum();
    assert_eq!((refused, counts.credentials_astray, counts.direct_connections), (0, 0, 0));
}

#[tokio::test]
async fn two_processes_crawl_while_the_key_changes_and_afterwards_the_new_one_is_enough() {
    let farm = Farm::with_stores(16).await;
    rekey_farm(&farm, OLD, "").await;
    let with_both = [0, 1].map(|_| worker(&farm, NEW, OLD));
    farm.enqueue(Role::PayloadFetch).await;
    until("a crawl is under way", PATIENCE, async || farm.count(FETCHED).await >= 3).await;
    rekey_farm(&farm, NEW, OLD).await;
    farm.until_crawled().await;
    assert_nothing_failed(&farm).await;
    crawl_once_more(&farm).await;
    for mut worker in with_both {
        worker.signal(Signal::SIGTERM);
        worker.ended(PATIENCE).await;
    }

    let used = |farm: &Farm| farm.sim.counts().proxies.iter().map(|proxy| proxy.requests).collect::<Vec<_>>();
    let before = used(&farm);
    let _alone = worker(&farm, NEW, "");
    crawl_once_more(&farm).await;
    let newly_used = used(&farm).iter().zip(&before).filter(|(now, before)| now > before).count();
    assert_eq!(newly_used, 3, "those with a password too");
}

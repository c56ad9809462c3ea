//! One dead proxy, as every part of the program shows it.

use domain::task::role::Role;
use serde_json::Value;
use sim::{ProxyFault, Settings};

use testkit::{Child, Farm, PATIENCE, until};

async fn json(farm: &Farm, args: &[&str]) -> (Option<i32>, Value) {
    let output = farm.drover(args).arg("--json").output().await.unwrap();
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (output.status.code(), value)
}

async fn listed(farm: &Farm) -> Value {
    json(farm, &["proxies", "list"]).await.1["proxies"][0].clone()
}

async fn doctor(farm: &Farm) -> (Option<i32>, Value) {
    found(farm, "proxies").await
}

/// The exit code of the doctor, and one finding.
async fn found(farm: &Farm, check: &str) -> (Option<i32>, Value) {
    let (code, findings) = json(farm, &["doctor"]).await;
    let finding = findings["findings"].as_array().unwrap().iter().find(|finding| finding["check"] == check);
    (code, finding.cloned().unwrap_or_default())
}

#[tokio::test]
async fn the_doctor_sends_one_request_through_the_best_proxies() {
    let farm = Farm::changed(1, |world| Settings { proxies: 3, ..world }).await;
    farm.sim.set_proxy_fault(0, ProxyFault::Reset);
    let (code, finding) = found(&farm, "request").await;
    assert_eq!((code, &finding["result"]), (Some(0), &"ok".into()), "{finding}");

    for proxy in 1..3 {
        farm.sim.set_proxy_fault(proxy, ProxyFault::Reset);
    }
    let (code, finding) = found(&farm, "request").await;
    assert_eq!((code, &finding["result"]), (Some(1), &"fault".into()), "{finding}");
    let detail = finding["detail"].as_str().unwrap();
    assert_eq!(detail.matches("no answer through").count(), 3, "{detail}");
    assert!(finding["remedy"].as_str().unwrap().contains("drover proxies check"), "{finding}");
}

#[tokio::test]
async fn the_doctor_says_that_no_worker_runs_and_sends_nothing_without_a_proxy() {
    let farm = Farm::with_stores(1).await;
    farm.execute("DELETE FROM proxies").await;
    assert_eq!(found(&farm, "workers").await.1["result"], "advice");
    assert_eq!(found(&farm, "request").await.1, Value::Null);
    let mut worker = farm.drover(&["worker"]);
    worker.env("WORKER_ROLE", "analytics_refresh");
    let _worker = Child::spawn(&mut worker);
    let runs = "SELECT count(*) FROM worker_registry WHERE status = 'active'";
    farm.until_counted("the workers are there", runs, 2).await;
    let workers = found(&farm, "workers").await.1;
    assert_eq!((&workers["result"], &workers["detail"]), (&"ok".into(), &"2 run".into()), "{workers}");
}

#[tokio::test]
async fn one_dead_proxy_alone_is_named_by_the_list_and_the_doctor_after_its_first_request() {
    let farm = Farm::changed(1, |world| Settings { proxies: 1, ..world }).await;
    farm.leaves_open_tasks("its only proxy is dead");
    assert_eq!(listed(&farm).await["health"], "untested");
    assert_eq!(doctor(&farm).await.1["ok"], true);

    farm.sim.set_proxy_fault(0, ProxyFault::Reset);
    let mut command = farm.drover(&["worker"]);
    command.env("DROVER__PROXIES__FLUSH_EVERY", "200ms");
    let _worker = Child::spawn(&mut command).allow_errors(&["No proxy", "The last active proxy"]);
    farm.enqueue(Role::PayloadFetch).await;
    let asked = "SELECT count(*) FROM proxies WHERE recent_requests > 0";
    until("a request went through it", PATIENCE, async || farm.count(asked).await == 1).await;

    let proxy = listed(&farm).await;
    assert_eq!((&proxy["health"], &proxy["healthy_share"]), (&"failing".into(), &0.0.into()), "{proxy}");
    assert!(proxy["last_error"].is_string(), "{proxy}");
    let (code, finding) = doctor(&farm).await;
    assert_eq!((code, &finding["ok"]), (Some(1), &false.into()), "{finding}");
    let address = format!("{}:{}", proxy["host"].as_str().unwrap(), proxy["port"]);
    assert!(finding["detail"].as_str().unwrap().contains(&address), "{finding}");
    let table = farm.drover(&["proxies", "list"]).output().await.unwrap();
    assert!(String::from_utf8_lossy(&table.stdout).contains("  failing  0 % of "), "{table:?}");
}

#[tokio::test]
async fn the_list_says_where_a_proxy_is_benched_and_for_how_long() {
    let farm = Farm::changed(1, |world| Settings { proxies: 1, ..world }).await;
    farm.execute(
        "INSERT INTO proxy_benches
         SELECT id, 'menu.test', now() + interval '90 seconds 900 milliseconds', 'too many blocks in a row' FROM proxies",
    )
    .await;
    let table = farm.drover(&["proxies", "list"]).output().await.unwrap();
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(table.contains("  benched  ") && table.contains("  menu.test 1m "), "{table}");
}

#[tokio::test]
async fn a_proxy_is_deleted_by_its_id() {
    let farm = Farm::changed(1, |world| Settings { proxies: 2, ..world }).await;
    let id = listed(&farm).await["id"].to_string();
    for (code, said) in [(0, format!("proxy {id} is deleted")), (3, format!("proxy {id} does not exist"))] {
        let run = farm.drover(&["proxies", "delete", &id]).output().await.unwrap();
        assert_eq!(run.status.code(), Some(code), "{run:?}");
        let text = [run.stdout, run.stderr].concat();
        assert!(String::from_utf8_lossy(&text).contains(&said), "{said}: {}", String::from_utf8_lossy(&text));
    }
    assert_eq!(farm.count("SELECT count(*) FROM proxies").await, 1);
}

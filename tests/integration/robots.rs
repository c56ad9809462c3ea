//! Obedience to a host's robots.txt, by policy.

use std::time::Duration;

use domain::http::robots::RobotsAnswer;
use domain::task::role::Role;
use drover::app::robots::SharedRobots;
use drover::stealth::RobotsTable;
use serde_json::Value;
use sim::Robots;
use tokio::process::Command;

use testkit::{Child, Farm, database};

/// Text of the farm's first four stores; the fifth is served at another path.
const FORBIDS_THE_API: &str = "User-agent: *\nDisallow: /api-\nAllow: /";

fn answers(status: u16, text: &str) -> Option<Robots> {
    Some(Robots { status, text: text.to_owned() })
}

fn worker(farm: &Farm, settings: &[(&str, &str)]) -> Command {
    let mut command = farm.drover(&["worker", "--workers", "2", "--slots", "2"]);
    command.envs(settings.iter().copied());
    command
}

const OBEY: [(&str, &str); 1] = [("DROVER__POLITENESS__ROBOTS", "obey")];
const REPORT: [(&str, &str); 1] = [("DROVER__POLITENESS__ROBOTS", "report")];

#[tokio::test]
async fn what_is_forbidden_is_fetched_and_told_once_where_it_is_only_reported() {
    let farm = Farm::with_stores(4).await;
    farm.sim.set_robots(answers(200, FORBIDS_THE_API));
    farm.enqueue(Role::PayloadFetch).await;
    let _workers = [0, 1].map(|_| Child::spawn(&mut worker(&farm, &REPORT)));
    farm.until_crawled().await;

    let counts = farm.sim.counts();
    assert_eq!((counts.robots, counts.direct), (1, 0), "one of two processes fetches it, through a proxy");
    assert_eq!(farm.count("SELECT count(*) FROM robots_breaches").await, 1);
    let host = "127.0.0.1";
    let shown = farm.drover(&["hosts", "show", host, "--json"]).output().await.unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let robots = &shown["robots"][0];
    assert_eq!(robots["breaches"][0]["rule"], "Disallow: /api-");
    let path = robots["breaches"][0]["path"].as_str().unwrap();
    assert!(path.starts_with("/api-") && path.ends_with("/graphql"), "without its query: {path}");
    let shown =
        farm.drover(&["hosts", "show", host]).env("DROVER__POLITENESS__ROBOTS", "report").output().await.unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("/robots.txt (report): 2 rules for us, fetched "), "{shown}");
    assert!(shown.contains("  broken: 'Disallow: /api-' by /api-"), "{shown}");
}

#[tokio::test]
async fn what_is_forbidden_is_not_sent_where_the_rules_are_obeyed_and_its_task_fails_for_good() {
    let farm = Farm::with_stores(2).await;
    farm.sim.set_robots(answers(200, FORBIDS_THE_API));
    farm.enqueue(Role::PayloadFetch).await;
    let _worker = Child::spawn(&mut worker(&farm, &OBEY)).allow_errors(&["asks robots not to fetch"]);
    let told = "SELECT count(*) FROM worker_tasks WHERE status = 'failed' AND retry_count = 0 AND error_message LIKE
        '127.0.0.1 asks robots not to fetch /api-_/graphql (robots.txt: ''Disallow: /api-''), and politeness.robots obeys it'";
    farm.until_counted("both tasks failed", told, 2).await;
    assert_eq!(farm.sim.counts().requests, 1, "only robots.txt itself");
}

#[tokio::test]
async fn a_host_without_a_file_or_with_a_policy_of_its_own_is_crawled() {
    let farm = Farm::with_stores(2).await;
    farm.enqueue(Role::PayloadFetch).await;
    let obeys = Child::spawn(&mut worker(&farm, &OBEY));
    farm.until_crawled().await;
    assert_eq!(farm.sim.counts().robots, 1, "it answered 404");
    drop(obeys);

    let farm = Farm::with_stores(2).await;
    farm.sim.set_robots(answers(200, FORBIDS_THE_API));
    farm.enqueue(Role::PayloadFetch).await;
    let own = ("DROVER__POLITENESS__ROBOTS_BY_HOST", "127.0.0.1=ignore");
    let _exempt = Child::spawn(&mut worker(&farm, &[OBEY[0], own]));
    farm.until_crawled().await;
    assert_eq!(farm.sim.counts().robots, 0);
}

#[tokio::test]
async fn tasks_wait_at_no_cost_while_an_obeyed_file_cannot_be_had() {
    let farm = Farm::with_stores(2).await;
    farm.sim.set_robots(answers(503, "down"));
    farm.enqueue(Role::PayloadFetch).await;
    let _worker = Child::spawn(&mut worker(&farm, &OBEY));
    let wait = "SELECT count(*) FROM worker_tasks WHERE status = 'pending' AND retry_count = 0
                 AND error_message = '127.0.0.1 is sent nothing until its robots.txt is known: status 503'";
    farm.until_counted("the tasks wait", wait, 2).await;
    let counts = farm.sim.counts();
    assert_eq!((counts.requests, counts.robots), (1, 1), "only robots.txt, and not again at once");

    farm.sim.set_robots(answers(200, "User-agent: *\nDisallow: /private"));
    farm.execute("UPDATE robots SET next_fetch_at = now()").await;
    farm.execute("UPDATE worker_tasks SET scheduled_for = now() WHERE status = 'pending'").await;
    farm.until_crawled().await;
}

#[tokio::test]
async fn a_file_that_cannot_be_had_keeps_nothing_from_a_host_whose_rules_are_only_reported() {
    let farm = Farm::with_stores(2).await;
    farm.sim.set_robots(answers(503, "down"));
    farm.enqueue(Role::PayloadFetch).await;
    let _worker = Child::spawn(&mut worker(&farm, &REPORT));
    farm.until_crawled().await;
    assert_eq!(farm.sim.counts().robots, 1);
}

#[tokio::test]
async fn one_process_fetches_a_file_and_the_next_day_one_does_again() {
    let database = database().await;
    let processes = [SharedRobots::new(&database.db), SharedRobots::new(&database.db)];
    let minute = Duration::from_secs(60);
    let taken = async || {
        let takes = (0..20).map(|nth| processes[nth % 2].take("menu.test", "menu.test", minute));
        let takes = futures_util::future::join_all(takes).await;
        takes.into_iter().filter(|taken| taken.clone().unwrap()).count()
    };
    assert_eq!(taken().await, 1);
    processes[0].store("menu.test", RobotsAnswer::Rules("User-agent: *".to_owned())).await.unwrap();
    assert_eq!(taken().await, 0, "it is fresh");
    let days_pass = "UPDATE robots SET next_fetch_at = next_fetch_at - interval '24 hours'";
    database.raw.batch_execute(days_pass).await.unwrap();
    assert_eq!(taken().await, 1);
    // its process died
    database.raw.batch_execute("UPDATE robots SET fetching_until = now()").await.unwrap();
    assert_eq!(taken().await, 1);

    processes[1].store("menu.test", RobotsAnswer::Unreachable { reason: "status 503".to_owned() }).await.unwrap();
    let record = processes[0].read("menu.test").await.unwrap();
    assert_eq!(record.text.as_deref(), Some("User-agent: *"), "what was known is kept");
    assert!(record.next_fetch <= minute, "and it is asked again soon: {record:?}");
}

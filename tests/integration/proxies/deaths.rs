//! A whole worker whose proxies die in every way, in turns and together, and heal.

use std::cell::Cell;

use domain::task::role::Role;
use sim::{ProxyFault, Settings};
use tokio::process::Command;

use crate::stealth::support::Ca;
use testkit::{Child, Farm, PATIENCE, until};

const STORES: usize = 8;
const PROXIES: usize = 9;
const TURNS: usize = 3;

const BENCHED: &str = "SELECT count(*) FROM proxies WHERE NOT is_active";

/// Makes a farm behind TLS, as upstreams are.
async fn farm(ca: &Ca) -> Farm {
    Farm::changed(STORES, |world| Settings { proxies: PROXIES, tls: Some(ca.localhost()), ..world }).await
}

fn worker(farm: &Farm, ca: &Ca) -> Command {
    let mut command = farm.drover(&["worker"]);
    command.env("DROVER__HTTP__EXTRA_CA_FILE", ca.file()).env("DROVER__HTTP__HOST_ALLOWLIST", "localhost");
    command.env("DROVER__HTTP__CONNECT_TIMEOUT", "2s").env("DROVER__HTTP__FIRST_BYTE_TIMEOUT", "2s");
    command.env("DROVER__PROXIES__BENCH_BASE", "2s").env("DROVER__PROXIES__REVIVE_EVERY", "500ms");
    command.env("DROVER__PROXIES__FAILURES_TO_BENCH", "2").env("DROVER__PROXIES__FLUSH_EVERY", "500ms");
    command.env("DROVER__PROXIES__SNOOZE", "200ms");
    command
}

/// Alarms of such days in the log.
const ALARMS: [&str; 3] = ["No proxy is usable", "No proxy gets an answer", "The last active proxy"];

fn kill(farm: &Farm, turn: usize, is_dead: impl Fn(usize) -> bool) {
    for proxy in (0..PROXIES).filter(|proxy| is_dead(*proxy)) {
        // at least one of every second benches its proxy at once
        let death = ProxyFault::DEATHS[(proxy / 2 + 5 * turn) % ProxyFault::DEATHS.len()];
        farm.sim.set_proxy_fault(proxy, death);
    }
}

fn heal(farm: &Farm) {
    (0..PROXIES).for_each(|proxy| farm.sim.set_proxy_fault(proxy, ProxyFault::None));
}

/// Fetches of all stores, again and again. It is not dropped: an INSERT that nothing waits for makes its tasks later.
async fn keep_busy(farm: &Farm, is_over: &Cell<bool>) {
    while !is_over.get() {
        farm.enqueue(Role::PayloadFetch).await;
        until_idle(farm).await;
    }
}

async fn until_idle(farm: &Farm) {
    let open = "SELECT count(*) FROM worker_tasks WHERE status IN ('pending', 'claimed', 'running')";
    farm.until_counted("all tasks have ended", open, 0).await;
}

async fn until_benched(farm: &Farm, least: i64) {
    until("some are benched", PATIENCE, async || farm.count(BENCHED).await >= least).await;
}

async fn until_work_goes_on(farm: &Farm) {
    let fetched = async || farm.count("SELECT count(*) FROM raw_crawl_payloads").await;
    let before = fetched().await;
    until("as many menus again were fetched", PATIENCE, async || fetched().await >= before + STORES as i64).await;
}

/// Waits until all proxies are in use again, while there is work.
async fn until_whole(farm: &Farm, after: &str) {
    farm.until_counted(&format!("the pool is whole after {after}"), BENCHED, 0).await;
}

async fn die_and_heal(farm: &Farm) {
    until_work_goes_on(farm).await;
    for turn in 0..TURNS {
        kill(farm, turn, |proxy| proxy % 2 == turn % 2);
        until_work_goes_on(farm).await;
        until_benched(farm, 1).await;
        heal(farm);
        until_whole(farm, "every second one").await;
    }
    kill(farm, TURNS, |proxy| proxy != 0);
    until_work_goes_on(farm).await;
    kill(farm, TURNS, |_| true);
    until_benched(farm, 3).await;
    heal(farm);
    until_whole(farm, "all of them").await;

    // as failed trials of hours leave them
    farm.execute(
        "UPDATE proxies SET is_active = false, cooldown_until = now() + interval '25 minutes' WHERE id % 2 = 0",
    )
    .await;
    until_whole(farm, "those that were dead for hours").await;
    until_work_goes_on(farm).await;
}

#[tokio::test]
async fn proxies_that_die_in_every_way_are_in_use_again_soon_after_they_have_healed() {
    let ca = Ca::new();
    let farm = farm(&ca).await;
    let _worker = Child::spawn(&mut worker(&farm, &ca)).allow_errors(&ALARMS);
    let is_over = Cell::new(false);
    let deaths = async {
        die_and_heal(&farm).await;
        is_over.set(true);
    };
    tokio::join!(deaths, keep_busy(&farm, &is_over));

    assert_eq!(farm.count("SELECT count(*) FROM worker_tasks WHERE status = 'failed'").await, 0);
    farm.assert_nothing_twice().await;
    assert_menus_are_whole(&farm).await;
    assert_only_its_own_credentials(&farm);
}

#[tokio::test]
async fn what_another_host_answers_is_stored_nowhere() {
    let farm = Farm::with_stores(4).await;
    let proxies = farm.sim.proxies().len();
    (0..proxies).for_each(|proxy| farm.sim.set_proxy_fault(proxy, ProxyFault::WrongTarget));
    farm.enqueue(Role::PayloadFetch).await;
    farm.execute("UPDATE worker_tasks SET max_retries = 1000").await;
    let _worker = Child::spawn(&mut farm.drover(&["worker"]));
    let tried = "SELECT count(DISTINCT task_id) FROM past_attempts WHERE outcome = 'failed'";
    farm.until_counted("each was answered by another host", tried, 4).await;
    assert_eq!(farm.count("SELECT count(*) FROM raw_crawl_payloads").await, 0);
    assert!(farm.files().is_empty());

    (0..proxies).for_each(|proxy| farm.sim.set_proxy_fault(proxy, ProxyFault::None));
    farm.until_crawled().await;
    assert_menus_are_whole(&farm).await;
    assert_only_its_own_credentials(&farm);
}

async fn assert_menus_are_whole(farm: &Farm) {
    assert_eq!(farm.products().await, farm.expected_products(1));
    assert_eq!(farm.count("SELECT count(*) FROM store_products WHERE consecutive_misses > 0").await, 0);
}

fn assert_only_its_own_credentials(farm: &Farm) {
    let counts = farm.sim.counts();
    assert_eq!((counts.direct_connections, counts.credentials_astray), (0, 0));
}

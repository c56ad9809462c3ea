//! Back leads to the place in a list that was left.

use serde_json::{Value, json};
use xtask::browser::Key;
use xtask::pages::pages;

use super::world::World;

/// Window as wide as a desk, and so low that every list is longer.
const LOW_WINDOW: (u32, u32) = (1280, 320);
/// Maximum height of a row in pixels.
const ROW: f64 = 40.0;

/// Scrolls, and opens a link: one of the list that is seen, or else one of the navigation. Answers what was left and where; null
/// where the page is not longer than the window.
const LEAVE: &str = "
    const end = document.documentElement.scrollHeight - innerHeight;
    if (end < 120) return null;
    scrollTo(0, Math.round(end * 0.7));
    const other = (a) => new URL(a.href).pathname !== location.pathname;
    const isSeen = (a) => a.getBoundingClientRect().top > 60 && a.getBoundingClientRect().bottom < innerHeight;
    const [link = null] = [...document.querySelectorAll('main table a[href^=\"/admin\"]')].filter((a) => other(a) && isSeen(a));
    const from = { top: scrollY, href: link?.getAttribute('href') ?? null, nth: link ? [...document.querySelectorAll(`main a[href=\"${CSS.escape(link.getAttribute('href'))}\"]`)].indexOf(link) : 0, offset: link?.getBoundingClientRect().top ?? 0 };
    (link ?? [...document.querySelectorAll('.nav a')].find(other)).click();
    return from;";

/// How many pixels the page is from there.
fn distance(from: &Value) -> String {
    format!(
        "((from) => {{
            const link = from.href && document.querySelectorAll(`main a[href=\"${{CSS.escape(from.href)}}\"]`)[from.nth];
            return Math.abs(link ? link.getBoundingClientRect().top - from.offset : scrollY - from.top);
        }})({from})"
    )
}

async fn with_lists() -> World {
    let (world, _) = World::start().await.with_media().await.with_payloads().await;
    world
        .execute(
            "INSERT INTO dispensaries (name, slug, platform_dispensary_id) SELECT 'Store ' || n, 'store-' || n, 's' || n FROM generate_series(1, 40) n;
             INSERT INTO audit_log (who, action, target, request_id, detail) SELECT 'local', 'stores.set', '902', 'r' || n, '{}' FROM generate_series(1, 30) n;
             INSERT INTO worker_tasks (role, status, error_message, completed_at) SELECT 'analytics_refresh', 'failed', 'no luck', now() FROM generate_series(1, 30);
             INSERT INTO proxies (host, port) SELECT '198.51.100.' || n, 3128 FROM generate_series(1, 30) n;
             INSERT INTO hosts (host) SELECT 'h' || n || '.test' FROM generate_series(1, 30) n",
        )
        .await;
    let (width, height) = LOW_WINDOW;
    let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
    world.browser.devtools("Emulation.setDeviceMetricsOverride", size).await.unwrap();
    world
}

#[tokio::test]
async fn back_leads_to_the_row_that_was_left_in_every_list() {
    let world = with_lists().await;
    let mut tried = Vec::new();
    for page in pages().unwrap().into_iter().filter(|page| page.list.is_empty() && page.name != "login") {
        let path = page.address("");
        world.open(&path).await;
        let from = world.browser.run(LEAVE, Vec::new()).await.unwrap();
        if from.is_null() {
            continue;
        }
        tried.push(page.name.clone());
        let here = format!("location.pathname + location.search === '{path}'");
        world.browser.until(&format!("{path} is left"), &format!("!({here})")).await.unwrap();
        world.browser.ready().await.unwrap();
        world.browser.run("history.back()", Vec::new()).await.unwrap();
        world.browser.until(&format!("{path} is back"), &here).await.unwrap();
        let there = format!("{} <= {ROW}", distance(&from));
        world.browser.until(&format!("{path} is where it was left: {from}"), &there).await.unwrap();
    }
    for list in [
        "tasks",
        "stores",
        "products",
        "proxies",
        "hosts",
        "payloads",
        "jobs",
        "items",
        "audit",
        "notifications",
        "schedules",
    ] {
        assert!(
            list == "products" || list == "jobs" || tried.iter().any(|name| name == list),
            "{list} is long: {tried:?}"
        );
    }
}

#[tokio::test]
async fn the_place_outlasts_a_reload_of_the_next_page_and_gives_way_to_a_person() {
    let world = with_lists().await;
    world.open("/admin/stores").await;
    let from = world.browser.run(LEAVE, Vec::new()).await.unwrap();
    world.browser.until("the store is open", "/stores\\/\\d+$/.test(location.pathname)").await.unwrap();
    let reloaded = "location.reload()";
    world.browser.run(reloaded, Vec::new()).await.ok();
    world.browser.ready().await.unwrap();
    world.browser.run("history.back()", Vec::new()).await.unwrap();
    world.browser.until("the list is back", "location.pathname === '/admin/stores'").await.unwrap();
    world.browser.until("its row is where it was", &format!("{} <= {ROW}", distance(&from))).await.unwrap();
    world.browser.key(Key::Escape).await.unwrap();
    let moved = "scrollTo(0, 0); await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
        document.querySelector('main tbody tr td').textContent += ' '; await new Promise((drawn) => setTimeout(drawn)); return scrollY";
    assert_eq!(world.browser.run(moved, Vec::new()).await.unwrap(), 0);
}

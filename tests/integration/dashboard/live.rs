//! A page follows the database, and says so when it cannot.

use std::net::SocketAddr;

use serde_json::json;

use super::browsers::LentBrowser;
use super::world::{World, is_live};
use testkit::{Child, PATIENCE, TestDatabase, database, drover};

const LIVE: &str = "document.documentElement.dataset.live";

#[tokio::test]
async fn a_page_follows_the_database_without_being_loaded_again() {
    let world = World::start().await;
    world.open("/admin/job-queue").await;
    is_live(&world.browser).await;
    world.browser.run("window.isTheSame = true", Vec::new()).await.unwrap();
    world.execute("INSERT INTO worker_tasks (role) SELECT 'analytics_refresh' FROM generate_series(1, 37)").await;
    world.sees("37").await;
    world
        .execute(
            "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks)
                   VALUES ('worker-new', 'Zephyra-1', 'Zephyra', 'any', '{}', 'active', 3)",
        )
        .await;
    world.sees("Zephyra").await;
    world
        .execute("DELETE FROM worker_registry WHERE pod = 'Zephyra'; DELETE FROM worker_tasks WHERE status = 'pending'")
        .await;
    world.says_no_more("Zephyra").await;
    assert_eq!(world.browser.read("window.isTheSame").await.unwrap(), json!(true));
    world.assert_no_errors().await;
}

/// A row's word for the proxy on port 7001: dead after its first request.
const HEALTH: &str =
    "[...document.querySelectorAll('main tr[data-row]')].find((row) => row.innerText.includes('198.51.100.1:7001'))
                        ?.querySelector('.status')?.innerText.trim()";

#[tokio::test]
async fn a_dead_proxy_is_failing_on_every_page_as_in_the_api() {
    let world = World::start().await;
    world
        .execute(
            "INSERT INTO proxies (id, host, port, last_error, consecutive_failure_count, recent_requests, recent_failed)
             VALUES (7001, '198.51.100.1', 7001, 'no answer', 1, 1, 1), (7002, '198.51.100.1', 7002, NULL, 0, 0, 0);
             INSERT INTO proxy_benches VALUES (7002, 'menu.test', now() + interval '1 hour', 'too many blocks in a row')",
        )
        .await;
    let word = world.server.get("/api/proxies/7001").await.expect(200)["health"].clone();
    assert_eq!(word, "failing");
    for page in ["/admin/proxies", "/admin"] {
        world.open(page).await;
        world.browser.until("the proxy has its word", &format!("({HEALTH})?.toLowerCase() === {word}")).await.unwrap();
    }
    world.open("/admin/proxies?health=benched").await;
    world.sees("benched at menu.test").await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_tab_that_is_not_seen_pauses() {
    let world = World::start().await;
    world.open("/admin").await;
    is_live(&world.browser).await;
    let hide = "const hidden = args[0];
                Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
                document.dispatchEvent(new Event('visibilitychange'))";
    world.browser.run(hide, vec![json!(true)]).await.unwrap();
    assert_eq!(world.browser.read(LIVE).await.unwrap(), "paused");
    world.browser.run(hide, vec![json!(false)]).await.unwrap();
    is_live(&world.browser).await;
}

/// A list of ten rows; with each step one of them becomes another. `seen` holds weakly whatever was shown.
const LIST: &str = r#"
    const base = document.querySelector('script[type=module]').src.replace(/[^/]*$/, '');
    import(base + 'core/html.js').then(({ html, memo, render, useState }) => {
      window.seen = [];
      const made = (id, text) => { const row = { id, text }; seen.push(new WeakRef(row)); return row; };
      let rows = Array.from({ length: 10 }, (_, id) => made(id, 'first'));
      const Row = memo(({ row }) => html`<li><b>row</b> ${row.text}</li>`);
      const List = () => {
        const [at, go] = useState(0);
        window.step = () => { rows = rows.map((row) => (row.id === at % 10 ? made(row.id, `step ${at}`) : row)); go(at + 1); };
        return html`<ul>${rows.map((row) => html`<${Row} key=${row.id} row=${row} />`)}</ul><p id="at">${at}</p>`;
      };
      render(html`<section><${List} /></section>`, document.body.appendChild(document.createElement('div')));
    });"#;

#[tokio::test]
async fn what_is_shown_no_more_is_kept_no_more() {
    let world = World::start().await;
    world.open("/login").await;
    world.browser.run(LIST, Vec::new()).await.unwrap();
    for at in 1..=60 {
        world.browser.until("the list is there", "!!window.step").await.unwrap();
        world.browser.run("step()", Vec::new()).await.unwrap();
        world
            .browser
            .until("the step is drawn", &format!("document.getElementById('at').textContent === '{at}'"))
            .await
            .unwrap();
    }
    world.browser.devtools("HeapProfiler.collectGarbage", json!({})).await.unwrap();
    let kept = world.browser.read("seen.filter((row) => row.deref()).length").await.unwrap().as_u64().unwrap();
    assert!(kept <= 20, "{kept} of 70 rows are kept, 10 are shown");
}

/// The API in a process of its own, at this address.
async fn api(database: &TestDatabase, address: &str) -> (Child, SocketAddr) {
    let mut command = drover();
    command.arg("api").env("DATABASE_URL", &database.url).env("DROVER__API__LISTEN", address);
    let process = Child::spawn(&mut command);
    let line = process.logged("Listening on ", PATIENCE).await;
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    (process, line["address"].as_str().unwrap().parse().unwrap())
}

/// The stream of events is refused, from the first script of the page on.
const NO_STREAM: &str = "const send = window.fetch;
    window.fetch = (...asked) => String(asked[0]).includes('/api/events') ? Promise.reject(new TypeError('held up')) : send(...asked)";

#[tokio::test]
async fn a_page_that_was_never_connected_says_that_it_connects() {
    let world = World::start().await;
    let script = json!({ "source": NO_STREAM });
    let held = world.browser.devtools("Page.addScriptToEvaluateOnNewDocument", script).await.unwrap();
    world.open("/admin/job-queue").await;
    let banner = "document.querySelector('main .banner')?.innerText ?? ''";
    world.browser.until("a banner says so", &format!("({banner}).startsWith('Connecting.')")).await.unwrap();
    let said =
        world.browser.read(&format!("document.querySelector('.live').innerText.trim() + {banner}")).await.unwrap();
    let said = said.as_str().unwrap().to_owned();
    world.browser.devtools("Page.removeScriptToEvaluateOnNewDocument", held).await.unwrap();
    assert!(said.starts_with("Connecting") && !said.contains("lost") && !said.contains("old data"), "{said}");
}

#[tokio::test]
async fn a_page_says_that_its_server_is_away_and_goes_on_once_it_is_back() {
    let database = database().await;
    let (mut process, address) = api(&database, "127.0.0.1:0").await;
    let browser = LentBrowser::take().await;
    browser.open(&format!("http://{address}/admin/job-queue")).await.unwrap();
    is_live(&browser).await;
    browser.run("window.isTheSame = true", Vec::new()).await.unwrap();

    process.start_kill().unwrap();
    process.ended(PATIENCE).await;
    browser.until("the stream is lost", &format!("{LIVE} === 'lost'")).await.unwrap();
    browser
        .until("a banner says so", "document.querySelector('main .banner')?.innerText.includes('Stale since')")
        .await
        .unwrap();
    database
        .raw
        .batch_execute(
            "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks)
             VALUES ('worker-new', 'Zephyra-1', 'Zephyra', 'any', '{}', 'active', 3)",
        )
        .await
        .unwrap();

    let (_process, _) = api(&database, &address.to_string()).await;
    is_live(&browser).await;
    let main = "document.querySelector('main').innerText";
    browser.until("what happened meanwhile is shown", &format!("{main}.includes('Zephyra')")).await.unwrap();
    browser.until("the banner is gone", &format!("!{main}.includes('Stale since')")).await.unwrap();
    assert_eq!(browser.read("window.isTheSame").await.unwrap(), json!(true));
}

//! Pages say what is so: the verdict on the workers, and one number for one thing.

use serde_json::json;

use super::world::World;

/// A proxy, and schedules that are not due, so that the verdict gets as far as the workers.
const CALM: &str = "UPDATE task_schedules SET next_run_at = now() + interval '1 hour';
    DELETE FROM worker_registry; UPDATE proxies SET last_error = NULL";

/// A worker of the pod Kryll with one slot for each of its tasks, and one more.
fn worker(n: usize, status: &str) -> String {
    format!(
        "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks)
         VALUES ('w{n}', 'Kryll-{n}', 'Kryll', 'any', '{{}}', '{status}', 3);"
    )
}

const VERDICT: &str = "document.querySelector('.verdict').innerText.replace(/\\s+/g, ' ')";

impl World {
    /// Waits until the verdict on workers with these statuses holds this text.
    async fn says_of_workers(&self, statuses: &[&str], text: &str) {
        let workers: String = statuses.iter().enumerate().map(|(n, status)| worker(n + 1, status)).collect();
        self.execute(&format!("DELETE FROM worker_registry; {workers}")).await;
        self.open("/admin").await;
        let holds = format!("document.querySelector('.verdict') && {VERDICT}.includes({})", json!(text));
        self.browser.until(&format!("the verdict says {text:?}"), &holds).await.unwrap();
    }
}

#[tokio::test]
async fn the_verdict_tells_workers_that_take_no_task() {
    let world = World::start().await;
    world.execute(CALM).await;
    world.says_of_workers(&["draining", "draining"], "Taking no new task: 2 workers drain.").await;
    world.says_of_workers(&["paused"], "Taking no new task: 1 worker is paused.").await;
    world.says_of_workers(&["backing_off", "paused"], "Taking no new task: 1 worker is paused, 1 backs off.").await;
    world.says_of_workers(&["offline"], "Not crawling: no worker runs.").await;
    world.says_of_workers(&["active", "offline"], "1 worker is lost of 2").await;
    world.execute("INSERT INTO worker_tasks (role) VALUES ('analytics_refresh')").await;
    world.says_of_workers(&["active", "draining"], "Crawling with 1 of 2 workers, and keeping up.").await;
    world.says_of_workers(&["active", "draining"], "1 worker drains of 2").await;
    world.says_of_workers(&["active", "active"], "Crawling, and keeping up.").await;
    world.execute("DELETE FROM worker_tasks WHERE status = 'pending'; INSERT INTO worker_tasks (role) VALUES ('scrape_account')").await;
    world.says_of_workers(&["active"], "Idle: no task of the crawl waits.").await;
    let pause = |scope: &str, of: &str| {
        format!(
            "INSERT INTO pauses (scope, target, reason, created_by) VALUES ('{scope}', '{of}', 'maintenance', 'me')"
        )
    };
    world.execute(&pause("host", "dutchie.com")).await;
    world.says_of_workers(&["active"], "Not crawling: host dutchie.com is paused. me: maintenance.").await;
    world.execute(&pause("role", "payload_fetch")).await;
    world.says_of_workers(&["active"], "Not crawling: role payload_fetch is paused. me: maintenance.").await;
    world.execute(&pause("all", "")).await;
    world.says_of_workers(&["active"], "Paused: no task is claimed. me: maintenance.").await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn the_memory_of_a_process_is_shown_once_for_all_its_pods() {
    let world = World::start().await;
    let workers = |pod: &str, start: &str| {
        format!(
            "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks, resources, started_at)
             VALUES ('{pod}', '{pod}-1', '{pod}', 'any', '{{}}', 'active', 3, '{{\"memory_percent\": 10, \"cpu_percent\": 12}}', '{start}');"
        )
    };
    world
        .execute(&format!(
            "DELETE FROM worker_registry; {} {} {}",
            workers("Aethelgard", "2026-11-28 10:00Z"),
            workers("Kryll", "2026-11-28 10:00Z"),
            workers("Xylos", "2026-11-28 11:00Z")
        ))
        .await;
    for page in ["/admin", "/admin/workers", "/admin/job-queue"] {
        world.open(page).await;
        world.sees("process of Aethelgard").await;
        let shown = "[...document.querySelectorAll('main .meter, main th .scope')].filter((each) => /12 %/.test(each.innerText)).length";
        assert_eq!(world.browser.read(shown).await.unwrap(), 2, "once a process on {page}");
    }
}

/// The verdict where this is not read yet.
const VERDICT_WITHOUT: &str = "
    const base = document.querySelector('script[type=module]').src.replace(/[^/]*$/, '');
    const [{ Verdict }, { html, render }] = await Promise.all([import(base + 'pages/overview/verdict.js'), import(base + 'core/html.js')]);
    const overview = await (await fetch('/api/overview')).json();
    const seen = { overview, hosts: [], proxies: [] };
    delete seen[args[0]];
    const place = document.createElement('div');
    render(html`<${Verdict} ...${seen} />`, place);
    return place.textContent.trim();";

#[tokio::test]
async fn the_verdict_says_nothing_before_all_that_it_judges_is_read() {
    let world = World::start().await;
    world.open("/admin").await;
    for missing in ["overview", "hosts", "proxies"] {
        let verdict = world.browser.run(VERDICT_WITHOUT, vec![json!(missing)]).await.unwrap();
        assert_eq!(verdict, "Loading the state.", "without {missing}");
    }
    let verdict = world.browser.run(VERDICT_WITHOUT, vec![json!("nothing")]).await.unwrap();
    assert!(verdict.as_str().unwrap().contains("look at"), "{verdict}");
}

/// Texts of parts of the page, by name.
const PARTS: &str = "(() => {
    const text = (element) => element?.innerText.replace(/\\s+/g, ' ') ?? '';
    const panel = (title) => text([...document.querySelectorAll('main section')].find((one) => text(one.querySelector('h2')) === title));
    const figure = text([...document.querySelectorAll('main dl.strip > *')].find((one) => text(one).startsWith('Running')));
    return { figure, pods: panel('Where it runs'), scraping: panel('Currently scraping'), running: panel('Running'), hub: text(document.querySelector('.hub .core')) };
  })()";

#[tokio::test]
async fn the_same_number_of_tasks_runs_in_every_part_of_a_page() {
    let world = World::start().await;
    world.execute(CALM).await;
    let old = "active_task_count = 1, current_task_ids = '{21}'";
    world
        .execute(&format!(
            "{} {} UPDATE worker_registry SET {old};
             INSERT INTO worker_tasks (id, role, status, worker_id, claimed_at, started_at, lease_expires_at, last_heartbeat_at, fence)
             SELECT 20 + n, 'analytics_refresh', CASE WHEN n = 1 THEN 'claimed' ELSE 'running' END, 'w1', now(), now(), now() + interval '1 hour', now(), 1
               FROM generate_series(1, 3) n",
            worker(1, "active"),
            worker(2, "offline")
        ))
        .await;
    world.open("/admin").await;
    world.browser.until("the parts are read", &format!("{PARTS}.scraping.includes('3 of 3')")).await.unwrap();
    let parts = world.browser.read(PARTS).await.unwrap();
    let text = |name: &str| parts[name].as_str().unwrap().to_owned();
    assert!(text("figure").contains("3 / 3 slots") && text("figure").contains("on 1 worker"), "{parts}");
    assert!(text("pods").contains("1 worker, 3 slots") && text("pods").contains("3 / 3"), "{parts}");

    world.open("/admin/job-queue").await;
    world.browser.until("the tasks are read", &format!("{PARTS}.running.includes('3 of 3')")).await.unwrap();
    let hub = world.browser.read(&format!("{PARTS}.hub")).await.unwrap();
    assert!(hub.as_str().unwrap().contains("3 of 3 run"), "{hub}");
    world.assert_no_errors().await;
}

#[tokio::test]
async fn failed_tasks_and_failed_attempts_have_names_of_their_own() {
    let world = World::start().await;
    world.open("/admin").await;
    world.sees("attempts failed").await;
    let figures = "document.querySelector('main dl.strip').innerText.toLowerCase()";
    world.browser.until("the figure is named", &format!("{figures}.includes('failed tasks')")).await.unwrap();
}

#[tokio::test]
async fn a_store_says_how_many_of_its_menus_were_empty_before_it_counts_as_empty() {
    let world = World::start().await;
    world
        .execute("INSERT INTO suspicious_menus (dispensary_id, fetched_at, product_count) VALUES (902, now(), 0)")
        .await;
    world.open("/admin/stores/902").await;
    world.sees("1 of 3 crawls in a row found an empty menu. Its products stay as they are.").await;
    world.open("/admin/stores").await;
    world.sees("1 of 3 menus in a row empty").await;
    world.execute("DELETE FROM suspicious_menus").await;
    world.open("/admin/stores").await;
    world.says_no_more("menus in a row empty").await;
}

#[tokio::test]
async fn every_page_of_a_demo_says_which_of_its_history_is_simulated() {
    let world = World::start().await;
    world.open("/admin").await;
    world.says_no_more("simulated").await;
    world.execute("UPDATE installation SET simulated_until = now() - interval '5 hours'").await;
    for page in ["/admin", "/admin/proxies", "/admin/products/701", "/admin/stores/902"] {
        world.open(page).await;
        world.sees("is simulated: charts, prices and failed tasks.").await;
    }
    world.open("/admin").await;
    world.says_no_more("partly simulated").await;
    world.execute("UPDATE installation SET simulated_until = now() - interval '5 minutes'").await;
    world.open("/admin").await;
    world.sees("a minute, none simulated").await;
    world.sees("mended since, partly simulated").await;
    world
        .browser
        .until("the charts say it", "document.querySelectorAll('.charts figcaption .tag').length === 3")
        .await
        .unwrap();
}

#[tokio::test]
async fn a_run_that_was_just_made_is_not_claimed_again() {
    let world = World::start().await;
    world.open("/admin/schedules").await;
    let run = "//tr[contains(., 'analytics_refresh')]//button[starts-with(normalize-space(), 'Trigger')][not(@aria-busy='true')]";
    world.click(run).await;
    world.reports("ran and created 1 task").await;
    world.click(run).await;
    world.reports("did not run again").await;
}

#[tokio::test]
async fn the_audit_shows_a_number_of_stores_as_a_number() {
    let world = World::start().await;
    world
        .execute(
            "INSERT INTO audit_log (who, action, target, request_id, detail)
             VALUES ('local', 'stores.import', '901', 'a', '{}'), ('local', 'stores.set', '902', 'b', '{}')",
        )
        .await;
    world.open("/admin/audit").await;
    world.sees("901 stores").await;
    let links = "[...document.querySelectorAll('main a')].map((each) => each.getAttribute('href')).filter((to) => /stores\\/\\d+/.test(to))";
    let links = world.browser.read(links).await.unwrap();
    assert_eq!(links.as_array().map(Vec::len), Some(1), "only the changed store: {links}");
}

#[tokio::test]
async fn the_audit_shows_a_change_in_words() {
    let world = World::start().await;
    world
        .execute(
            r#"INSERT INTO audit_log (who, action, target, request_id, detail)
               VALUES ('local', 'stores.bulk', 'disable', 'a', '{"done": 2, "request": {"dry_run": false, "group": null, "ids": [4, 5]}}')"#,
        )
        .await;
    world.open("/admin/audit").await;
    world.sees("done: 2, request: (dry run: no, ids: 4, 5)").await;
    world.sees("1 change on this page").await;
}

#[tokio::test]
async fn an_attempt_shows_its_worker_by_the_name_of_the_list_and_the_id_of_the_log() {
    let world = World::start().await;
    world.execute("DELETE FROM worker_registry").await;
    world.open("/admin/tasks/801").await;
    let scopes = "[...document.querySelectorAll('.attempts .scope')].map((each) => each.innerText).filter((text) => text.includes('Kryll-1, worker-Kryll1')).length";
    world.browser.until("both attempts have the name", &format!("{scopes} === 2")).await.unwrap();
}

#[tokio::test]
async fn a_price_for_patients_stands_beside_a_recreational_one_that_differs() {
    let world = World::start().await;
    world.execute("UPDATE store_products SET price_med = 2900 WHERE id = 701").await;
    world.execute("UPDATE store_product_variants SET price_med = 2900 WHERE option_label = '1/8oz'").await;
    world.execute("UPDATE store_product_variants SET price_med = price_rec WHERE option_label = '1g'").await;
    world.open("/admin/products/701").await;
    world.sees("medical $ 29.00").await;
    let text = world.browser.read("document.querySelector('main').innerText").await.unwrap();
    assert_eq!(text.as_str().unwrap().matches("medical").count(), 1, "{text}");
}

#[tokio::test]
async fn a_sold_out_option_has_none_left() {
    let world = World::start().await;
    world
        .execute(
            "UPDATE store_products SET first_seen_at = now() - interval '3 hours';
             INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, is_in_stock, quantity, quantity_censored, gone)
             VALUES (701, '1g', 0, 1, now() - interval '2 hours', true, 62, false, false),
                    (701, '1g', 0, 2, now() - interval '1 hour', false, 62, false, false)",
        )
        .await;
    world.open("/admin/products/701").await;
    world.sees("sold out since").await;
    let text = world.browser.read("document.querySelector('main').innerText").await.unwrap();
    assert!(!text.as_str().unwrap().contains("62 left"), "{text}");
    world.assert_no_errors().await;
}

/// The text beside a page's name in the navigation.
fn beside(page: &str) -> String {
    format!(
        "(document.querySelector('.nav a[href=\"/admin/{page}\"] small')?.innerText.replace(/\\s+/g, ' ').trim() ?? '')"
    )
}

#[tokio::test]
async fn the_navigation_counts_what_is_in_trouble() {
    let world = World::start().await;
    world.execute("UPDATE proxies SET last_error = NULL; UPDATE dispensaries SET last_complete_at = now()").await;
    world.open("/admin/audit").await;
    for (page, text) in
        [("tasks", "3 failed, of all kept tasks"), ("stores", "2 stores"), ("proxies", ""), ("hosts", "")]
    {
        world
            .browser
            .until(&format!("{page} without trouble"), &format!("{} === '{text}'", beside(page)))
            .await
            .unwrap();
    }
    world
        .execute(
            "INSERT INTO dispensaries (id, name, slug) VALUES (903, 'Zinnia', 'wrong');
             INSERT INTO hosts (host, breaker) VALUES ('a.test', 'open');
             INSERT INTO proxies (host, port, last_error, consecutive_failure_count, recent_requests, recent_failed)
             VALUES ('198.51.100.1', 1, 'no answer', 1, 1, 1)",
        )
        .await;
    world.open("/admin/audit").await;
    for (page, text) in [("stores", "1 in trouble"), ("proxies", "1 in trouble"), ("hosts", "1 on hold")] {
        world.browser.until(&format!("{page} in trouble"), &format!("{} === '{text}'", beside(page))).await.unwrap();
    }
    let asked = "performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname).filter((path) => path.startsWith('/api/')).sort().join()";
    let asked = world.browser.read(asked).await.unwrap();
    let frame = ["/api/overview/navigation", "/api/tasks/counts", "/api/worker-registry"];
    assert!(frame.iter().all(|path| asked.as_str().unwrap().contains(path)), "{asked}");
    assert!(!asked.as_str().unwrap().contains("hosts"), "each number is in one answer: {asked}");
}

#[tokio::test]
async fn the_charts_show_the_breakers_threshold_and_the_roles() {
    let world = World::start().await;
    world
        .execute(
            "INSERT INTO worker_tasks (role, status, created_at, started_at, completed_at)
             SELECT role, 'completed', now(), now(), now() FROM unnest('{payload_fetch,product_refresh,analytics_refresh}'::text[]) AS role",
        )
        .await;
    world.open("/admin").await;
    let share = 100.0 * world.server.state.politeness.current().breaker_share;
    world.sees(&format!("opens at {share}")).await;
    world.browser.until("the line is drawn", "!!document.querySelector('.charts .limit')").await.unwrap();
    world.browser.choose("main [aria-label='Parts of the throughput chart']", "role").await.unwrap();
    world.browser.until("it is in the address", "location.search === '?split=role'").await.unwrap();
}

#[tokio::test]
async fn a_proxy_that_never_answers_has_a_colour_of_its_own() {
    let world = World::start().await;
    world
        .execute(
            "INSERT INTO fetch_minute (minute, process, host, proxy_id, outcome, requests, bytes_sent, bytes_received, seconds)
             SELECT date_trunc('minute', now()) - interval '5 minutes', 1, 'menu.test', p.id, 'proxy_down', 7, 10, 0, 9 FROM proxies p WHERE p.port = 3128",
        )
        .await;
    for page in ["/admin", "/admin/proxies"] {
        world.open(page).await;
        let bars = "(() => { const row = [...document.querySelectorAll('main tr')].find((row) => row.querySelector('.spark .none'));
            return row ? ['ok', 'bad', 'none'].map((kind) => row.querySelectorAll(`.spark .${kind}`).length).join() + row.querySelector('.spark').parentElement.title : ''; })()";
        let expected = "0,0,17 requests: 0 refused, 7 without an answer";
        world.browser.until(&format!("its strip on {page}"), &format!("({bars}) === '{expected}'")).await.unwrap();
    }
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_chart_by_day_ends_today() {
    let world = World::start().await;
    world.open("/admin/proxies").await;
    let last = "[...document.querySelectorAll('main .chart')].find((each) => each.innerText.startsWith('Bytes a day'))?.querySelector('.axis li:last-child')?.innerText";
    let today = "new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(new Date()).replace('Sept', 'Sep')";
    world.browser.until("the last label is today", &format!("{last} === {today}")).await.unwrap();
}

#[tokio::test]
async fn each_crawl_of_a_short_history_is_a_dot_with_its_time_and_value() {
    let world = World::start().await;
    world
        .execute(
            "UPDATE store_products SET first_seen_at = now() - interval '3 hours';
             INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, price_rec, is_in_stock, quantity, quantity_censored, gone)
             VALUES (701, '1g', 0, 1, now() - interval '2 hours', 3000, true, 62, false, false),
                    (701, '1g', 0, 2, now() - interval '1 hour', 2500, true, 61, false, false)",
        )
        .await;
    world.open("/admin/products/701").await;
    let dots = "[...document.querySelectorAll('[aria-label=\"Price history\"] .dot title')].map((each) => each.textContent.replace(/.* UTC/, 'at')).join()";
    world.browser.until("both prices are dots", &format!("{dots} === 'at: 1g $ 30.00,at: 1g $ 25.00'")).await.unwrap();
    world.assert_no_errors().await;
}

#[tokio::test]
async fn images_of_a_host_that_is_not_permitted_are_a_thing_to_look_at() {
    let world = World::start().await;
    world.execute(CALM).await;
    world
        .execute(
            "INSERT INTO product_image_failures (product_id, image_url, reason, tries, retry_at)
             VALUES (701, 'https://elsewhere.test/a.jpg', 'refused_host', 1, now())",
        )
        .await;
    world.says_of_workers(&["active"], "1 image not downloaded: its host is in no platform's image_hosts").await;
    world.says_of_workers(&["active"], "once they are added and drover is restarted").await;
    world.sees("1 image not stored: 1 from a host that is in no platform's image_hosts.").await;
    // its host is permitted by now
    world.execute("UPDATE product_image_failures SET image_url = 'https://permitted.test/a.jpg'").await;
    world.open("/admin").await;
    world.sees("What fails").await;
    world.says_no_more("image_hosts").await;
    world.says_no_more("not stored").await;
    world.execute("UPDATE image_totals SET stored = 4050, bytes = 81000000").await;
    world.open("/admin").await;
    world.sees("4,050 images downloaded, 81.0 MB").await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_failed_media_job_is_of_no_store_and_first_crawls_have_a_latency() {
    let world = World::start().await;
    world
        .execute(
            "INSERT INTO worker_tasks (role, status, error_message, completed_at) VALUES ('scrape_account', 'failed', 'no such account', now());
             INSERT INTO stats_minute (minute, role, outcome, tasks, waits, wait_seconds, runs, run_seconds, products, run_buckets)
             VALUES (date_trunc('minute', now()) - interval '3 minutes', 'product_discovery', 'completed', 3, 3, 3, 3, 30, 0, '{\"40\": 3}')",
        )
        .await;
    world.open("/admin").await;
    world.sees("no such account").await;
    world.says_no_more("0 stores").await;
    let role = "document.querySelector('[aria-label=\"Role of the latency chart\"]').value";
    world.browser.until("the role that ran is chosen", &format!("{role} === 'product_discovery'")).await.unwrap();
}

#[tokio::test]
async fn a_backlog_is_mentioned_only_where_tasks_wait() {
    let world = World::start().await;
    for (sql, says, says_not) in [
        ("SELECT", "No task waits", "To finish it in"),
        ("INSERT INTO worker_tasks (role) VALUES ('product_refresh')", "To finish it in 1 hour", "No task waits"),
    ] {
        world.execute(sql).await;
        world.open("/admin/capacity").await;
        world.sees(says).await;
        world.says_no_more(says_not).await;
    }
    world.open("/admin").await;
    world.sees("1 slot finishes the backlog within 1 hour").await;
    world.execute("DELETE FROM worker_tasks WHERE status = 'pending'").await;
    world.open("/admin").await;
    world.sees("Is anything behind").await;
    world.sees("What fails").await;
    world.says_no_more("finishes the backlog").await;
}

#[tokio::test]
async fn the_job_queue_shows_a_pods_failures_and_its_pause_button() {
    let world = World::start().await;
    world.open("/admin/job-queue").await;
    let row = "[...document.querySelectorAll('main tr')].find((row) => row.innerText.startsWith('Kryll'))?.innerText.replace(/\\s+/g, ' ') ?? ''";
    world
        .browser
        .until("its failures are counted", &format!("({row}).includes('3 1 active, 1 backing off Pause')"))
        .await
        .unwrap();
    world.open("/admin/job-queue?pod=Kryll").await;
    world.sees("3 failed in the last hour").await;
    world.press("Pause… Kryll").await;
}

#[tokio::test]
async fn a_failure_of_a_deleted_store_leaves_the_list_the_figure_and_the_verdict() {
    let world = World::start().await;
    world
        .execute(
            "DELETE FROM worker_tasks WHERE status = 'failed';
             INSERT INTO dispensaries (id, name, slug) VALUES (903, 'Zinnia', 'wrong');
             INSERT INTO worker_tasks (role, dispensary_id, status, error_message, completed_at)
             VALUES ('entry_point_discovery', 903, 'failed', 'no store at wrong', now())",
        )
        .await;
    world.open("/admin").await;
    world.sees("no store at wrong").await;
    world.sees("1 task failed in an hour").await;
    let roles = "[...document.querySelectorAll('.strip a')].some((each) => each.href.endsWith('?status=failed&role=entry_point_discovery'))";
    world.browser.until("the figure leads to what it counts", roles).await.unwrap();
    world.execute("DELETE FROM dispensaries WHERE id = 903").await;
    world.open("/admin").await;
    world.sees("nothing in the last hour; 1 mended since").await;
    world.says_no_more("no store at wrong").await;
    world.says_no_more("task failed in an hour").await;
}

//! Buttons do what they say.

use serde_json::json;
use xtask::browser::Key;
use xtask::look::Look;

use super::world::{World, in_dialog};
use crate::api::server::Server;
use testkit::{ClusterMood, FakeCluster, PATIENCE, until};

#[tokio::test]
async fn a_failed_task_is_retried_from_its_page() {
    let world = World::start().await;
    world.open("/admin").await;
    world.click("//a[contains(., 'refused the request')]").await;
    world.browser.until("its tasks", "location.search.includes('error=')").await.unwrap();
    world.click("//main//tbody//th//a[1]").await;
    world.sees("Attempt").await;
    world.sees("dutchie.com refused the request: 403").await;
    world.press("Retry").await;
    world.sees("Pending").await;
    assert_eq!(world.count("SELECT count(*) FROM worker_tasks WHERE status = 'pending' AND id IN (801, 802)").await, 1);
    world.assert_no_errors().await;
}

#[tokio::test]
async fn all_tasks_that_match_a_filter_are_retried_and_no_others() {
    let world = World::start().await;
    world.open("/admin/tasks").await;
    world.browser.fill("main [role=combobox]", "status:failed error:refused\u{e007}").await.unwrap();
    world
        .browser
        .until("the filter is in the address", "location.search === '?status=failed&error=refused'")
        .await
        .unwrap();
    world.says_no_more("the menu came back empty").await;
    world.press("Select all that match").await;
    world.press("Retry all").await;
    world
        .browser
        .until("it says how many", "document.querySelector('dialog')?.innerText.includes('Retry 2 tasks?')")
        .await
        .unwrap();
    world.click(&in_dialog("Retry 2")).await;
    world.sees("No task matches").await;
    assert_eq!(world.count("SELECT count(*) FROM worker_tasks WHERE status = 'pending' AND id IN (801, 802)").await, 2);
    assert_eq!(world.count("SELECT count(*) FROM worker_tasks WHERE status = 'failed'").await, 1);
    assert_eq!(world.count("SELECT count(*) FROM audit_log WHERE action = 'tasks.bulk'").await, 1);
}

#[tokio::test]
async fn a_worker_is_paused_and_another_decommissioned_after_a_question() {
    let world = World::start().await;
    world.open("/admin/workers").await;
    world.press("Pause Kryll-1").await;
    world.press("Decommission… Xylos-1").await;
    world.click(&in_dialog("Cancel")).await;
    world.press("Decommission… Xylos-2").await;
    world.click(&in_dialog("Decommission")).await;
    world.reports("Xylos-2 is decommissioned").await;
    let orders = "SELECT count(*) FROM worker_commands WHERE (worker_id, command) IN (('worker-Kryll1', 'pause'), ('worker-Xylos2', 'decommission'))";
    until("both orders are given", PATIENCE, async || world.count(orders).await == 2).await;
    assert_eq!(world.count("SELECT count(*) FROM worker_commands").await, 2);
    assert_eq!(world.count("SELECT count(*) FROM pauses WHERE scope = 'worker' AND target = 'Kryll-1'").await, 1);
}

#[tokio::test]
async fn an_admin_scales_the_pods_in_kubernetes() {
    let cluster = FakeCluster::start().await;
    cluster.annotate(json!({ "dispensary-scraper/autoscaler": "KEDA" }));
    let world = World::on(Server::with_cluster(cluster.settings()).await).await;
    world.open("/admin/workers").await;
    world.sees("5 pods wanted, 5 there, 4 ready. KEDA sets the number, too.").await;
    world.press("Scale…").await;
    dialog_says(&world, "0 to 50").await;
    world.browser.fill("dialog [name=replicas]", "8").await.unwrap();
    world.click(&in_dialog("Scale")).await;
    world.sees("8 pods wanted").await;
    assert_eq!(cluster.replicas(), 8);
    world.click("//button[@aria-label='One pod more']").await;
    world.reports("9 pods wanted").await;
    world.click("//button[@aria-label='One pod less'][not(@disabled)]").await;
    world.reports("8 pods wanted").await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_refusal_of_kubernetes_is_shown_where_the_pods_would_be() {
    let cluster = FakeCluster::start().await;
    cluster.set_mood(ClusterMood::Refuses(403));
    let world = World::on(Server::with_cluster(cluster.settings()).await).await;
    world.open("/admin/workers").await;
    world.sees("Role worker-scaler").await;
}

#[tokio::test]
async fn outside_of_kubernetes_the_page_of_workers_names_no_pods_of_it() {
    let world = World::on(Server::with_cluster(testkit::config(&[]).kubernetes).await).await;
    world.open("/admin/workers").await;
    world.sees("Kryll-1").await;
    world.says_no_more("Pods in Kubernetes").await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_second_click_before_the_row_has_changed_does_nothing() {
    let world = World::start().await;
    world.open("/admin/workers").await;
    let pauses = "[...document.querySelectorAll('main tbody button')].find(({ textContent }) => textContent.includes('Pause Kryll-1'))";
    world.browser.until("the button", &format!("!!{pauses}")).await.unwrap();
    let twice = format!("(() => {{ const button = {pauses}; button.click(); button.click(); return true }})()");
    world.browser.read(&twice).await.unwrap();
    let given = "SELECT count(*) FROM audit_log";
    until("a click was carried out", PATIENCE, async || world.count(given).await > 0).await;
    world.sees("Resume").await;
    assert_eq!(world.count(given).await, 1);
    assert_eq!(world.count("SELECT count(*) FROM pauses WHERE scope = 'worker'").await, 1);
}

#[tokio::test]
async fn a_schedule_runs_now_and_is_edited_and_switched_off() {
    let world = World::start().await;
    world.open("/admin/schedules").await;
    world.press("Trigger analytics_refresh").await;
    world.sees("1 task").await;
    assert_eq!(
        world.count("SELECT count(*) FROM worker_tasks WHERE status = 'pending' AND role = 'analytics_refresh'").await,
        1
    );
    world.press("Edit… payload_fetch_all").await;
    world.browser.fill("dialog [name=interval_hours]", "7").await.unwrap();
    world.click(&in_dialog("Save")).await;
    let interval = "[...document.querySelectorAll('main tbody tr')].find((row) => row.innerText.startsWith('payload_fetch_all')) \
                    ?.querySelector('[data-l=every]').innerText.trim() === '7 h'";
    world.browser.until("the row has the new interval", interval).await.unwrap();
    world.press("Disable payload_fetch_all").await;
    world.press("Enable payload_fetch_all").await;
    world.press("Disable payload_fetch_all").await;
    world.sees("Off").await;
    let changed =
        "SELECT count(*) FROM task_schedules WHERE name = 'payload_fetch_all' AND interval_hours = 7 AND NOT enabled";
    assert_eq!(world.count(changed).await, 1);
}

#[tokio::test]
async fn a_store_is_switched_off() {
    let world = World::start().await;
    world.open("/admin/stores/902").await;
    world.press("More").await;
    world.press("Disable").await;
    world.click(&in_dialog("Disable 1 store")).await;
    world.sees("Disabled").await;
    assert_eq!(world.count("SELECT count(*) FROM dispensaries WHERE id = 902 AND NOT crawl_enabled").await, 1);
}

#[tokio::test]
async fn a_store_is_deleted_after_a_question() {
    let world = World::start().await;
    world.open("/admin/stores/902").await;
    world.press("More").await;
    world.press("Delete…").await;
    dialog_says(&world, "cannot be restored").await;
    world.click(&in_dialog("Delete 1 store")).await;
    world.reports("is deleted").await;
    world.sees("1 of 1 store, trouble first").await;
    assert_eq!(world.count("SELECT count(*) FROM dispensaries WHERE id <> 902").await, 1);
    world.open("/admin/tasks?status=failed").await;
    world.sees("store 902, deleted").await;
}

#[tokio::test]
async fn a_list_with_a_former_slug_names_the_store_and_adds_none() {
    let world = World::start().await;
    world
        .execute(
            "UPDATE dispensaries SET slug = 'old' WHERE id = 902; UPDATE dispensaries SET slug = 'new' WHERE id = 902",
        )
        .await;
    world.open("/admin/stores").await;
    world.press("Import").await;
    world.browser.fill("dialog textarea", "name,slug\nLeaf,Old").await.unwrap();
    world.click(&in_dialog("Import")).await;
    world.reports("store 902 was old and is new now").await;
    assert_eq!(world.count("SELECT count(*) FROM dispensaries").await, 2);
}

#[tokio::test]
async fn a_store_that_cannot_be_crawled_has_a_reason_in_place_of_the_action() {
    let world = World::start().await;
    world
        .execute(
            "INSERT INTO dispensaries (id, name, menu_url) VALUES (903, 'Zinnia', 'https://dutchie.com/stores/zinnia');
             INSERT INTO dispensaries (id, name, platform_dispensary_id, crawl_enabled) VALUES (904, 'Yarrow', 'yarrow', false)",
        )
        .await;
    let button =
        "[...document.querySelectorAll('.page-head button')].find((each) => each.innerText.startsWith('Crawl now'))";
    for (store, reason) in [(903, "Its id at the platform is not known yet."), (904, "Its crawls are disabled.")] {
        world.open(&format!("/admin/stores/{store}")).await;
        let says =
            format!("{button}?.disabled && {button}.title === '{reason}' && {button}.innerText.includes('{reason}')");
        world.browser.until(&format!("store {store} says why"), &says).await.unwrap();
    }
    world.open("/admin/stores/902").await;
    world.browser.until("another is crawled", &format!("{button}?.disabled === false")).await.unwrap();
    world.open("/admin/stores/903").await;
    let menu =
        "document.querySelector('main a[href=\"https://dutchie.com/stores/zinnia\"]')?.relList.contains('noreferrer')";
    world.browser.until("its menu is a link", &format!("{menu} === true")).await.unwrap();
}

/// Waits until the open dialog holds this text.
async fn dialog_says(world: &World, text: &str) {
    let holds = format!("document.querySelector('dialog[open]')?.innerText.includes({})", serde_json::json!(text));
    world.browser.until(&format!("the dialog says {text:?}"), &holds).await.unwrap();
}

#[tokio::test]
async fn proxies_are_imported_and_a_wrong_line_is_named_as_it_was_typed() {
    let world = World::start().await;
    world.open("/admin/proxies").await;
    world.press("Import").await;
    world.browser.fill("dialog textarea", "# mine\n203.0.113.20:3128\n\nnot a proxy\n203.0.113.20:3128").await.unwrap();
    world.click(&in_dialog("Import")).await;
    dialog_says(&world, "line 4: ").await;
    dialog_says(&world, "line 5: is the same proxy as line 2").await;
    world.browser.fill("dialog textarea", "203.0.113.20:3128\nsocks5://u:p@203.0.113.21:1080").await.unwrap();
    world.click(&in_dialog("Import")).await;
    until("both are imported", PATIENCE, async || world.count("SELECT count(*) FROM proxies").await == 4).await;
    world.open("/admin/proxies").await;
    world.sees("203.0.113.21:1080").await;
}

#[tokio::test]
async fn proxies_are_imported_from_a_file_with_the_columns_of_the_command_line() {
    let world = World::start().await;
    let dir = tempfile::tempdir().unwrap();
    let (bad, good) = (dir.path().join("bad.csv"), dir.path().join("good.csv"));
    std::fs::write(&bad, "host,port,colour\nh.example,80,red\n").unwrap();
    std::fs::write(&good, "\u{feff}Port,Host,protocol,state_code\r\n1080,\"h.example\",socks5,AZ\r\n").unwrap();
    world.open("/admin/proxies").await;
    world.press("Import").await;
    world.browser.fill("dialog [type=file]", bad.to_str().unwrap()).await.unwrap();
    world.click(&in_dialog("Import")).await;
    dialog_says(&world, "line 1: unknown column 'colour'").await;
    world.browser.fill("dialog [type=file]", good.to_str().unwrap()).await.unwrap();
    world.click(&in_dialog("Import")).await;
    let imported = "SELECT count(*) FROM proxies WHERE host = 'h.example' AND port = 1080 AND protocol = 'socks5' AND state_code = 'AZ'";
    until("it is imported", PATIENCE, async || world.count(imported).await == 1).await;
}

#[tokio::test]
async fn a_store_is_added_and_its_menu_id_looked_up() {
    let world = World::start().await;
    world.open("/admin/stores").await;
    world.press("Add store").await;
    world.browser.fill("dialog [name=name]", "Moss").await.unwrap();
    world.click(&in_dialog("Add store")).await;
    dialog_says(&world, "the platform's id, the slug or the menu URL must be given").await;
    world.browser.fill("dialog [name=slug]", "moss").await.unwrap();
    world.click(&in_dialog("Add store")).await;
    let queued = "SELECT count(*) FROM worker_tasks WHERE role = 'entry_point_discovery' AND status = 'pending'";
    until("its look-up waits", PATIENCE, async || world.count(queued).await == 1).await;
    world.open("/admin/stores").await;
    world.sees("Moss").await;
    world.sees("3 of 3 stores, trouble first").await;
}

#[tokio::test]
async fn a_list_of_stores_is_imported_and_its_faults_have_their_lines() {
    let world = World::start().await;
    world.open("/admin/stores").await;
    world.press("Import").await;
    world.browser.fill("dialog textarea", "name,slug,state,groups\n# two\nLeaf,leaf,ZZ,\n,fern,AZ,").await.unwrap();
    world.click(&in_dialog("Import")).await;
    dialog_says(&world, "line 3: state 'ZZ' does not exist").await;
    dialog_says(&world, "line 4: name is missing").await;
    assert_eq!(world.count("SELECT count(*) FROM dispensaries").await, 2);
    world
        .browser
        .fill("dialog textarea", "name,slug,state,groups\nLeaf,leaf,AZ,rivals;near\n\"Fern, The\",fern,AZ,")
        .await
        .unwrap();
    world.click(&in_dialog("Import")).await;
    until("both are imported", PATIENCE, async || world.count("SELECT count(*) FROM dispensaries").await == 4).await;
    world.open("/admin/stores").await;
    world.sees("Fern, The").await;
    world.sees("4 of 4 stores, trouble first").await;
    assert_eq!(world.count("SELECT count(*) FROM dispensaries WHERE groups @> '{rivals,near}'").await, 1);
}

#[tokio::test]
async fn all_faults_of_a_list_are_named_in_the_order_of_its_lines() {
    let world = World::start().await;
    let faults =
        "[...document.querySelectorAll('dialog[open] .faults li')].map((each) => each.innerText.split(':')[0]).join()";
    for (page, list, lines) in [
        (
            "/admin/stores",
            "name,slug,state,platform\nLeaf,leaf,ZZ,\nFern,fern,AZ,toy\n,moss,AZ,\nMoss,moss\nIvy,a shop,QQ,toy\nOak,oak,AZ,dutchie",
            "line 2,line 3,line 4,line 5,line 6,line 6,line 6",
        ),
        (
            "/admin/proxies",
            "host,port,protocol,state_code\nh.example,0,http,\nh.example,80,ftp,ZZ9\nh.example,x,,\n,81,,\nh.example,82,http,AZ",
            "line 2,line 3,line 3,line 4,line 5",
        ),
    ] {
        world.open(page).await;
        world.press("Import").await;
        world.browser.fill("dialog textarea", list).await.unwrap();
        world.click(&in_dialog("Import")).await;
        world.browser.until(&format!("the faults on {page}"), &format!("({faults}) === '{lines}'")).await.unwrap();
    }
    let counts = "SELECT (SELECT count(*) FROM dispensaries) + (SELECT count(*) FROM proxies)";
    assert_eq!(world.count(counts).await, 4, "nothing was imported");
}

#[tokio::test]
async fn a_task_is_made_for_a_store_that_is_found_by_its_name() {
    let world = World::start().await;
    world.open("/admin/tasks").await;
    world.press("New task").await;
    world.browser.fill("dialog #field-dispensary_id", "jalape").await.unwrap();
    let offered = "document.querySelector('dialog datalist option')?.value ?? ''";
    let offered = world.browser.until("the store is offered", offered).await.unwrap();
    world.click(&in_dialog("Create task")).await;
    assert_eq!(
        world.browser.read("!!document.querySelector('dialog[open] :invalid')").await.unwrap(),
        true,
        "a part is no store"
    );
    world.browser.fill("dialog #field-dispensary_id", "").await.unwrap();
    world.browser.fill("dialog #field-dispensary_id", offered.as_str().unwrap()).await.unwrap();
    world.click(&in_dialog("Create task")).await;
    let made =
        "SELECT count(*) FROM worker_tasks WHERE role = 'payload_fetch' AND status = 'pending' AND dispensary_id = 902";
    until("its task waits", PATIENCE, async || world.count(made).await == 1).await;
    world.open("/admin/tasks").await;
    world.browser.keys("/").await.unwrap();
    world.browser.keys("store:jalape").await.unwrap();
    let suggested =
        "[...document.querySelectorAll('#suggestions li')].map((each) => each.firstElementChild.innerText).join()";
    world.browser.until("the filter finds it, too", &format!("({suggested}) === 'store:902'")).await.unwrap();
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_suspicious_answer_is_shown_and_accepted() {
    let world = World::start().await;
    world
        .execute("INSERT INTO suspicious_switches (kind, scope, covered, switched, dispensary_ids) VALUES ('products', 'dutchie/902', 100, 80, '{902}')")
        .await;
    world.open("/admin/stores/902").await;
    world.sees("Its latest menu would put 80 of 100 products out of stock at once").await;
    world.press("Accept…").await;
    dialog_says(&world, "The next answer that says the same is believed.").await;
    world.click(&in_dialog("Accept")).await;
    world.sees("It is accepted: the next answer that says the same is believed.").await;
    assert_eq!(world.count("SELECT count(*) FROM suspicious_switches WHERE accepted_at IS NOT NULL").await, 1);
    world.open("/admin/stores/901").await;
    world.sees("What happens now").await;
    world.says_no_more("out of stock at once").await;
}

#[tokio::test]
async fn a_wrong_value_of_the_forecast_is_named_at_its_field_and_the_last_answer_stays() {
    let world = World::start().await;
    world.open("/admin/capacity").await;
    world.sees("; you have").await;
    world.browser.fill(".what-if [name=every]", "soon").await.unwrap();
    world.press("Forecast").await;
    let at_field = "document.querySelector('.what-if .wrong [name=every]')?.parentElement.querySelector('[role=alert]')?.innerText ?? ''";
    world.browser.until("it is said at the field", at_field).await.unwrap();
    world.sees("; you have").await;
    world.says_no_more("could not be read").await;
}

#[tokio::test]
async fn a_store_is_crawled_from_its_row_on_a_phone_too() {
    let world = World::start().await;
    world.browser.look(Look::phone(false)).await.unwrap();
    world.open("/admin/stores").await;
    world.sees("Jalapeño").await;
    let buttons = "[...document.querySelectorAll('main tbody button')].filter((each) => each.offsetParent).map((each) => each.innerText.trim().split('\\n')[0]).join()";
    let shown = world.browser.read(buttons).await.unwrap();
    assert!(!shown.as_str().unwrap().contains("Disable"), "{shown}");
    world.click("//tr[contains(., 'Jalapeño')]//button[starts-with(normalize-space(), 'Crawl now')]").await;
    let made = "SELECT count(*) FROM worker_tasks WHERE role = 'payload_fetch' AND status = 'pending' AND dispensary_id = 902 AND priority = 20";
    until("its task waits", PATIENCE, async || world.count(made).await == 1).await;
}

#[tokio::test]
async fn stores_are_sorted_trouble_first_and_by_a_column() {
    let world = World::start().await;
    world.execute("INSERT INTO dispensaries (id, name, slug) VALUES (903, 'Zinnia', 'z')").await;
    world.open("/admin/stores").await;
    let first = |name: &str| format!("document.querySelector('main tbody th').innerText.includes('{name}')");
    world.browser.until("trouble is first", &first("Zinnia")).await.unwrap();
    world.click("//main//thead//button[starts-with(normalize-space(), 'Last complete')]").await;
    world.click("//main//thead//button[starts-with(normalize-space(), 'Last complete')]").await;
    world.browser.until("the newest crawl is first", &first("Jalapeño")).await.unwrap();
    world.sees("3 of 3 stores, the newest crawl first").await;
    let sorted = "document.querySelector('main thead [aria-sort=descending]').innerText.includes('Last complete')";
    assert_eq!(world.browser.read(sorted).await.unwrap(), true);
}

#[tokio::test]
async fn selected_stores_are_crawled_grouped_and_disabled_at_once() {
    let world = World::start().await;
    world.open("/admin/stores").await;
    let select = "//main//thead//input[@type='checkbox']";
    world.click(select).await;
    world.press("Crawl 2 now").await;
    until("both crawls wait", PATIENCE, async || {
        world.count("SELECT count(*) FROM worker_tasks WHERE role = 'payload_fetch' AND status = 'pending' AND priority = 20").await == 2
    })
    .await;
    world.sees("0 selected").await;
    world.click(select).await;
    world.press("Group").await;
    world.browser.fill("dialog [name=group]", "rivals").await.unwrap();
    world.click(&in_dialog("Save")).await;
    world.sees("rivals").await;
    world.click(select).await;
    world.press("Disable 2").await;
    world.click(&in_dialog("Disable 2 stores")).await;
    world.sees("Disabled").await;
    let both = "SELECT count(*) FROM dispensaries WHERE NOT crawl_enabled AND groups = '{rivals}'";
    until("both are disabled", PATIENCE, async || world.count(both).await == 2).await;
}

#[tokio::test]
async fn a_store_that_is_not_found_says_why_and_is_corrected_on_its_page() {
    let world = World::start().await;
    world
        .execute(
            "INSERT INTO dispensaries (id, name, slug) VALUES (903, 'Zinnia', 'wrong');
             INSERT INTO worker_tasks (role, dispensary_id, platform, status, error_message, completed_at)
             VALUES ('entry_point_discovery', 903, 'dutchie', 'failed', 'no store at wrong', now())",
        )
        .await;
    world.open("/admin/stores/903").await;
    world.sees("Its look-up failed: no store at wrong.").await;
    world.sees("It is not tried again").await;
    world.sees("not retried: the failure is permanent").await;
    world.press("Edit").await;
    world.browser.fill("dialog [name=menu_url]", "right").await.unwrap();
    world.click(&in_dialog("Save")).await;
    dialog_says(&world, "menu_url 'right' is not a URL").await;
    world.browser.fill("dialog [name=menu_url]", "https://dutchie.com/stores/right").await.unwrap();
    world.click(&in_dialog("Save")).await;
    world.says_no_more("Its look-up failed").await;
    world.sees("Next try").await;
    let queued = "SELECT count(*) FROM worker_tasks WHERE role = 'entry_point_discovery' AND dispensary_id = 903 AND status = 'pending'";
    assert_eq!(world.count(queued).await, 1);
}

#[tokio::test]
async fn a_failed_task_says_why_it_is_not_retried() {
    let world = World::start().await;
    world.open("/admin/tasks?status=failed").await;
    world.sees("not retried: the failure is permanent").await;
    world.sees("3 of 3 retries used").await;
    world.open("/admin/tasks/803").await;
    world.sees("0 of 3 used, not retried: the failure is permanent").await;
}

#[tokio::test]
async fn a_host_is_paused_with_a_reason_and_resumed() {
    let world = World::start().await;
    world.execute("INSERT INTO hosts (host) VALUES ('menu.test')").await;
    world.open("/admin/hosts").await;
    world.press("Pause… menu.test").await;
    world.browser.fill("dialog [name=reason]", "its owner asked").await.unwrap();
    world.click(&in_dialog("Pause menu.test")).await;
    world.sees("Paused: host menu.test").await;
    world.sees("its owner asked").await;
    world.press("Resume menu.test").await;
    world.sees("Closed").await;
    assert_eq!(world.count("SELECT count(*) FROM audit_log WHERE target = 'host menu.test'").await, 2);
}

#[tokio::test]
async fn a_role_is_paused_for_a_time_and_every_page_of_work_shows_it() {
    let world = World::start().await;
    world.open("/admin/job-queue").await;
    world.press("Pause…").await;
    world.browser.fill("dialog [name=reason]", "parsers are wrong").await.unwrap();
    for (field, value) in [("thing", "role product_refresh"), ("minutes", "120")] {
        let choose = format!("document.querySelector('dialog [name={field}]').value = '{value}'");
        assert_eq!(world.browser.read(&choose).await.unwrap(), value);
    }
    world.click(&in_dialog("Pause")).await;
    world.sees("Paused: role product_refresh").await;
    for page in ["/admin/job-queue", "/admin/workers"] {
        world.open(page).await;
        world.sees("Paused: role product_refresh, by local: parsers are wrong").await;
    }
    world.open("/admin").await;
    world.sees("role product_refresh is paused: parsers are wrong").await;
    world.open("/admin/workers").await;
    let pending = "INSERT INTO worker_tasks (role, dispensary_id) VALUES ('product_refresh', 901) RETURNING id";
    let pending = world.count(pending).await;
    for (task, is_held) in [(pending, true), (804, false)] {
        world.open(&format!("/admin/tasks/{task}")).await;
        world.sees("Attempts").await;
        let banners = "document.querySelectorAll('main .banner').length";
        let shown = if is_held { "1" } else { "0" };
        world.browser.until("the pauses are read", &format!("{banners} === {shown}")).await.unwrap();
    }
    world.open("/admin/workers").await;
    let until = "SELECT count(*) FROM pauses WHERE until BETWEEN now() + interval '110 minutes' AND now() + interval '121 minutes'";
    assert_eq!(world.count(until).await, 1);
    world.press("Resume role product_refresh").await;
    world.says_no_more("parsers are wrong").await;
    assert_eq!(world.count("SELECT count(*) FROM pauses").await, 0);
}

#[tokio::test]
async fn a_pod_and_a_store_are_paused_on_their_pages() {
    let world = World::start().await;
    for (page, thing, label) in [("/admin/workers", "pod Kryll", "Kryll"), ("/admin/stores/902", "store 902", "")] {
        world.open(page).await;
        if label.is_empty() {
            world.press("More").await;
        }
        world.press(&format!("Pause… {label}")).await;
        world.browser.fill("dialog [name=reason]", "a test").await.unwrap();
        world.click(&in_dialog("Pause")).await;
        world.sees(&format!("Paused: {thing}")).await;
    }
    assert_eq!(world.count("SELECT count(*) FROM pauses WHERE scope IN ('pod', 'store')").await, 2);
}

/// Ends the timers that run, and refuses those of five seconds and more: no list is read again by its age.
const NO_MORE_POLLS: &str = "
    const start = window.setTimeout;
    for (let id = start(() => {}, 0); id > 0; id--) { clearTimeout(id); }
    window.setTimeout = (run, ms, ...values) => (ms >= 5000 ? 0 : start(run, ms, ...values))";

#[tokio::test]
async fn an_own_action_shows_without_a_poll() {
    let world = World::start().await;
    world.open("/admin/proxies").await;
    let turn = "//main//tbody//button[starts-with(normalize-space(), 'Disable')]";
    world
        .browser
        .until("the proxies are read", "document.querySelectorAll('main tbody button').length > 0")
        .await
        .unwrap();
    world.browser.read(NO_MORE_POLLS).await.unwrap();
    world.click(turn).await;
    let is_shown =
        "[...document.querySelectorAll('main tbody button')].some((one) => one.innerText.startsWith('Enable'))";
    world.browser.until("the row has changed", is_shown).await.unwrap();
}

#[tokio::test]
async fn a_proxy_that_rests_is_turned_off() {
    let world = World::start().await;
    world.execute("UPDATE proxies SET is_active = false, cooldown_until = now() + interval '10 minutes' WHERE host = '203.0.113.14'").await;
    world.open("/admin/proxies").await;
    world.press("Disable 203.0.113.14:3128").await;
    let off = "SELECT count(*) FROM proxies WHERE host = '203.0.113.14' AND NOT is_active AND cooldown_until IS NULL";
    until("it is off", PATIENCE, async || world.count(off).await == 1).await;
}

#[tokio::test]
async fn other_stores_are_tried_out_and_the_address_keeps_them() {
    let world = World::start().await;
    world.open("/admin/capacity").await;
    world.browser.fill("main [name=stores]", "2000").await.unwrap();
    world.browser.fill("main [name=every]", "4h").await.unwrap();
    world.press("Forecast").await;
    world.sees("2,000 stores every 4 h").await;
    world.browser.until("it is in the address", "location.search === '?stores=2000&every=4h'").await.unwrap();
    world.browser.fill("main [name=every]", "often").await.unwrap();
    world.press("Forecast").await;
    world.sees("expected a duration such as 500ms, 4s, 10m, 4h or 7d, got 'often'").await;
    world.click("//main//a[normalize-space() = 'As scheduled']").await;
    world.browser.until("nothing is tried out", "location.search === ''").await.unwrap();
}

#[tokio::test]
async fn the_pages_further_actions_are_in_one_menu_that_keys_walk() {
    let world = World::start().await;
    world.open("/admin/tasks").await;
    let buttons =
        "[...document.querySelectorAll('.page-head .actions > *')].map((each) => each.innerText.trim()).join()";
    assert_eq!(world.browser.read(buttons).await.unwrap(), "New task,More");
    let primary = "document.querySelectorAll('.page-head .btn.primary').length";
    assert_eq!(world.browser.read(primary).await.unwrap(), 1);
    world.press("More").await;
    let focused = |text: &str| format!("document.activeElement.innerText.trim() === '{text}'");
    world.browser.until("the first action has the focus", &focused("Crawl a day…")).await.unwrap();
    world.browser.key(Key::Down).await.unwrap();
    world.browser.until("the second has it", &focused("Discover stores…")).await.unwrap();
    world.browser.key(Key::Escape).await.unwrap();
    world.browser.until("the menu is closed", &focused("More")).await.unwrap();
    assert_eq!(world.browser.read("document.querySelectorAll('[role=menu]').length").await.unwrap(), 0);
    world.press("More").await;
    world.press("Discover stores").await;
    dialog_says(&world, "Discover stores").await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_schedules_last_runs_are_listed_with_the_tasks_that_they_made() {
    let world = World::start().await;
    let run = "INSERT INTO schedule_runs (schedule_id, due_at, created_at, task_count)
               SELECT id, now(), now() - interval '2 hours', 3 FROM task_schedules WHERE name = 'analytics_refresh';
        INSERT INTO worker_tasks (role, status, schedule_id, created_at, completed_at)
        SELECT 'analytics_refresh', status, r.schedule_id, r.created_at, r.created_at + interval '90 seconds'
          FROM schedule_runs r, unnest('{completed,completed,failed}'::text[]) AS status";
    world.execute(run).await;
    world.open("/admin/schedules").await;
    world.click("//tr[contains(., 'analytics_refresh')]//button[contains(., 'the last runs of')]").await;
    dialog_says(&world, "Runs of analytics_refresh").await;
    let row = "document.querySelector('dialog[open] tbody tr')?.innerText.replace(/\\s+/g, ' ').trim()";
    world.browser.until("its run is counted", &format!("{row} === '2 h ago 3 2 1 0 1 m 30 s'")).await.unwrap();
    let next = r"/^Next: now(, in [0-9 hm]+){4}$/m.test(document.querySelector('dialog[open]').innerText)";
    world.browser.until("its next due times are listed", next).await.unwrap();
}

#[tokio::test]
async fn changed_settings_are_told_from_defaults() {
    let world = World::start().await;
    world.open("/admin/settings").await;
    let groups = "[...document.querySelectorAll('main details')].map((each) => `${each.innerText.split(/\\s/)[0]} ${each.open}`).join()";
    world
        .browser
        .until("groups with a change are open", &format!("{groups} === 'api true,politeness false'"))
        .await
        .unwrap();
    world.click("//main//label[starts-with(normalize-space(), 'Changed only (1)')]").await;
    world.browser.until("the change alone is shown", &format!("{groups} === 'api true'")).await.unwrap();
    assert_eq!(world.browser.read("location.search").await.unwrap(), "?changed=yes");
}

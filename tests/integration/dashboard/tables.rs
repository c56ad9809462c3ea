//! Tables: their order, the actions on all rows that match, words that are not filters, and the ids of things.

use serde_json::{Value, json};

use super::world::{World, in_dialog};
use testkit::{PATIENCE, until};
use xtask::look::Look;

/// The head of a column by which its table is sorted.
fn head(word: &str) -> String {
    format!("//main//thead//th/button[starts-with(normalize-space(), '{word}')]")
}

/// The text of the first row's head, and the sorted column with its direction.
const ORDER: &str = "(() => {
    const sorted = document.querySelector('main thead [aria-sort]');
    return [sorted?.closest('table').querySelector('tbody tr[data-row] th')?.innerText.split('\\n')[0], sorted?.innerText.split(' ')[0], sorted?.ariaSort];
  })()";

impl World {
    async fn dialog_says(&self, text: &str) {
        let holds = format!("document.querySelector('dialog[open]')?.innerText.includes({})", json!(text));
        self.browser.until(&format!("the dialog says {text:?}"), &holds).await.unwrap();
    }

    async fn is_sorted(&self, first: &str, column: &str, direction: &str) {
        let expected = json!([first, column, direction]);
        let holds = format!("JSON.stringify({ORDER}) === JSON.stringify({expected})");
        self.browser.until(&format!("{first:?} is first by {column:?}, {direction}"), &holds).await.unwrap();
    }

    /// Waits until the line beside the box of filters says this.
    async fn notes(&self, text: &str) {
        let holds = format!("document.querySelector('main .filter-note')?.innerText.includes({})", json!(text));
        self.browser.until(&format!("the filters say {text:?}"), &holds).await.unwrap();
    }
}

#[tokio::test]
async fn all_stores_that_match_are_disabled_after_their_number_was_shown() {
    let world = World::start().await;
    let many = "INSERT INTO dispensaries (name, slug, state, crawl_enabled) SELECT 'Moss ' || n, 's' || n, 'MI', n > 1 FROM generate_series(1, 60) n";
    world.execute(many).await;
    world.open("/admin/stores?state=MI").await;
    world.press("Select all 60 that match").await;
    world.press("Disable 60").await;
    world.dialog_says("Disable the crawls of 59 stores?").await;
    world.dialog_says("60 match state:MI; 1 is left out: disabled already.").await;
    world.click(&in_dialog("Disable 59 stores")).await;
    world.sees("0 selected").await;
    let disabled = "SELECT count(*) FROM dispensaries WHERE NOT crawl_enabled";
    until("all of the state are disabled", PATIENCE, async || world.count(disabled).await == 60).await;
    assert_eq!(world.count("SELECT count(*) FROM dispensaries WHERE crawl_enabled AND id IN (901, 902)").await, 2);
    assert_eq!(world.count("SELECT count(*) FROM audit_log WHERE action = 'stores.bulk'").await, 1);
    world.assert_no_errors().await;
}

#[tokio::test]
async fn all_stores_are_crawled_and_grouped_beyond_the_page() {
    let world = World::start().await;
    let many = "INSERT INTO dispensaries (name, slug, platform_dispensary_id) SELECT 'Moss ' || n, 's' || n, 'p' || n FROM generate_series(1, 60) n";
    world.execute(many).await;
    world.open("/admin/stores").await;
    world.press("Select all 62 that match").await;
    world.press("Crawl 62 now").await;
    world.dialog_says("62 match every store").await;
    world.click(&in_dialog("Crawl 62 stores")).await;
    let crawls =
        "SELECT count(*) FROM worker_tasks WHERE role = 'payload_fetch' AND status = 'pending' AND priority = 20";
    until("each has a task", PATIENCE, async || world.count(crawls).await == 62).await;
    world.sees("0 selected").await;
    world.press("Select all 62 that match").await;
    world.press("Group").await;
    world.dialog_says("Group of 62 stores").await;
    world.browser.fill("dialog [name=group]", "rivals").await.unwrap();
    world.click(&in_dialog("Save")).await;
    world.sees("0 selected").await;
    assert_eq!(world.count("SELECT count(*) FROM dispensaries WHERE 'rivals' = ANY (groups)").await, 62);
}

#[tokio::test]
async fn a_table_is_sorted_by_its_heads_and_its_address_keeps_the_order() {
    let world = World::start().await;
    world.execute("INSERT INTO hosts (host, answers) VALUES ('b.test', 5), ('a10.test', 7), ('a9.test', 6)").await;
    world.open("/admin/hosts").await;
    world.click(&head("Answers")).await;
    world.is_sorted("a10.test", "Answers", "descending").await;
    world.click(&head("Answers")).await;
    world.is_sorted("b.test", "Answers", "ascending").await;
    world.click(&head("Host")).await;
    world.is_sorted("a9.test", "Host", "ascending").await;
    assert_eq!(world.browser.location().await.unwrap(), "/admin/hosts?sort=host");
    world.click(&head("Host")).await;
    world.is_sorted("b.test", "Host", "descending").await;
    world.open("/admin/hosts?sort=host_desc").await;
    world.is_sorted("b.test", "Host", "descending").await;
    world.sees("every host that was contacted, by host, backwards").await;
    world.click(&head("Breaker")).await;
    world.browser.until("the usual order has no parameter", "location.search === ''").await.unwrap();
}

#[tokio::test]
async fn a_folded_table_is_sorted_by_a_select_that_a_wide_one_does_not_need() {
    let world = World::start().await;
    world.execute("INSERT INTO hosts (host, answers) VALUES ('b.test', 5), ('a10.test', 7), ('a9.test', 6)").await;
    world.open("/admin/hosts").await;
    world.sees("a10.test").await;
    let select = "main select[aria-label='Sort by']";
    let shown = format!("document.querySelector(\"{select}\")?.getClientRects().length ?? 0");
    assert_eq!(world.browser.read(&shown).await.unwrap(), 0, "its heads are enough");
    world.browser.look(Look::phone(false)).await.unwrap();
    world.browser.until("the select is shown", &format!("{shown} === 1")).await.unwrap();
    for (order, first, direction) in [("answers_desc", "a10.test", "descending"), ("answers", "b.test", "ascending")] {
        world.browser.choose(select, order).await.unwrap();
        world.is_sorted(first, "Answers", direction).await;
        assert_eq!(world.browser.location().await.unwrap(), format!("/admin/hosts?sort={order}"));
    }
    world.browser.choose(select, "trouble").await.unwrap();
    world.browser.until("the usual order has no parameter", "location.search === ''").await.unwrap();
    for page in ["/admin/proxies", "/admin/schedules", "/admin/workers", "/admin/capacity", "/admin/stores"] {
        world.open(page).await;
        world.browser.until(&format!("{page} has a select"), &format!("{shown} === 1")).await.unwrap();
    }
    world.assert_no_errors().await;
}

#[tokio::test]
async fn every_table_with_all_its_rows_is_sorted_by_its_heads() {
    let world = World::start().await;
    for (page, word, first, direction) in [
        ("/admin/proxies", "Address", "203.0.113.14:3128", "ascending"),
        ("/admin/schedules", "Schedule", "store_discovery_dutchie", "descending"),
        ("/admin/workers", "Tasks", "Kryll-2", "descending"),
        ("/admin/capacity", "Role", "product_refresh", "descending"),
    ] {
        world.open(page).await;
        world.click(&head(word)).await;
        world.is_sorted(first, word, direction).await;
    }
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_list_without_an_end_is_turned_round_by_the_head_of_its_times() {
    let (world, _) = World::start().await.with_payloads().await;
    world
        .execute("INSERT INTO worker_job_queue (job_type, platform, account) VALUES ('scrape_account', 'site', 'ann')")
        .await;
    world
        .execute("INSERT INTO worker_job_queue (job_type, platform, account) VALUES ('scrape_account', 'site', 'bob')")
        .await;
    world
        .execute(
            "INSERT INTO audit_log (who, request_id, action, target, detail)
             VALUES ('ann', 'a', 'tasks.create', '1', '{}'), ('bob', 'b', 'tasks.create', '2', '{}')",
        )
        .await;
    for (page, word) in
        [("/admin/tasks", "When"), ("/admin/payloads", "Fetched"), ("/admin/audit", "When"), ("/admin/jobs", "Made")]
    {
        world.open(page).await;
        let first = "(document.querySelector('main table.table tbody tr')?.innerText ?? '')";
        let sorted = "document.querySelector('main thead [aria-sort]')?.ariaSort";
        world.browser.until(&format!("{page} has rows"), &format!("{sorted} === 'descending'")).await.unwrap();
        let newest = world.browser.read(first).await.unwrap();
        world.click(&head(word)).await;
        let is_turned = format!("{sorted} === 'ascending' && {first} !== {newest}");
        world.browser.until(&format!("{page} is turned round"), &is_turned).await.unwrap();
        assert_eq!(world.browser.location().await.unwrap(), format!("{page}?sort=oldest"));
    }
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_pod_of_twenty_workers_fits_into_a_desk() {
    let world = World::start().await;
    world
        .execute(
            "INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks, active_task_count)
             SELECT 'many-' || n, 'Xylos-' || n, 'Xylos', 'any', '{}', 'active', 3, n % 4 FROM generate_series(3, 20) n",
        )
        .await;
    world.browser.look(Look::desk(false)).await.unwrap();
    for page in ["/admin", "/admin/workers", "/admin/job-queue", "/admin/job-queue?pod=Xylos"] {
        world.open(page).await;
        world.sees("Xylos").await;
        let fits = "document.documentElement.scrollWidth <= innerWidth";
        world.browser.until(&format!("{page} needs no sideways scroll"), fits).await.unwrap();
    }
}

#[tokio::test]
async fn products_are_sorted_by_the_heads_that_have_an_order() {
    let world = World::start().await;
    world
        .execute(
            "INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, price_rec, is_on_special, quantity_censored, is_in_stock, stock_status, first_seen_at, last_seen_at)
             VALUES (702, 902, 'dutchie', '64f09ad2c1b7e50008a3f1ca', 'Azure', 4000, false, false, true, 'in_stock', now(), now())",
        )
        .await;
    world.open("/admin/stores/902").await;
    world.sees("Blue Ledger").await;
    let price = "//section[@aria-labelledby='products']//thead//button[starts-with(normalize-space(), 'Price')]";
    world.click(price).await;
    world.is_sorted("Blue Ledger", "Price", "ascending").await;
    world.click(price).await;
    world.is_sorted("Azure", "Price", "descending").await;
    assert!(world.browser.location().await.unwrap().ends_with("sort=price_desc"));
}

#[tokio::test]
async fn all_tasks_that_match_are_offered_only_where_a_filter_says_which() {
    let world = World::start().await;
    let offered =
        "[...document.querySelectorAll('main .bulk button')].some((each) => each.innerText.startsWith('Select all'))";
    for (page, is_offered) in [("/admin/tasks", false), ("/admin/tasks?status=failed", true)] {
        world.open(page).await;
        world.sees("0 selected").await;
        world.browser.until(&format!("{page}: {is_offered}"), &format!("{offered} === {is_offered}")).await.unwrap();
    }
}

#[tokio::test]
async fn a_bulk_action_ends_the_selection_and_its_message_covers_neither_foot_nor_bar() {
    let world = World::start().await;
    let many = "INSERT INTO worker_tasks (role, status, dispensary_id, error_message, completed_at)
                SELECT 'payload_fetch', 'failed', 902, 'refused', now() FROM generate_series(1, 40)";
    world.execute(many).await;
    world.open("/admin/tasks?role=payload_fetch").await;
    world.press("Select all that match").await;
    world.press("Retry all").await;
    world.click(&in_dialog("Retry 42")).await;
    world.browser.until("it is reported", "!!document.querySelector('.toast')").await.unwrap();
    world.sees("0 selected").await;
    world
        .browser
        .until(
            "the actions are off",
            "[...document.querySelectorAll('.bulk .actions button')].every((one) => one.disabled)",
        )
        .await
        .unwrap();
    // the foot of the table where messages appear
    let scrolled = "(() => {
        const foot = document.querySelector('main .panel-foot');
        scrollBy(0, foot.getBoundingClientRect().bottom - innerHeight + 20);
        const { height } = document.querySelector('.toasts').getBoundingClientRect();
        return { height, foot: foot.getBoundingClientRect().bottom > innerHeight - height - 100 };
      })()";
    let scrolled = world.browser.read(scrolled).await.unwrap();
    assert!(
        scrolled["height"].as_f64() > Some(20.0) && scrolled["foot"] == true,
        "there is something to cover: {scrolled}"
    );
    // the code that moves the message is loaded with the first one
    let covered = "(() => {
        const box = document.querySelector('.toasts').getBoundingClientRect();
        const isShown = box.height > 20;
        return isShown && ['main .panel-foot', 'main .bulk'].map((part) => document.querySelector(part).getBoundingClientRect())
          .filter((part) => part.top < box.bottom && part.bottom > box.top && part.left < box.right && part.right > box.left).length;
      })()";
    world.browser.until("the message covers neither", &format!("{covered} === 0")).await.unwrap();
}

#[tokio::test]
async fn a_reason_wraps_and_a_name_is_whole_while_no_task_has_a_reason() {
    let world = World::start().await;
    let reason = "no store at http://127.0.0.1:20938/dispensary/juniper-and-crème-nocturne-collective-of-greater-thicketville-47";
    world.execute(&format!("UPDATE worker_tasks SET error_message = '{reason}' WHERE id = 803")).await;
    world.open("/admin/tasks?status=failed").await;
    world.sees(reason).await;
    let is_whole = |row: &str| {
        format!(
            "(() => {{ const text = {row}; return text.scrollWidth <= text.clientWidth + 1 && text.scrollHeight <= text.clientHeight + 1; }})()"
        )
    };
    let of_reason =
        "[...document.querySelectorAll('main td .lines')].find((each) => each.innerText.includes('thicketville'))";
    assert_eq!(world.browser.read(&is_whole(of_reason)).await.unwrap(), true, "the reason is cut");
    world.open("/admin/tasks?status=completed").await;
    world.sees("Jalapeño").await;
    let lines = "document.querySelector('main tbody th .lines').getClientRects().length && document.querySelector('main tbody th .lines')";
    assert_eq!(world.browser.read(&is_whole(lines)).await.unwrap(), true, "the name is cut");
}

#[tokio::test]
async fn a_filter_of_the_address_that_is_not_understood_is_named_on_every_page() {
    let (world, store) = World::start().await.with_payloads().await;
    let of_store = format!("/admin/stores/{store}");
    for (page, wrong, says) in [
        ("/admin/tasks", "status=broken", "status:broken is not understood. Possible: pending, claimed, running"),
        ("/admin/tasks", "role=cook", "role:cook is not understood. Possible: store_discovery"),
        ("/admin/stores", "enabled=maybe", "enabled:maybe is not understood. Possible: yes or no."),
        ("/admin/stores", "crawl_enabled=maybe", "enabled:maybe is not understood. Possible: yes or no."),
        ("/admin/stores", "state=foo", "state:foo is not understood. Possible: two letters, such as MI."),
        ("/admin/stores", "sort=foo", "sort=foo is not understood. Possible: trouble, name"),
        ("/admin/tasks", "sort=foo", "sort=foo is not understood. Possible: newest, oldest"),
        ("/admin/products", "in_stock=maybe", "in_stock:maybe is not understood. Possible: yes or no."),
        (&of_store, "min_price=cheap", "min_price:cheap is not understood. Possible: dollars"),
        ("/admin/payloads", "from=soon", "from:soon is not understood. Possible: a day"),
        ("/admin/proxies", "health=ill", "health:ill is not understood. Possible: failing, refused"),
        ("/admin/jobs", "status=broken", "status:broken is not understood. Possible: pending, running"),
        ("/admin/audit", "from=soon", "from:soon is not understood. Possible: a day or time"),
    ] {
        for (query, text) in
            [(wrong, says), ("foo=bar", "foo=bar is not understood: no filter is named foo. Possible: ")]
        {
            world.open(&format!("{page}?{query}")).await;
            world.notes(text).await;
            world.notes("Meanwhile the list").await;
            let alert = "document.querySelectorAll('main [role=alert]').length";
            assert_eq!(world.browser.read(alert).await.unwrap(), 0, "{page}?{query} shows its list");
        }
    }
    world.press("Remove foo").await;
    world
        .browser
        .until("it is left out", "location.search === '' && !document.querySelector('.filter-note')")
        .await
        .unwrap();
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_typed_word_that_is_no_filter_is_refused_and_in_quotes_it_is_a_text() {
    let world = World::start().await;
    world.open("/admin/tasks").await;
    world.sees("refused the request").await;
    world.browser.fill("main [role=combobox]", "foo:bar\u{e007}").await.unwrap();
    world.notes("foo:bar is not understood: no filter is named foo. Possible: words:, status:, role:").await;
    world.notes("Meanwhile the list").await;
    assert_eq!(world.browser.location().await.unwrap(), "/admin/tasks");
    world.open("/admin/tasks").await;
    world.browser.fill("main [role=combobox]", "status:broken\u{e007}").await.unwrap();
    world.notes("status:broken is not understood. Possible: pending, claimed").await;
    assert_eq!(world.browser.location().await.unwrap(), "/admin/tasks");
    world.open("/admin/tasks").await;
    world.browser.fill("main [role=combobox]", "\"foo:bar\"\u{e007}").await.unwrap();
    world.browser.until("it is a text", "location.search === '?q=foo%3Abar'").await.unwrap();
    world.sees("words:foo:bar").await;
}

#[tokio::test]
async fn the_id_of_each_thing_is_copied_by_a_button() {
    let (world, store) = World::start().await.with_payloads().await;
    let sql = format!("SELECT max(id) FROM raw_crawl_payloads WHERE dispensary_id = {store}");
    let payload = world.count(&sql).await;
    let proxy = world.count("SELECT min(id) FROM proxies").await;
    for (page, what, id) in [
        ("/admin/tasks/801".to_owned(), "task", 801),
        ("/admin/stores/902".to_owned(), "store", 902),
        ("/admin/products/701".to_owned(), "product", 701),
        (format!("/admin/payloads?id={payload}"), "payload", payload),
        ("/admin/proxies".to_owned(), "proxy", proxy),
    ] {
        world.open(&page).await;
        let keep = "Object.defineProperty(navigator, 'clipboard', { value: { writeText: async (text) => { window.copied = text; } } }) && true";
        world.browser.read(keep).await.unwrap();
        world.click(&format!("//button[@aria-label='Copy the id of {what} {id}']")).await;
        world.sees("Copied").await;
        assert_eq!(world.browser.read("window.copied").await.unwrap(), Value::String(id.to_string()), "{page}");
    }
    // a page without TLS has no clipboard of its own
    world.open("/admin/tasks/801").await;
    let without = "Object.defineProperty(navigator, 'clipboard', { value: undefined }) && document.addEventListener('copy', () => { window.copied = String(document.activeElement.value); }) || true";
    world.browser.read(without).await.unwrap();
    world.click("//button[@aria-label='Copy the id of task 801']").await;
    world.sees("Copied").await;
    assert_eq!(world.browser.read("window.copied").await.unwrap(), "801");
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_saved_view_is_one_click_and_belongs_to_its_page() {
    let world = World::start().await;
    world.open("/admin/tasks?status=failed").await;
    world.press("Save this view").await;
    world.open("/admin/tasks").await;
    world.click("//main//*[@aria-label = 'Saved views']//a[normalize-space() = 'status:failed']").await;
    world.browser.until("the list has its filters", "location.search === '?status=failed'").await.unwrap();
    let views = "document.querySelectorAll('main [aria-label=\"Saved views\"] .chip').length";
    for (page, number) in [("/admin/audit", 0), ("/admin/tasks", 1)] {
        world.open(page).await;
        world.browser.until(&format!("{page} has its views"), &format!("{views} === {number}")).await.unwrap();
    }
    world.click("//button[@aria-label = 'Forget the view status:failed']").await;
    world.browser.until("it is forgotten", &format!("{views} === 0")).await.unwrap();
    world.assert_no_errors().await;
}

/// The products of the rows of a diff's prices and stock, in their order.
const DIFF_ROWS: &str = "
    const base = document.querySelector('script[type=module]').src.replace(/[^/]*$/, '');
    const [{ Prices, Stock }, { html, render }] = await Promise.all([import(base + 'pages/payload-diff/tables.js'), import(base + 'core/html.js')]);
    const priced = (name, from, to) => ({ id: name, name, options: [], from: { priceRec: from }, to: { priceRec: to } });
    const stocked = (name, from, to) => ({ id: name, name, options: [],
      from: { isInStock: true, quantity: from, quantityCensored: false }, to: { isInStock: to > 0, quantity: to, quantityCensored: false } });
    const place = document.createElement('div');
    const shared = { number: 3, store: 1, query: new URLSearchParams() };
    render(html`<${Prices} rows=${[priced('a', 1000, 990), priced('b', 1000, 400), priced('c', 1000, 1440)]} ...${shared} />
      <${Stock} rows=${[stocked('d', 20, 19), stocked('e', 20, 0), stocked('f', 10, 14)]} ...${shared} />`, place);
    return [...place.querySelectorAll('tbody th a')].map((each) => each.textContent).join('');";

#[tokio::test]
async fn a_diff_shows_the_largest_changes_first() {
    let world = World::start().await;
    world.open("/admin").await;
    assert_eq!(world.browser.run(DIFF_ROWS, Vec::new()).await.unwrap(), "bcaefd");
}

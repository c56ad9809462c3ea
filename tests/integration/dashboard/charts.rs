//! Time axes: they begin with the first count, and repeat no label.

use serde_json::{Value, json};

use super::every_page::{axe, violations};
use super::world::World;
use xtask::look::Look;

/// The addresses of the dashboard's modules begin with this.
const BASE: &str = "const base = document.querySelector('script[type=module]').src.replace(/[^/]*$/, '');";

/// The labels of each axis on the page.
const AXES: &str = "[...document.querySelectorAll('main .axis')].map((axis) => [...axis.children].map((label) => label.innerText).filter(Boolean))";

/// `14:32`, of a number of minutes since 1970.
fn clock(minute: i64) -> String {
    format!("{:02}:{:02}", minute / 60 % 24, minute % 60)
}

impl World {
    /// One request in each of the last `minutes`, and in the next `more`; returns the first minute.
    async fn has_asked(&self, minutes: i64, more: i64) -> i64 {
        let begin = self.minute().await - minutes;
        let minutes = minutes + more;
        let sql = format!(
            "INSERT INTO fetch_minute
             SELECT to_timestamp(60 * minute), 1, 'menu.test', (SELECT min(id) FROM proxies), 'ok', 1, 1, 1, 1
               FROM generate_series({begin}, {begin} + {minutes} - 1) AS minute"
        );
        self.execute(&sql).await;
        begin
    }

    /// Time in minutes since 1970, by the database's clock.
    async fn minute(&self) -> i64 {
        self.count("SELECT floor(extract(epoch FROM now()) / 60)::bigint").await
    }
}

#[tokio::test]
async fn charts_begin_with_the_first_count_of_their_range_and_say_so() {
    let world = World::start().await;
    let begin = clock(world.has_asked(20, 0).await);
    world.open("/admin").await;
    world.sees(&format!("In the last 1 h, nothing was counted before {begin}.")).await;
    world.sees(&format!("% of 20 requests, since {begin}")).await;
    let first = format!("{AXES}.map((labels) => labels[0]).join() === '{begin},{begin},{begin}'");
    world.browser.until("each chart begins there", &first).await.unwrap();
    world.open("/admin/proxies").await;
    world.sees(&format!("% of its requests, since {begin}")).await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn charts_of_a_range_with_a_count_at_its_beginning_show_all_of_it() {
    let world = World::start().await;
    world.has_asked(90, 10).await;
    world.open("/admin").await;
    world.sees("% of 60 requests, 1 h").await;
    world.says_no_more("was counted before").await;
}

/// The shown minutes of an hour whose first count is in this minute of it.
const SHOWN: &str = "
    const { sinceFirst } = await import(base + 'parts/series.js');
    const begin = Date.UTC(2026, 10, 22, 14);
    const points = Array.from({ length: 60 }, (_, at) => (at >= args[0] ? 1 : 0));
    const [data] = sinceFirst([{ from: new Date(begin), to: new Date(begin + 3_600_000), step_seconds: 60, series: [{ key: 'a', points }], other: null }]);
    return [data.series[0].points.length, (begin + 3_600_000 - Date.parse(data.from)) / 60_000];";

#[tokio::test]
async fn a_chart_shows_at_least_ten_minutes() {
    let world = World::start().await;
    world.open("/admin").await;
    for (first, shown) in [(0, 60), (15, 45), (58, 10), (60, 60)] {
        let minutes = world.browser.run(&format!("{BASE} {SHOWN}"), vec![json!(first)]).await.unwrap();
        assert_eq!(minutes, json!([shown, shown]), "with the first count in minute {first}");
    }
}

/// Days and places of the labels of the first axis, and the places that the days have in the chosen time.
const PLACES: &str = "(() => {
    const labels = [...(document.querySelector('main .axis')?.children ?? [])].map((label) => [label.innerText, parseFloat(label.style.getPropertyValue('--at'))]);
    const now = Date.now(), from = Math.floor((now - DAYS * 86_400_000) / 3_600_000) * 3_600_000;
    const placeOf = (text) => (100 * (Date.parse(`${text} ${new Date().getUTCFullYear()} UTC`) - from)) / (now - from);
    const apart = labels.map(([text, at]) => Math.abs((placeOf(text) + 1e4) % 1e4 - at));
    return labels.length > 2 && Math.max(...apart.filter(Number.isFinite)) < 1.5 && labels[labels.length - 1][1] - labels[0][1] > 70;
  })()";

#[tokio::test]
async fn a_products_chart_covers_the_chosen_time_and_its_days_stand_where_they_are() {
    let world = World::start().await;
    let begin = world.minute().await - 12 * 60;
    let sql = format!(
        "UPDATE store_products SET first_seen_at = now() - interval '3 days', price_rec = 3000, special_price_rec = 2500;
         INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, price_rec, special_price_rec, is_in_stock, quantity, quantity_censored, gone)
         SELECT 701, '1g', 0, n, to_timestamp(60 * {begin}) + n * interval '4 hours', 3000, 2500, true, 189, true, false FROM generate_series(0, 2) n"
    );
    world.execute(&sql).await;
    for days in [7, 30, 90] {
        world.open(&format!("/admin/products/701?range={days}")).await;
        let places = PLACES.replace("DAYS", &days.to_string());
        world.browser.until(&format!("the axis of {days} days"), &places).await.unwrap();
    }
    world.sees("+: there may be more").await;
    let text = world.browser.read("document.querySelector('main').innerText").await.unwrap();
    assert!(!text.as_str().unwrap().contains("25+"), "{text}");
    let sale = "[...document.querySelectorAll('[aria-label=\"Price history\"] rect')].map((each) => Number(each.getAttribute('height'))).join()";
    assert_eq!(world.browser.read(sale).await.unwrap(), "4", "a special that lasts is a thin bar");
    world.assert_no_errors().await;
}

/// Two options of the product 701 over twelve days, every eight hours but for two days: the price of 1g falls and it is out of stock
/// for two days, 1/8oz has a special for three.
pub const HISTORY: &str = "
    UPDATE store_products SET first_seen_at = now() - interval '12 days', price_rec = 1000 WHERE id = 701;
    DELETE FROM store_product_variant_history WHERE store_product_id = 701;
    INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, size_mg, price_rec, special_price_rec, rec_per_g,
                                               rec_per_mg_thc, is_in_stock, quantity, quantity_censored, gone)
    SELECT 701, label, 0, crawl, now() - interval '12 days' + interval '1 day' * day, mg, price, special, coalesce(special, price) * 1000000::bigint / mg,
           coalesce(special, price) * 1000000::bigint / mg / 200, in_stock, quantity, false, false
      FROM (VALUES ('1g', 1, 0, 1000, 1200, NULL, true, 17), ('1g', 2, 4, 1000, 1000, NULL, true, 9), ('1g', 3, 6, 1000, 1000, NULL, false, 0),
                   ('1g', 4, 8, 1000, 900, NULL, true, 30), ('1/8oz', 5, 0, 3544, 3500, NULL, true, 12), ('1/8oz', 6, 3, 3544, 3500, 2800, true, 8),
                   ('1/8oz', 7, 6, 3544, 3500, NULL, true, 4)) AS h(label, crawl, day, mg, price, special, in_stock, quantity);
    INSERT INTO store_product_snapshots (store_product_id, crawl_id, crawled_at, price_rec, is_on_special, quantity_censored, is_in_stock, stock_status)
    SELECT 701, 100 + n, now() - interval '12 days' + interval '8 hours' * n, 1000, false, false, true, 'in_stock'
      FROM generate_series(0, 36) n WHERE n NOT BETWEEN 28 AND 33";

#[tokio::test]
async fn a_price_holds_until_it_changes_and_shows_specials_gaps_and_times_out_of_stock() {
    let world = World::start().await;
    world.execute(HISTORY).await;
    let bundle = "UPDATE store_product_variants SET bundle_quantity = 2, bundle_total = 1700, bundle_per_g = 850000
                   WHERE store_product_id = 701 AND option_label = '1g'";
    world.execute(bundle).await;
    world.open("/admin/products/701?range=30").await;
    world.sees("2 for $ 17.00: $ 8.50 a gram").await;
    world.sees("out of stock").await;
    world.sees("no crawl saw it").await;
    let lines = "[...document.querySelectorAll('[aria-label=\"Price history\"] path.line')].map((each) => [each.classList.contains('out'), each.getAttribute('d')])";
    let lines = world.browser.read(lines).await.unwrap();
    for line in lines.as_array().unwrap() {
        let path = line[1].as_str().unwrap();
        assert!(path.chars().all(|each| "MHV0123456789. ".contains(each)), "steps alone, no slope: {path}");
    }
    let drawn: Vec<bool> = lines.as_array().unwrap().iter().map(|line| line[1] != "").collect();
    assert_eq!(drawn, [true, false, true, true], "only 1g has a time out of stock: {lines}");
    let specials = "document.querySelectorAll('[aria-label=\"Price history\"] rect.sale').length";
    assert_eq!(world.browser.read(specials).await.unwrap(), 1);
    let label =
        world.browser.read("document.querySelector('[aria-label=\"Price history\"] svg').ariaLabel").await.unwrap();
    assert!(label.as_str().unwrap().contains("1g: from $ 9.00 to $ 12.00, now $ 9.00"), "{label}");
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_price_by_gram_is_a_view_of_its_own_and_a_table_has_the_values_of_the_chart() {
    let world = World::start().await;
    world.execute(HISTORY).await;
    world.open("/admin/products/701").await;
    world.browser.choose("main [aria-label='Price of']", "g").await.unwrap();
    world.sees("US dollars a gram").await;
    world.browser.until("it is in the address", "location.search === '?unit=g'").await.unwrap();
    world.click("//main//summary[contains(., 'Values as a table')]").await;
    let rows = "[...document.querySelectorAll('main .values tbody tr')].map((row) => [...row.children].slice(1).map((cell) => cell.innerText.trim()).join('|')).join()";
    let expected = "1g|$ 9.00||30,1/8oz|$ 9.88||4,1g|$ 10.00||sold out,1g|$ 10.00||9,1/8oz|$ 7.90|special|8,1/8oz|$ 9.88||12,1g|$ 12.00||17";
    world.browser.until("the values", &format!("{rows} === '{expected}'")).await.unwrap();
    world.browser.choose("main [aria-label='Option']", "1").await.unwrap();
    world
        .browser
        .until("1g alone", &format!("{rows} === '1g|$ 9.00||30,1g|$ 10.00||sold out,1g|$ 10.00||9,1g|$ 12.00||17'"))
        .await
        .unwrap();
    assert_eq!(world.browser.location().await.unwrap(), "/admin/products/701?unit=g&option=1");
    world.browser.choose("main [aria-label='Price of']", "thc").await.unwrap();
    world.sees("US cents a milligram of THC").await;
    world.sees("4.5 ¢").await;
    for look in [Look::desk(false), Look::phone(true)] {
        world.browser.look(look).await.unwrap();
        assert_eq!(violations(&world, &axe()).await, Vec::<String>::new(), "{}", look.name());
        let width = world.browser.read("document.documentElement.scrollWidth").await.unwrap();
        assert_eq!(width, look.width, "{}", look.name());
    }
    world.assert_no_errors().await;
}

/// Periods whose axis repeats a label, in minutes.
const REPEATING: &str = "
    const { timeAxis } = await import(base + 'parts/chart.js');
    const end = Date.now();
    return args[0].filter((minutes) => [0, 7, 30, 720].some((before) => {
      const to = end - before * 60_000;
      const labels = timeAxis(to - minutes * 60_000, to).map(({ text }) => text);
      return new Set(labels).size < labels.length;
    }));";

#[tokio::test]
async fn no_time_axis_repeats_a_label() {
    let world = World::start().await;
    world.has_asked(3, 0).await;
    world.open("/admin").await;
    let day = 24 * 60;
    let minutes = json!([
        0.01,
        0.5,
        1,
        2,
        3,
        4,
        10,
        59,
        60,
        360,
        day - 1,
        day,
        day + 1,
        2 * day,
        2 * day + 1,
        3 * day,
        7 * day,
        14 * day,
        30 * day,
        90 * day
    ]);
    let repeating = world.browser.run(&format!("{BASE} {REPEATING}"), vec![minutes]).await.unwrap();
    assert_eq!(repeating, json!([]), "minutes of the periods");
    for page in
        ["/admin", "/admin?range=6+h", "/admin?range=24+h", "/admin?range=7+d", "/admin/proxies", "/admin/tasks/801"]
    {
        world.open(page).await;
        world.browser.until("the axes are drawn", &format!("{AXES}.length > 0")).await.unwrap();
        let axes = world.browser.read(AXES).await.unwrap();
        for labels in axes.as_array().unwrap() {
            let labels: Vec<&str> = labels.as_array().unwrap().iter().filter_map(Value::as_str).collect();
            let mut different = labels.clone();
            different.sort_unstable();
            different.dedup();
            assert_eq!(different.len(), labels.len(), "{page}: {labels:?}");
        }
    }
}

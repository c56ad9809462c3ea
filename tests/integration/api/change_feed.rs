//! `GET /api/changes`: readers follow the feed by cursors, whole or through filters.

use contract::changes::{ChangePlace, ChangeQuestion};
use contract::position::Position;
use db::changes::publisher;
use serde_json::{Value, json};

use super::server::Server;
use testkit::drover;

/// Two stores with two batches each, in the order of their times; the changes of a batch say their product and kind.
const CRAWLS: &str = r#"
    INSERT INTO dispensaries (id, name, state, groups) VALUES (1, 'North', 'AZ', '{rivals}'), (2, 'Lakes', 'MI', '{}');
    INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, brand_name_raw, category, canonical_category,
                                is_on_special,
                                quantity_censored, is_in_stock, stock_status, first_seen_at, last_seen_at)
    VALUES (11, 1, 'dutchie', 'a', 'Banjo Kush', 'Granite', 'Flower', 'flower', false, false, true, 'in_stock', now(), now()),
           (12, 1, 'dutchie', 'b', 'Citrus Chews', 'Mesa', 'Edible', 'drink', false, false, true, 'in_stock', now(), now()),
           (21, 2, 'dutchie', 'c', 'Banjo Kush', 'GRANITE', 'flower', 'flower', false, false, true, 'in_stock', now(), now());
    INSERT INTO change_batches (crawl_id, dispensary_id, crawled_at, count, baseline)
    VALUES (1, 1, '2025-01-10T08:00:00Z', 2, false), (2, 2, '2025-01-10T09:00:00Z', 1, false), (3, 1, '2025-01-10T10:00:00Z', 2, false),
           (4, 2, '2025-01-10T11:00:00Z', 0, true);
    INSERT INTO product_changes (crawl_id, n, store_product_id, option_label, nth, kind, old_rec, new_rec, old_med, new_med, old_quantity, cents,
                                 percent, crawled_at)
    VALUES (1, 0, 11, '1g', 0, 'price_drop', 2000, 1500, NULL, NULL, NULL, -500, -25, '2025-01-10T08:00:00Z'),
           (1, 1, 12, NULL, NULL, 'new', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2025-01-10T08:00:00Z'),
           (2, 0, 21, '1g', 1, 'price_rise', NULL, NULL, 1000, 1050, NULL, 50, 5, '2025-01-10T09:00:00Z'),
           (3, 0, 11, '1g', 0, 'sold_out', NULL, NULL, NULL, NULL, 4, NULL, NULL, '2025-01-10T10:00:00Z'),
           (3, 1, 99, NULL, NULL, 'gone', NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2025-01-10T10:00:00Z');
    INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, quantity_censored, is_in_stock, gone,
                                               rec_per_g, med_per_g)
    VALUES (11, '1g', 0, 1, '2025-01-10T08:00:00Z', false, true, false, 1500000, 900000),
           (21, '1g', 1, 2, '2025-01-10T09:00:00Z', false, true, false, NULL, 1050000);"#;

const ALL: [&str; 5] = ["11 price_drop", "12 new", "21 price_rise", "11 sold_out", "99 gone"];

impl Server {
    /// Returns the cursor before all changes.
    async fn with_changes(&self) -> String {
        let begin = self.changes("").await["next_cursor"].as_str().unwrap().to_owned();
        self.database.raw.batch_execute(CRAWLS).await.unwrap();
        assert_eq!(publisher::publish(&self.database.db).await.unwrap(), 4);
        begin
    }

    async fn changes(&self, query: &str) -> Value {
        self.get(&format!("/api/changes?{query}")).await.expect(200)
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

/// Product and kind of each change.
fn shown(page: &Value) -> Vec<String> {
    let changes = page["changes"].as_array().unwrap().iter();
    changes.map(|change| format!("{} {}", change["product_id"], change["kind"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn a_reader_gets_every_change_once_in_pages_of_any_length() {
    let server = Server::start().await;
    let begin = server.with_changes().await;
    for limit in [1, 2, 3, 1000] {
        let (mut cursor, mut found) = (begin.clone(), Vec::new());
        loop {
            let page = server.changes(&format!("since={cursor}&limit={limit}")).await;
            assert!(shown(&page).len() <= limit);
            found.extend(shown(&page));
            cursor = page["next_cursor"].as_str().unwrap().to_owned();
            if page["caught_up"] == true {
                break;
            }
        }
        assert_eq!(found, ALL, "{limit} a page");
        assert_eq!(shown(&server.changes(&format!("since={cursor}")).await), [""; 0]);
    }
}

#[tokio::test]
async fn a_reader_goes_back_from_the_newest_change_in_pages_of_any_length() {
    let server = Server::start().await;
    server.with_changes().await;
    let backwards: Vec<&str> = ALL.into_iter().rev().collect();
    for limit in [1, 2, 3, 1000] {
        let mut found = Vec::new();
        let mut page = server.changes(&format!("sort=newest&limit={limit}")).await;
        loop {
            assert!(shown(&page).len() <= limit);
            found.extend(shown(&page));
            if page["caught_up"] == true {
                break;
            }
            let before = page["next_cursor"].as_str().unwrap();
            page = server.changes(&format!("sort=newest&limit={limit}&before={before}")).await;
        }
        assert_eq!(found, backwards, "{limit} a page");
    }
    let page = server.changes("sort=newest&limit=2&wait=10s&category=flower").await;
    assert_eq!((shown(&page), &page["caught_up"]), (strings(&["11 sold_out", "21 price_rise"]), &json!(false)));
    let before = page["next_cursor"].as_str().unwrap();
    let page = server.changes(&format!("sort=newest&limit=2&wait=10s&category=flower&before={before}")).await;
    assert_eq!((shown(&page), &page["caught_up"]), (strings(&["11 price_drop"]), &json!(true)));
    assert_eq!(shown(&server.changes("sort=newest&from=2125-01-01").await), [""; 0]);
    assert_eq!(shown(&server.changes("sort=newest&from=2025-01-01&store=2").await), ["21 price_rise"]);
}

/// A feed of 20,000 crawls of ten stores with five changes each, of which the planner knows nothing.
const LONG_FEED: &str = "
    ALTER TABLE change_batches SET (autovacuum_enabled = off);
    ALTER TABLE product_changes_default SET (autovacuum_enabled = off);
    INSERT INTO dispensaries (id, name) SELECT n, 'Store ' || n FROM generate_series(1, 10) n;
    INSERT INTO change_batches (crawl_id, dispensary_id, crawled_at, count, baseline, seq)
    SELECT n, 1 + n % 10, now() - interval '1 day', 5, false, n FROM generate_series(1, 20000) n;
    INSERT INTO product_changes (crawl_id, n, store_product_id, kind, crawled_at)
    SELECT b.crawl_id, n, n, 'new', b.crawled_at FROM change_batches b, generate_series(0, 4) n;
    UPDATE change_feed SET newest = 20000";
/// Rows of the feed that this transaction has read: by sequential scans of the tables, by indexes.
const READS: &str = "SELECT sum(seq_tup_read)::bigint, sum(idx_tup_fetch)::bigint FROM pg_stat_xact_user_tables
                      WHERE relname LIKE 'product\\_changes%' OR relname = 'change_batches'";

/// Rows read by looking through the tables, and by indexes.
async fn reads(tx: &db::Tx) -> (i64, i64) {
    let row = tx.query_one(READS, &[]).await.unwrap();
    (row.get(0), row.get(1))
}

#[tokio::test]
async fn a_page_from_either_end_reads_little_more_than_it_holds_whatever_the_statistics_say() {
    let server = Server::start().await;
    server.database.raw.batch_execute(LONG_FEED).await.unwrap();
    let place = db::changes::feed::newest(&server.database.db.client().await.unwrap()).await.unwrap();
    for store in [None, Some(2)] {
        let question = ChangeQuestion { store, ..ChangeQuestion::default() };
        let tx = server.database.db.begin().await.unwrap();
        // counts of the connection's last transaction may still be among these
        let (whole_before, by_index_before) = reads(&tx).await;
        let back = db::changes::feed::read_back(&tx, &place, 0, &question).await.unwrap();
        assert_eq!((back.changes.len(), back.is_end), (100, false));
        assert!(back.changes.iter().all(|change| store.is_none_or(|store| change.store_id == store)));
        let begin = ChangePlace { seq: 0, ..place.clone() };
        db::changes::feed::read_on(&tx, &begin, &question).await.unwrap();
        let (whole, by_index) = reads(&tx).await;
        let by_index = by_index - by_index_before;
        assert_eq!(whole - whole_before, 0, "rows read by looking through the tables");
        // a walk looks at the numbers of 1,000 batches, or of those of one store, and at no change
        let walked = if store.is_some() { 2_000 } else { 1_000 };
        assert!(by_index <= 2 * (walked + 150), "{by_index} rows read for two pages of 100");
    }
}

#[tokio::test]
async fn a_change_says_what_it_is_of_and_what_was_before() {
    let server = Server::start().await;
    let begin = server.with_changes().await;
    let mut page = server.changes(&format!("since={begin}")).await;
    let cursor = page["changes"][1]["cursor"].take();
    page["changes"][0]["cursor"].take();
    assert_eq!(
        page["changes"][0],
        json!({"cursor": null, "kind": "price_drop", "store_id": 1, "store": "North", "product_id": 11, "product": "Banjo Kush",
               "brand": "Granite", "category": "Flower", "option": {"label": "1g", "nth": 0}, "old": {"rec": 2000},
               "new": {"rec": 1500}, "cents": -500, "percent": -25.0, "crawled_at": "2025-01-10T08:00:00Z", "text": "Banjo Kush (Granite) 1g: $20.00 to $15.00 (-25 %)"})
    );
    assert_eq!((&page["changes"][1]["option"], &page["changes"][4]["product"]), (&Value::Null, &Value::Null));
    let behind = server.changes(&format!("since={}", cursor.as_str().unwrap())).await;
    assert_eq!(shown(&behind), ALL[2..]);
}

#[tokio::test]
async fn each_filter_leaves_the_changes_that_it_names() {
    let server = Server::start().await;
    let begin = server.with_changes().await;
    let cases: [(&str, &[&str]); 13] = [
        ("kind=sold_out,new", &["12 new", "11 sold_out"]),
        ("store=2", &["21 price_rise"]),
        ("store=4711", &[]),
        ("group=rivals", &["11 price_drop", "12 new", "11 sold_out", "99 gone"]),
        ("state=mi", &["21 price_rise"]),
        ("brand=granite", &["11 price_drop", "21 price_rise", "11 sold_out"]),
        ("category=FLOWER&kind=price_drop", &["11 price_drop"]),
        ("category=Drink", &["12 new"]),
        ("max_unit_price=1500000", &["11 price_drop", "21 price_rise"]),
        ("max_unit_price=1499999", &["21 price_rise"]),
        ("min_percent=5", &["11 price_drop", "21 price_rise"]),
        ("min_percent=5.5", &["11 price_drop"]),
        ("min_cents=51", &["11 price_drop"]),
    ];
    for (filter, expected) in cases {
        let page = server.changes(&format!("since={begin}&{filter}")).await;
        assert_eq!((shown(&page).as_slice(), &page["caught_up"]), (&strings(expected)[..], &json!(true)), "{filter}");
    }
}

#[tokio::test]
async fn the_feed_begins_now_or_at_a_time() {
    let server = Server::start().await;
    server.with_changes().await;
    assert_eq!(shown(&server.changes("").await), [""; 0]);
    assert_eq!(shown(&server.changes("from=2025-01-01").await), ALL);
    assert_eq!(shown(&server.changes("from=2125-01-01").await), [""; 0]);
}

#[tokio::test]
async fn an_answer_waits_for_the_next_change_that_fits() {
    let server = Server::start().await;
    let begin = server.changes("").await["next_cursor"].as_str().unwrap().to_owned();
    let waiting = format!("since={begin}&wait=20s&kind=price_rise");
    let (page, _) = tokio::join!(server.changes(&waiting), server.with_changes());
    assert_eq!(shown(&page), ["21 price_rise"]);
}

#[tokio::test]
async fn wrong_places_and_waits_are_refused_by_name() {
    let server = Server::start().await;
    let begin = server.with_changes().await;
    let newest = db::changes::feed::newest(&server.database.db.client().await.unwrap()).await.unwrap();
    let of_another = Position(ChangePlace { installation: "another".to_owned(), ..newest.clone() }).text();
    let ahead = Position(ChangePlace { seq: newest.seq + 1, ..newest }).text();
    for (query, field) in [
        ("since=17".to_owned(), "since"),
        (format!("since={of_another}"), "since"),
        (format!("since={ahead}"), "since"),
        ("min_percent=much".to_owned(), "min_percent"),
        ("min_percent=-1".to_owned(), "min_percent"),
        ("min_cents=-1".to_owned(), "min_cents"),
        (format!("since={begin}&from=2025-01-01"), "from"),
        ("wait=31s".to_owned(), "wait"),
        ("wait=soon".to_owned(), "wait"),
        ("limit=1001".to_owned(), "limit"),
        ("kind=cheaper".to_owned(), "kind"),
        ("sort=cheapest".to_owned(), "sort"),
        (format!("sort=newest&since={begin}"), "since"),
        (format!("before={begin}"), "before"),
        (format!("sort=newest&before={of_another}"), "before"),
    ] {
        let problem = server.get(&format!("/api/changes?{query}")).await.problem(400);
        assert_eq!(problem["field"], field, "{query}: {problem}");
    }
}

#[tokio::test]
async fn the_command_prints_changes_and_continues_behind_a_cursor() {
    let server = Server::start().await;
    server.with_changes().await;
    let tail = async |more: &[&str]| {
        let mut command = drover();
        command.args(["changes", "tail", "--no-follow"]).args(more).env("DATABASE_URL", &server.database.url);
        let output = command.output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = tail(&["--from", "2025-01-01"]).await;
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), ALL.len(), "{text}");
    assert!(lines[0].ends_with("Banjo Kush (Granite) 1g: $20.00 to $15.00 (-25 %) · North"), "{text}");
    assert!(lines[4].ends_with("a product that was deleted: gone · North"), "{text}");

    let documents = tail(&["--json", "--from", "2025-01-01"]).await;
    let first: Value = serde_json::from_str(documents.lines().next().unwrap()).unwrap();
    let rest = tail(&["--since", first["cursor"].as_str().unwrap(), "--min-change", "0.50"]).await;
    assert_eq!(rest.lines().count(), 1, "{rest}");
}

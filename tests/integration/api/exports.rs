//! `/api/export/{dataset}`, `drover export` and `drover products export --history`: three formats with the same rows, filters,
//! refusals, and exports that end before their last row.

use std::ops::ControlFlow;
use std::process::Output;

use contract::exports::{Column, Dataset, ExportQuery, Kind};
use contract::prices::PricesBy;
use db::exports::{ChunkEnd, ExportRow, ExportRows};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use nix::sys::signal::Signal;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use rstest::rstest;
use serde_json::{Map, Value, json};

use super::server::{Server, open};
use testkit::{PATIENCE, TestDatabase, drover, until};

/// Two stores with three products, with options, history and changes. Texts are hostile, and rows are out of order.
const SHOP: &str = "
    SET xmlbinary = 'hex';
    INSERT INTO dispensaries (id, name, city, state, groups, slug, menu_url, latitude, last_complete_at, last_payload_id)
    OVERRIDING SYSTEM VALUE
    VALUES (2, 'Fern', 'Mesa', NULL, '{}', NULL, NULL, NULL, NULL, 7),
           (1, 'Leaf; DROP TABLE dispensaries; --', '@SUM(A1)', 'AZ', '{north,rivals}', '+leaf', '=cmd|'' /C calc''!A0', 33.5,
            '2025-01-11T09:00:00Z', 9);
    INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, brand_name_raw, category, subcategory,
                                canonical_category, strain_type, price_rec, price_med, special_price_rec, is_on_special, thc_min, thc_unit,
                                quantity, quantity_censored, is_in_stock, stock_status, image_url, first_seen_at, last_seen_at, updated_at)
    OVERRIDING SYSTEM VALUE
    VALUES (13, 2, 'dutchie', 'a', 'Red', 'bud bros', NULL, NULL, NULL, NULL, 1, NULL, NULL, false, NULL, NULL, NULL, false, false, 'oos',
            NULL, '2025-01-01T08:00:00Z', '2025-01-02T08:00:00Z', '2025-01-02T08:00:00Z'),
           (11, 1, 'dutchie', 'a', '=HYPERLINK(\"x\")' || chr(13) || chr(10) || repeat('🌿', 2500) || chr(8238) || '''', 'Bud Bros', 'Flower',
            NULL, 'flower', '-hybrid', 3000, NULL, 2500, true, 21.5, 'PERCENTAGE', 7, true, true, 'in_stock', 'https://a/\"b\",c',
            '2025-01-01T08:00:00Z', '2025-01-02T08:00:00.000001Z', '2025-01-02T08:00:00Z'),
           (12, 1, 'dutchie', 'b', 'Blue', NULL, 'Edible', 'Gummies', 'edible', NULL, NULL, 1500, NULL, false, NULL, NULL, 0, false, true,
            'in_stock', NULL, '2025-01-01T08:00:00Z', '2025-01-02T08:00:00Z', '2025-01-02T08:00:00Z');
    INSERT INTO store_product_variants (store_product_id, option_label, nth, position, size_mg, size_ml, price_rec, price_med, special_price_rec,
                                        quantity, quantity_censored, is_in_stock, rec_per_g, rec_per_mg_thc, thc_mg, unit_basis, no_unit_price)
    VALUES (11, '3.5g', 0, 0, 3500, NULL, 3000, NULL, 2500, 7, true, true, 714286, 2857, 752.5, 'weight', NULL),
           (11, '1g', 1, 1, 1000, NULL, 1000, 900, NULL, 0, false, false, 1000000, NULL, NULL, 'weight', NULL),
           (11, '1g', 0, 2, 1000, NULL, NULL, NULL, NULL, NULL, false, true, NULL, NULL, NULL, NULL, NULL),
           (12, 'a,\"b\"', 0, NULL, NULL, 30.5, NULL, 1500, NULL, NULL, false, true, NULL, NULL, 100, 'stated_thc', 'no_size');
    INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, size_mg, size_ml, price_rec,
                                               price_med, special_price_rec, special_price_med, quantity, quantity_censored, is_in_stock, gone,
                                               rec_per_g, rec_per_mg_thc, unit_basis)
    VALUES (11, '3.5g', 0, 9, '2025-01-11T08:00:00.000001Z', 3500, NULL, 3000, NULL, 2500, 0, NULL, false, true, false, 714286, 2857, 'weight'),
           (11, '3.5g', 0, 8, '2025-01-10T08:00:00Z', 3500, NULL, 3200, NULL, NULL, NULL, 7, true, true, false, NULL, NULL, NULL),
           (11, '1g', 1, 8, '2025-01-10T08:00:00Z', 1000, NULL, 1000, 900, NULL, NULL, 0, false, false, true, NULL, NULL, NULL),
           (12, 'a,\"b\"', 0, 8, '2024-11-10T08:00:00Z', NULL, 30.5, NULL, NULL, NULL, NULL, NULL, false, true, false, NULL, NULL, NULL),
           (13, '1g', 0, 7, '2025-01-09T08:00:00Z', NULL, NULL, 1, NULL, NULL, NULL, 1, false, true, false, NULL, NULL, NULL);
    INSERT INTO change_batches (crawl_id, dispensary_id, crawled_at, count, baseline)
    VALUES (7, 2, '2025-01-10T09:00:00Z', 1, false), (8, 1, '2025-01-10T08:00:00Z', 3, false),
           (9, 1, '2025-01-11T08:00:00.000001Z', 2, false), (6, 1, '2025-01-09T08:00:00Z', 0, true);
    INSERT INTO product_changes (crawl_id, n, store_product_id, option_label, nth, kind, old_rec, new_rec, old_special_rec, new_special_rec,
                                 old_quantity, new_quantity, new_quantity_censored, cents, percent, crawled_at)
    VALUES (9, 1, 11, '3.5g', 0, 'special_start', NULL, 3000, NULL, 2500, NULL, NULL, NULL, NULL, NULL, '2025-01-11T08:00:00.000001Z'),
           (9, 0, 11, '3.5g', 0, 'price_drop', 3000, 2500, NULL, NULL, NULL, NULL, NULL, -500, -16.6666667, '2025-01-11T08:00:00.000001Z'),
           (8, 0, 11, '1g', 1, 'sold_out', NULL, NULL, NULL, NULL, 4, 0, true, NULL, NULL, '2025-01-10T08:00:00Z'),
           (8, 1, 12, NULL, NULL, 'new', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2025-01-10T08:00:00Z'),
           (8, 2, 4711, '@1g', 0, 'price_rise', 100, 120, NULL, NULL, NULL, NULL, NULL, 20, 20, '2025-01-10T08:00:00Z'),
           (7, 0, 13, NULL, NULL, 'gone', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2025-01-10T09:00:00Z');
    SELECT publish_changes(100);
    RESET xmlbinary;";

/// Sixty stores with 1,800 products of two options each, their history, and a crawl with three changes in each store.
const MANY: &str = "
    INSERT INTO dispensaries (id, name, state, groups) OVERRIDING SYSTEM VALUE
    SELECT n, 'Store ' || n, CASE WHEN n % 2 = 0 THEN 'AZ' ELSE 'NV' END, CASE WHEN n = 42 THEN '{rare}'::text[] ELSE '{}' END
      FROM generate_series(1, 60) n;
    INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, price_rec, is_on_special, quantity_censored,
                                is_in_stock, stock_status, first_seen_at, last_seen_at)
    SELECT n, 1 + n % 60, 'dutchie', n, 'Product ' || n, n, false, false, true, 'in_stock', now(), now() FROM generate_series(1, 1800) n;
    INSERT INTO store_product_variants (store_product_id, option_label, nth, price_rec, quantity_censored, is_in_stock)
    SELECT id, label, 0, id, false, true FROM store_products, unnest('{1g,3.5g}'::text[]) label;
    INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, price_rec, quantity_censored,
                                               is_in_stock, gone)
    SELECT store_product_id, option_label, nth, n, timestamptz '2025-01-10' + n * interval '1 day', price_rec, false, true, false
      FROM store_product_variants, generate_series(1, 2) n;
    INSERT INTO change_batches (crawl_id, dispensary_id, crawled_at, count, baseline)
    SELECT n, n, timestamptz '2025-01-10' + (n / 3) * interval '1 hour', 3, false FROM generate_series(1, 60) n;
    INSERT INTO product_changes (crawl_id, n, store_product_id, kind, cents, crawled_at)
    SELECT b.crawl_id, n, 59 + b.dispensary_id, 'new', n, b.crawled_at FROM change_batches b, generate_series(0, 2) n;
    SELECT publish_changes(100)";

/// Statements of exports that run now.
const RUNNING: &str = "SELECT count(*) FROM pg_stat_activity \
                       WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' AND query LIKE '%exports/%'";

/// Rows of a dataset as the views for analysts have them, and their order in a file.
fn in_sql(dataset: Dataset) -> (&'static str, &'static str) {
    match dataset {
        Dataset::Stores => ("drover_v1.stores", "store_id"),
        Dataset::Products => (
            "(SELECT p.*, u.rec_per_g, u.med_per_g, u.rec_per_mg_thc, u.med_per_mg_thc, u.unit_basis
                FROM drover_v1.products p LEFT JOIN LATERAL cheapest_option(p.product_id) u ON true)",
            "store_id, product_id",
        ),
        Dataset::Options => ("drover_v1.options", "store_id, product_id, option_label COLLATE \"C\", nth"),
        Dataset::OptionHistory => (
            "drover_v1.option_prices",
            "store_id, product_id, option_label COLLATE \"C\", nth, crawled_at, crawl_id",
        ),
        Dataset::Changes => (
            "(SELECT c.*, o.rec_per_g AS new_rec_per_g, o.med_per_g AS new_med_per_g, o.rec_per_mg_thc AS new_rec_per_mg_thc,
                     o.med_per_mg_thc AS new_med_per_mg_thc, o.unit_basis, b.crawl_id
                FROM drover_v1.changes c JOIN change_batches b ON b.seq = c.seq
                LEFT JOIN drover_v1.option_prices o ON o.product_id = c.product_id AND o.option_label = c.option_label AND o.nth = c.nth
                                                   AND o.crawl_id = b.crawl_id)",
            "crawled_at, crawl_id, n",
        ),
        Dataset::PriceChanges | Dataset::UnitPrices => panic!("{dataset} is a list of the API"),
    }
}

/// The value of a column in SQL, as a file has it.
fn value_in_sql(dataset: Dataset, column: &Column) -> String {
    let name = column.name;
    match column.kind {
        Kind::Timestamp => format!("to_char({name} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')"),
        Kind::Text if dataset == Dataset::Stores && name == "groups" => "array_to_string(groups, ';')".to_owned(),
        _ => name.to_owned(),
    }
}

async fn expected(database: &TestDatabase, dataset: Dataset, filter: &str) -> Vec<Value> {
    let (rows, order) = in_sql(dataset);
    let value = |column: &Column| format!("'{}', {}", column.name, value_in_sql(dataset, column));
    let object = dataset.columns().iter().map(value).collect::<Vec<_>>().join(", ");
    let sql = format!("SELECT json_agg(json_build_object({object}) ORDER BY {order}) FROM {rows} v WHERE {filter}");
    let rows = database.raw.query_one(&sql, &[]).await.unwrap().get::<_, Option<Value>>(0);
    let rows = rows.map_or_else(Vec::new, |rows| rows.as_array().unwrap().clone());
    rows.into_iter().map(|row| with_floats(dataset, row)).collect()
}

/// The row, where `30` of a column of floats is `30.0`.
fn with_floats(dataset: Dataset, mut row: Value) -> Value {
    for column in dataset.columns().iter().filter(|column| column.kind == Kind::Float64) {
        if let Some(number) = row.get(column.name).and_then(Value::as_f64) {
            row[column.name] = json!(number);
        }
    }
    row
}

async fn with_shop() -> Server {
    let server = Server::start().await;
    server.database.raw.batch_execute(SHOP).await.unwrap();
    server
}

/// The rows of a file, as objects of JSON.
fn rows(dataset: Dataset, format: &str, bytes: &[u8]) -> Vec<Value> {
    match format {
        "csv" => csv_rows(dataset, bytes),
        "jsonl" => bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(json_line).collect(),
        _ => parquet_rows(bytes),
    }
}

fn json_line(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap()
}

/// A cell of numbers or truth is read as JSON; an empty one is null, unless the column has no unknown values.
fn csv_rows(dataset: Dataset, bytes: &[u8]) -> Vec<Value> {
    let mut csv = csv::Reader::from_reader(bytes);
    let names = csv.headers().unwrap().clone();
    let cell = |name: &str, text: &str| {
        let column = dataset.columns().iter().find(|column| column.name == name).unwrap();
        match column.kind {
            _ if text.is_empty() && column.is_nullable => Value::Null,
            Kind::Text | Kind::Timestamp => json!(export::csv_cell::unescaped(text)),
            Kind::Float64 => json!(text.parse::<f64>().unwrap()),
            _ => serde_json::from_str(text).unwrap(),
        }
    };
    let row = |record: csv::StringRecord| {
        names.iter().zip(&record).map(|(name, text)| (name.to_owned(), cell(name, text))).collect()
    };
    csv.records().map(|record| Value::Object(row(record.unwrap()))).collect()
}

fn parquet_rows(bytes: &[u8]) -> Vec<Value> {
    let reader = SerializedFileReader::new(hyper::body::Bytes::copy_from_slice(bytes)).unwrap();
    let fields = reader.get_row_iter(None).unwrap().map(|row| row.unwrap().into_columns());
    let object = |fields: Vec<(String, Field)>| fields.into_iter().map(|(name, field)| (name, cell(field)));
    fields.map(|fields| Value::Object(object(fields).collect::<Map<_, _>>())).collect()
}

fn cell(field: Field) -> Value {
    match field {
        Field::Null => Value::Null,
        Field::Bool(value) => json!(value),
        Field::Short(value) => json!(value),
        Field::Int(value) => json!(value),
        Field::Long(value) => json!(value),
        Field::Double(value) => json!(value),
        Field::Str(text) => json!(text),
        Field::TimestampMicros(micros) => {
            let time = chrono::DateTime::from_timestamp_micros(micros).unwrap();
            json!(time.to_rfc3339_opts(chrono::SecondsFormat::Micros, true))
        }
        other => panic!("no cell of an export: {other:?}"),
    }
}

#[tokio::test]
async fn three_formats_hold_the_rows_that_sql_says_with_texts_unharmed() {
    let server = with_shop().await;
    for (dataset, count) in [
        (Dataset::Changes, 6),
        (Dataset::OptionHistory, 5),
        (Dataset::Options, 4),
        (Dataset::Products, 3),
        (Dataset::Stores, 2),
    ] {
        let expected = expected(&server.database, dataset, "true").await;
        assert_eq!(expected.len(), count, "{dataset}");
        for (format, kind) in [
            ("csv", "text/csv; charset=utf-8"),
            ("jsonl", "application/x-ndjson"),
            ("parquet", "application/vnd.apache.parquet"),
        ] {
            let answer = server.get(&format!("/api/export/{dataset}?format={format}")).await;
            assert_eq!(answer.status, 200, "{dataset}: {}", answer.text());
            assert_eq!(answer.headers["content-type"], kind);
            let name = format!("attachment; filename=\"{dataset}.{format}\"");
            assert_eq!(answer.headers["content-disposition"], name.as_str());
            assert_eq!(rows(dataset, format, &answer.body), expected, "{dataset} as {format}");
        }
    }
}

/// The dataset, its query, the same in SQL, and the number of rows that it leaves.
const FILTERS: [(Dataset, &str, &str, usize); 51] = [
    (Dataset::OptionHistory, "since=2025-01-10", "crawled_at >= '2025-01-10'", 3),
    (Dataset::OptionHistory, "until=2025-01-10", "crawled_at < '2025-01-11'", 4),
    (
        Dataset::OptionHistory,
        "since=2025-01-09&until=2025-01-09",
        "crawled_at BETWEEN '2025-01-09' AND '2025-01-10'",
        1,
    ),
    (Dataset::OptionHistory, "store=1", "store_id = 1", 4),
    (Dataset::OptionHistory, "store=1&category=edible", "product_id = 12", 1),
    (Dataset::OptionHistory, "group=north", "store_id = 1", 4),
    (Dataset::OptionHistory, "group=south", "false", 0),
    (Dataset::OptionHistory, "state=az", "state = 'AZ'", 4),
    (Dataset::OptionHistory, "city=%20mesa", "city = 'Mesa'", 1),
    (Dataset::OptionHistory, "brand=BUD%20BROS", "product_id IN (11, 13)", 4),
    (Dataset::OptionHistory, "brand=BUD", "false", 0),
    (Dataset::OptionHistory, "category=flower", "product_id = 11", 3),
    (Dataset::Options, "store=2", "false", 0),
    (Dataset::Options, "group=rivals&state=AZ", "store_id = 1", 4),
    (Dataset::Options, "brand=bud%20bros", "product_id = 11", 3),
    (Dataset::Options, "category=edible", "product_id = 12", 1),
    (Dataset::Stores, "store=2", "store_id = 2", 1),
    (Dataset::Stores, "state=AZ", "store_id = 1", 1),
    (Dataset::Stores, "group=north", "store_id = 1", 1),
    (Dataset::Stores, "city=mesa", "store_id = 2", 1),
    (Dataset::Products, "store=1", "store_id = 1", 2),
    (Dataset::Products, "group=north&in_stock=true", "store_id = 1 AND is_in_stock", 2),
    (Dataset::Products, "in_stock=false", "NOT is_in_stock", 1),
    (Dataset::Products, "on_special=true", "is_on_special", 1),
    (Dataset::Products, "min_price=2", "price >= 2", 2),
    (Dataset::Products, "max_price=1500", "price <= 1500", 2),
    (Dataset::Products, "max_unit_price=714286", "product_id = 11", 1),
    (Dataset::Products, "max_unit_price=714285", "false", 0),
    (Dataset::Products, "brand=BUD", "product_id IN (11, 13)", 2),
    (Dataset::Products, "category=gummies", "false", 0),
    (Dataset::Products, "q=red", "product_id = 13", 1),
    (Dataset::Products, "q=bud", "product_id IN (11, 13)", 2),
    (Dataset::Products, "q=bud&group=north", "product_id = 11", 1),
    (Dataset::Products, "q=bud&state=az&max_price=9000", "product_id = 11", 1),
    (Dataset::Products, "q=xylophone", "false", 0),
    (Dataset::Changes, "since=2025-01-11", "crawled_at >= '2025-01-11'", 2),
    (Dataset::Changes, "until=2025-01-10", "crawled_at < '2025-01-11'", 4),
    (Dataset::Changes, "store=1", "store_id = 1", 5),
    (Dataset::Changes, "store=1&since=2025-01-10&until=2025-01-10", "store_id = 1 AND crawled_at < '2025-01-11'", 3),
    (Dataset::Changes, "group=north", "store_id = 1", 5),
    (Dataset::Changes, "state=AZ&city=mesa", "false", 0),
    (Dataset::Changes, "kind=price_drop,price_rise", "kind IN ('price_drop', 'price_rise')", 2),
    (Dataset::Changes, "product=11", "product_id = 11", 3),
    (Dataset::Changes, "product=4712", "false", 0),
    (Dataset::Changes, "min_percent=18", "abs(percent) >= 18", 1),
    (Dataset::Changes, "min_percent=10&min_cents=21", "abs(cents) > 20", 1),
    (Dataset::Changes, "max_price=2500", "kind IN ('price_drop', 'special_start', 'price_rise')", 3),
    (Dataset::Changes, "max_unit_price=714286", "new_rec_per_g <= 714286", 2),
    (Dataset::Changes, "max_unit_price=714285", "false", 0),
    (Dataset::Changes, "brand=bud%20bros", "product_id IN (11, 13)", 4),
    (Dataset::Changes, "category=flower", "product_id = 11", 3),
];

#[tokio::test]
async fn a_filter_leaves_the_rows_that_sql_says() {
    let server = with_shop().await;
    db::products::search::copy_names(&server.database.db, PATIENCE).await.unwrap();
    for (dataset, query, filter, count) in FILTERS {
        let answer = server.get(&format!("/api/export/{dataset}?format=jsonl&{query}")).await;
        assert_eq!(answer.status, 200, "{dataset}?{query}: {}", answer.text());
        let mut rows = rows(dataset, "jsonl", &answer.body);
        if query.contains("q=") {
            // the best match comes first
            rows.sort_by_key(|row| row["product_id"].as_i64());
        }
        let expected = expected(&server.database, dataset, filter).await;
        assert_eq!((rows.len(), rows), (count, expected), "{dataset}?{query}");
    }
    let two = server.get("/api/export/option_history?columns=price_rec,store&store=2").await;
    assert_eq!(two.text(), "price_rec,store\r\n1,Fern\r\n");
    server.database.raw.batch_execute(PRICES).await.unwrap();
    for list in LISTS {
        has_the_rows_of_its_list(&server, list).await;
    }
}

/// A price that rose, one that fell, and prices by unit of two brands in two weeks.
const PRICES: &str = "
    INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, price_rec, price_med,
                                               quantity_censored, is_in_stock, gone)
    VALUES (11, '3.5g', 0, 10, '2025-02-01', 2000, NULL, false, true, false),
           (12, 'a,\"b\"', 0, 10, '2025-02-01', NULL, 2000, false, true, false);
    INSERT INTO daily_price_changes (day, store_product_id, changed_at, dispensary_id, nth, size, option_label, state, canonical_category, brand_key)
    SELECT (t.at AT TIME ZONE 'UTC')::date, id, t.at, 1, 0, 25, label, 'AZ', category, brand
      FROM (SELECT now() - interval '1 day' AS at) t,
           (VALUES (11, '3.5g', 'flower', 'bud bros'), (12, 'a,\"b\"', 'edible', NULL)) AS c(id, label, category, brand);
    INSERT INTO unit_price_weeks (week, state, category, brand_key, unit, brand, stores, options, price_min, price_p25, price_median, price_p75, price_max)
    SELECT week, '', '', key, unit, nullif(brand, ''), stores, 4, price, price, price, price, price
      FROM (VALUES ('', '', 9), ('=mesa', '=Mesa', 3), ('bud bros', 'Bud Bros', 6)) AS b(key, brand, stores),
           (VALUES ('2025-02-03'::date), ('2025-02-10')) AS w(week), (VALUES ('', NULL), ('g', 714286)) AS u(unit, price)";

/// A dataset that is a list of the API: its query, and the number of rows that it leaves.
const LISTS: [(Dataset, &str, usize); 12] = [
    (Dataset::PriceChanges, "since=2025-03-01", 2),
    (Dataset::PriceChanges, "direction=drop", 1),
    (Dataset::PriceChanges, "sort=cents&q=blue", 1),
    (Dataset::PriceChanges, "q=bud&category=edible", 0),
    (Dataset::PriceChanges, "group=north&city=@sum(a1)&state=az&in_stock=true", 2),
    (Dataset::PriceChanges, "store=2", 0),
    (Dataset::PriceChanges, "brand=bud%20bros&on_special=true", 1),
    (Dataset::PriceChanges, "min_price=1600&max_price=2500", 1),
    (Dataset::PriceChanges, "max_unit_price=714285", 0),
    (Dataset::UnitPrices, "by=brand", 2),
    (Dataset::UnitPrices, "by=brand&unit=ml&week=2025-02-05", 2),
    (Dataset::UnitPrices, "by=week&brand=bud%20bros", 2),
];

/// Compares the three files of a list with its answer.
async fn has_the_rows_of_its_list(server: &Server, (dataset, query, count): (Dataset, &str, usize)) {
    let (path, name, columns) = match dataset {
        Dataset::PriceChanges => {
            let columns =
                ["product_id", "store_id", "price_before", "price", "cents", "percent", "is_in_stock", "city"];
            ("price-changes", "changes", columns.map(|name| (name, name)).to_vec())
        }
        _ => (
            "unit-prices",
            "prices",
            vec![("week", "week"), ("brand", "brand"), ("stores", "stores"), ("price_p25", "p25")],
        ),
    };
    let listed = server.get(&format!("/api/analytics/{path}?{query}")).await;
    let listed: Value = serde_json::from_slice(&listed.body).unwrap();
    let listed: Vec<Vec<&Value>> = listed[name]
        .as_array()
        .unwrap_or_else(|| panic!("{query}: {listed}"))
        .iter()
        .map(|row| columns.iter().map(|(_, field)| &row[*field]).collect())
        .collect();
    assert_eq!(listed.len(), count, "{dataset}?{query}");
    for format in ["csv", "jsonl", "parquet"] {
        let answer = server.get(&format!("/api/export/{dataset}?format={format}&{query}")).await;
        assert_eq!(answer.status, 200, "{dataset}?{query}: {}", answer.text());
        let rows = rows(dataset, format, &answer.body);
        let file: Vec<Vec<&Value>> =
            rows.iter().map(|row| columns.iter().map(|(column, _)| &row[*column]).collect()).collect();
        assert_eq!(file, listed, "{dataset}?{query} as {format}");
    }
}

#[tokio::test]
async fn what_cannot_be_exported_is_refused_with_what_can() {
    let server = with_shop().await;
    for (path, field, named) in [
        (
            "/api/export/snapshots",
            "dataset",
            "changes, option_history, options, price_changes, products, stores, unit_prices",
        ),
        ("/api/export/option_history?format=xml", "format", "`csv`, `jsonl`, `parquet`"),
        ("/api/export/option_history?columns=high", "columns", "the columns are store_id, store, state, product_id"),
        ("/api/export/stores?columns=price", "columns", "the columns are store_id, store, platform"),
        ("/api/export/option_history?columns=nth,nth", "columns", "the column 'nth' is given twice"),
        ("/api/export/option_history?since=2025-01-10&until=2025-01-09", "since", "before the end"),
        ("/api/export/option_history?state=Arizona", "state", "not two letters"),
        ("/api/export/products?since=2025-01-10", "since", "products has no times: leave since out"),
        ("/api/export/stores?until=2025-01-10", "until", "stores has no times: leave until out"),
        ("/api/export/stores?brand=a", "brand", "its filters are store, group, state, city"),
        ("/api/export/options?kind=new", "kind", "options has no such filter"),
        ("/api/export/changes?q=a", "q", "changes has no such filter"),
        ("/api/export/changes?kind=cheaper", "kind", "the kinds are price_drop"),
        ("/api/export/changes?min_percent=-1", "min_percent", "must be at least 0"),
        ("/api/export/products?max_unit_price=-1", "max_unit_price", "must be at least 0"),
        ("/api/export/products?in_stock=maybe", "in_stock", "maybe"),
        ("/api/export/products?q=", "q", "out of range"),
        (
            "/api/export/price_changes?until=2025-01-10",
            "until",
            "price_changes has no such filter: its filters are since, ",
        ),
        ("/api/export/price_changes?sort=price", "sort", "`percent`, `cents`, `newest`"),
        ("/api/export/unit_prices?q=a", "q", "its filters are by, unit, state, category, brand, week"),
        ("/api/export/unit_prices?week=soon", "week", "not a day"),
    ] {
        let problem = server.get(path).await.problem(400);
        let detail = problem["detail"].as_str().unwrap();
        assert!(problem["field"] == field && detail.contains(named), "{path}: {detail}");
    }
    for dataset in ["changes", "option_history", "options", "price_changes", "products", "stores"] {
        server.get(&format!("/api/export/{dataset}?store=4711")).await.problem(404);
    }
}

/// As many products as a search ranks, which have the same word.
const COMMON: &str = "
    INSERT INTO dispensaries (id, name) OVERRIDING SYSTEM VALUE VALUES (1, 'Leaf');
    INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, is_on_special, quantity_censored, is_in_stock,
                                stock_status, first_seen_at, last_seen_at)
    VALUES (1, 1, 'dutchie', 'a', 'Common', false, false, true, 'in_stock', now(), now());
    INSERT INTO product_search (product_id, dispensary_id, text) SELECT n, 1, 'common' FROM generate_series(1, 20000) n;
    INSERT INTO product_listing (product_id, dispensary_id, name, first_seen_ms, is_in_stock, is_on_special)
    SELECT n, 1, 'common', 0, true, false FROM generate_series(1, 20000) n";

#[tokio::test]
async fn words_of_more_products_than_a_search_ranks_are_refused() {
    let server = Server::start().await;
    server.database.raw.batch_execute(COMMON).await.unwrap();
    let problem = server.get("/api/export/products?q=common").await.problem(400);
    assert_eq!(
        (problem["field"].as_str(), &problem["detail"]),
        (Some("q"), &json!("q: too many products have these words: add a word, a store, a state or a category"))
    );
    server.database.raw.batch_execute("DELETE FROM product_search WHERE product_id = 2").await.unwrap();
    let file = server.get("/api/export/products?q=common&columns=product_id").await;
    assert_eq!(file.text(), "product_id\r\n1\r\n");
}

/// Begins an export whose answer does not end.
async fn begin(server: &Server) -> http::Response<Incoming> {
    let request = server.request(http::Method::GET, "/api/export/option_history").body(Full::default());
    open(server.address, request.unwrap()).await
}

/// Rows whose texts fill more than the buffers between server and client.
const MUCH: &str = "
    UPDATE store_products SET name_raw = repeat('much ', 20000) WHERE id = 11;
    INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, quantity_censored, is_in_stock, gone)
    SELECT 11, '7g', 0, n, '2025-01-10', false, true, false FROM generate_series(1, 300) n";

#[tokio::test]
async fn an_export_without_a_place_is_refused_until_a_client_has_gone() {
    let server = with_shop().await;
    server.database.raw.batch_execute(MUCH).await.unwrap();
    let (first, _second) = (begin(&server).await, begin(&server).await);
    assert_eq!(first.status(), 200);
    let refused = server.get("/api/export/option_history?store=2").await;
    let detail = refused.problem(503)["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("2 exports run already: try again when one has ended"), "{detail}");
    assert!(refused.headers.contains_key("retry-after"));
    drop(first);
    until("the place of the client that has gone", PATIENCE, async || {
        server.get("/api/export/option_history?store=2").await.status == 200
    })
    .await;
}

#[tokio::test]
async fn a_fault_in_the_middle_breaks_the_answer_off() {
    let server = with_shop().await;
    server.database.raw.batch_execute(MUCH).await.unwrap();
    let answer = begin(&server).await;
    // the first rows are on their way, and more than the buffers hold are not
    server.stop.cancel();
    let broken = answer.into_body().collect().await;
    assert!(broken.is_err(), "a part of the file looks whole");
}

/// The values of a key in each row of a dataset, in chunks that are broken off after `size` rows.
async fn in_pieces(db: &db::Db, dataset: Dataset, query: &ExportQuery, key: &[&str], size: usize) -> Vec<Vec<i64>> {
    let columns = ExportQuery { columns: Some(key.iter().map(|name| (*name).to_owned()).collect()), ..query.clone() };
    let columns = columns.columns_of(dataset).unwrap();
    let mut export = ExportRows::new(dataset, query.clone(), columns.clone());
    let mut rows = Vec::new();
    loop {
        let read = |row: &ExportRow<'_>| {
            let cell = |nth: usize, column: &Column| match column.kind {
                Kind::Int64 => row.cell::<i64>(nth).unwrap().unwrap(),
                Kind::Int32 => row.cell::<i32>(nth).unwrap().unwrap().into(),
                _ => row.cell::<&str>(nth).unwrap().unwrap().len() as i64,
            };
            rows.push(columns.iter().enumerate().map(|(nth, column)| cell(nth, column)).collect());
            Ok(if rows.len() % size == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        if export.read_chunk(db, read).await.unwrap() == ChunkEnd::Whole {
            return rows;
        }
    }
}

#[tokio::test]
async fn a_chunk_says_whether_others_are_at_work() {
    let database = testkit::database().await;
    let chunk_end = async || {
        let query = ExportQuery::default();
        let mut export = ExportRows::new(Dataset::Stores, query.clone(), query.columns_of(Dataset::Stores).unwrap());
        export.read_chunk(&database.db, |_| Ok(ControlFlow::Continue(()))).await.unwrap()
    };
    database.raw.batch_execute("INSERT INTO dispensaries (name, slug) VALUES ('Shop', 'shop')").await.unwrap();
    until("a server without other work", PATIENCE, async || {
        chunk_end().await == ChunkEnd::More { is_server_busy: false }
    })
    .await;
    let other = testkit::connect(&database.url).await;
    let cancel = other.cancel_token();
    let statement = tokio::spawn(async move { other.batch_execute("SELECT pg_sleep(600)").await });
    until("work of another", PATIENCE, async || chunk_end().await == ChunkEnd::More { is_server_busy: true }).await;
    cancel.cancel_query(tokio_postgres::NoTls).await.unwrap();
    statement.await.unwrap().unwrap_err();
}

/// Datasets, a key of each, and the same in SQL; the first part of the key is the store, of changes a number that is the same.
const KEYS: [(Dataset, &[&str], &str); 5] = [
    (Dataset::Stores, &["store_id"], "SELECT ARRAY[id] FROM dispensaries"),
    (Dataset::Products, &["store_id", "product_id"], "SELECT ARRAY[dispensary_id, id] FROM store_products"),
    (
        Dataset::Options,
        &["store_id", "product_id", "option_label"],
        "SELECT ARRAY[dispensary_id, id, length(option_label)] FROM store_products JOIN store_product_variants ON store_product_id = id",
    ),
    (
        Dataset::OptionHistory,
        &["store_id", "product_id", "option_label", "crawl_id"],
        "SELECT ARRAY[dispensary_id, id, length(option_label), crawl_id] \
           FROM store_products JOIN store_product_variant_history ON store_product_id = id",
    ),
    (
        Dataset::Changes,
        &["seq", "n"],
        "SELECT ARRAY[seq, n] FROM change_batches b JOIN product_changes c ON c.crawl_id = b.crawl_id",
    ),
];

#[tokio::test]
async fn chunks_that_are_broken_off_anywhere_hold_each_row_once() {
    let database = testkit::database().await;
    database.raw.batch_execute(MANY).await.unwrap();
    let of_a_store = ExportQuery { store: Some(7), ..ExportQuery::default() };
    for (dataset, key, sql) in KEYS {
        let all = database.raw.query(&format!("{sql} ORDER BY 1"), &[]).await.unwrap();
        let all: Vec<Vec<i64>> = all.iter().map(|row| row.get(0)).collect();
        assert_eq!(in_pieces(&database.db, dataset, &ExportQuery::default(), key, 97).await, all, "{dataset}");
        let few: Vec<Vec<i64>> = all.into_iter().filter(|row| row[0] == 7).collect();
        assert_eq!(in_pieces(&database.db, dataset, &of_a_store, key, 1).await, few, "{dataset} of a store");
    }
    let of_a_group = ExportQuery { group: Some("rare".to_owned()), ..ExportQuery::default() };
    let rows = in_pieces(&database.db, Dataset::Changes, &of_a_group, &["store_id", "n"], 2).await;
    assert_eq!(rows, [[42, 0], [42, 1], [42, 2]]);
    let weeks = "INSERT INTO unit_price_weeks (week, state, category, brand_key, unit, stores, options)
                 SELECT '2025-02-03', '', '', 'brand ' || n, '', n, n FROM generate_series(1, 250) n";
    database.raw.batch_execute(weeks).await.unwrap();
    let by_brand = ExportQuery { by: Some(PricesBy::Brand), ..ExportQuery::default() };
    let brands: Vec<Vec<i64>> = (1..=250).rev().map(|stores| vec![stores]).collect();
    assert_eq!(in_pieces(&database.db, Dataset::UnitPrices, &by_brand, &["stores"], 97).await, brands);
}

/// Statements, and the index by which each finds its rows.
const PLANS: [(&str, &str); 10] = [
    ("stores/next.sql", "dispensaries_pkey"),
    ("stores/rows.sql", "store_products_provider_key"),
    ("products/of_stores.sql", "store_products_provider_key"),
    ("products/of_ids.sql", "store_products_pkey"),
    ("products/rows.sql", "store_products_pkey"),
    ("options/rows.sql", "store_product_variants_pkey"),
    ("option_history/rows.sql", "_pkey"),
    ("changes/of_stores.sql", "change_batches_store"),
    ("changes/by_time.sql", "change_batches_crawled"),
    ("changes/rows.sql", "_crawl_id_idx"),
];

/// Values of the statements; null for all others.
const VALUES: [(&str, &str); 15] = [
    ("products", "'{11,12}'"),
    ("stores", "'{1,2}'"),
    ("crawls", "'{8,9}'"),
    ("times", "'{2025-01-10T08:00:00Z,2025-01-11T08:00:00Z}'"),
    ("ids", "'{11,12}'"),
    ("since", "'2025-01-01'"),
    ("label", "'1g'"),
    ("nth", "0"),
    ("n", "0"),
    ("at", "'2025-01-10'"),
    ("crawl", "1"),
    ("limit", "1000"),
    ("after", "0"),
    ("is_begun", "true"),
    ("max_unit_price", "5"),
];

/// The statement with values in place of names.
fn with_values(text: &str) -> String {
    let code: Vec<&str> = text.lines().map(|line| line.split("--").next().unwrap()).collect();
    let code = code.join("\n");
    let mut parts = code.split('$');
    let mut statement = parts.next().unwrap().to_owned();
    for part in parts {
        let end = part.find(|letter: char| !letter.is_ascii_lowercase() && letter != '_').unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        let value = VALUES.iter().find(|(known, _)| *known == name).map_or("NULL", |(_, value)| value);
        statement.push_str(&format!("{value}{rest}"));
    }
    statement
}

#[rstest]
#[case::never_analysed("")]
#[case::analysed("ANALYZE")]
#[tokio::test]
async fn rows_are_found_by_their_keys_whatever_the_statistics_say(#[case] statistics: &str) {
    let database = testkit::database().await;
    database.raw.batch_execute(&format!("{MANY}; {statistics}")).await.unwrap();
    let folder = testkit::root().join("crates/db/src/sql/exports");
    let file = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    database.raw.batch_execute(&format!("BEGIN; {}", file("pin_plans.sql"))).await.unwrap();
    for (name, index) in PLANS {
        let text = file(name).replace("{exports/products/filters.sql}", &file("products/filters.sql"));
        let plan = database.raw.query(&format!("EXPLAIN {}", with_values(&text)), &[]).await.unwrap();
        let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
        let has = |word: &str| plan.iter().any(|line| line.contains(word));
        assert!(!has("Seq Scan") && has(index), "{name}: {plan:#?}");
        // a sort of all crawls that are left would read them for each chunk
        assert!(name != "changes/by_time.sql" || has("Incremental Sort"), "{name}: {plan:#?}");
    }
}

async fn run(server: &Server, is_remote: bool, args: &[&str]) -> Output {
    let mut command = drover();
    match is_remote {
        false => command.env("DATABASE_URL", &server.database.url),
        true => command.args(["--url", &format!("http://{}", server.address)]),
    };
    command.args(args).output().await.unwrap()
}

/// Commands, and the files that they write.
const COMMANDS: [(&str, &str); 8] = [
    (
        "products export --history --store fern --since 2025-01-01 --columns store,price_rec",
        "store,price_rec\r\nFern,1\r\n",
    ),
    ("products export --history --since 7d --json --columns nth", ""),
    (
        "export option_history --store fern --since 2025-01-01 --columns store,price_rec",
        "store,price_rec\r\nFern,1\r\n",
    ),
    ("export changes --since 7d --format jsonl", ""),
    ("export changes --kind price_drop,price_rise --min-change 2 --columns n,cents", "n,cents\r\n0,-500\r\n"),
    (
        "export changes --product 11 --max-per-gram 7.15 --max-price 25 --min-percent 0 --category flower --columns n",
        "n\r\n0\r\n",
    ),
    (
        "export products --in-stock --on-special --min-price 20 --max-price 25 --max-per-gram 7.15 --json --columns product_id",
        "{\"product_id\":11}\n",
    ),
    ("export stores --city mesa --columns store", "store\r\nFern\r\n"),
];

/// Commands that are refused, and a part of the reason.
const REFUSED: [(&str, &str); 14] = [
    ("products export --history --columns high", "--columns: unknown column 'high': the columns are store_id"),
    ("products export --history --format json", "--format: a history is csv, jsonl or parquet"),
    ("products export --format parquet", "--format: parquet needs --history"),
    ("products export --brand Bud", "--history"),
    ("products export --history --since yesterday", "a span such as 7d"),
    ("products export --history --since 2025-01-02 --until 2025-01-01", "--since: must be before"),
    (
        "export snapshots",
        "expected one of changes, option_history, options, price_changes, products, stores, unit_prices",
    ),
    ("export products --since 7d", "--since: products has no times: leave since out"),
    ("export stores --words a", "--words: stores has no such filter"),
    ("export options --max-per-gram 5", "--max-per-gram: options has no such filter"),
    ("export options --min-change 5", "--min-change: options has no such filter"),
    ("export stores --in-stock", "--in-stock: stores has no such filter"),
    ("export stores --columns price", "--columns: unknown column 'price'"),
    ("export stores --format xml", "expected one of csv, jsonl, parquet"),
];

#[rstest]
#[case::in_process(false)]
#[case::of_a_server(true)]
#[tokio::test]
async fn the_commands_write_what_the_api_streams(#[case] is_remote: bool) {
    let server = with_shop().await;
    let run = async |args: &str| run(&server, is_remote, &args.split(' ').collect::<Vec<_>>()).await;
    for dataset in ["changes", "options", "products", "stores"] {
        let csv = run(&format!("export {dataset}")).await;
        assert_eq!(csv.status.code(), Some(0), "{}", String::from_utf8_lossy(&csv.stderr));
        assert_eq!(csv.stdout, server.get(&format!("/api/export/{dataset}")).await.body, "{dataset}");
    }
    let history = expected(&server.database, Dataset::OptionHistory, "true").await;
    assert_eq!(rows(Dataset::OptionHistory, "csv", &run("products export --history").await.stdout), history);
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("history.parquet");
    let path = file.to_str().unwrap();
    for command in ["products export --history", "export option_history"] {
        let written = run(&format!("{command} --format parquet --out {path} --json")).await;
        let report: Value = serde_json::from_slice(&written.stdout).unwrap();
        let bytes = std::fs::read(&file).unwrap();
        assert_eq!(report, json!({"rows": 5, "bytes": bytes.len(), "file": path}));
        assert_eq!(rows(Dataset::OptionHistory, "parquet", &bytes), history);
    }
    for (args, text) in COMMANDS {
        let written = run(args).await;
        let stdout = String::from_utf8(written.stdout).unwrap();
        assert_eq!(stdout, text, "{args}: {}", String::from_utf8_lossy(&written.stderr));
    }
    for (args, fault) in REFUSED {
        let refused = run(args).await;
        let stderr = String::from_utf8_lossy(&refused.stderr);
        assert!(refused.status.code() == Some(2) && stderr.contains(fault), "{args}: {stderr}");
    }
    let refused = run(&format!("export stores --brand a --out {path}")).await;
    assert_eq!((refused.status.code(), std::fs::read_dir(dir.path()).unwrap().count()), (Some(2), 1));
    assert_eq!(
        rows(Dataset::OptionHistory, "parquet", &std::fs::read(&file).unwrap()),
        history,
        "the old file is gone"
    );
}

#[rstest]
#[case::of_products("products export --history --out", "store_product_variant_history")]
#[case::of_changes("export changes --out", "product_changes")]
#[tokio::test]
async fn an_interrupted_export_leaves_no_file_and_no_statement(#[case] command: &str, #[case] table: &str) {
    let server = with_shop().await;
    let dir = tempfile::tempdir().unwrap();
    let mut export = drover();
    export.env("DATABASE_URL", &server.database.url).args(command.split(' ')).arg(dir.path().join("history.csv"));
    // the statement waits, so that the signal meets it
    let lock = format!("BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE");
    server.database.raw.batch_execute(&lock).await.unwrap();
    let mut child = testkit::Child::spawn(&mut export);
    // a transaction sees all others as they were at its first look
    let observer = testkit::connect(&server.database.url).await;
    let running = async || observer.query_one(RUNNING, &[]).await.unwrap().get::<_, i64>(0);
    until("the statement of the export", PATIENCE, async || running().await == 1).await;
    child.signal(Signal::SIGINT);
    assert_eq!(child.ended(PATIENCE).await.code(), Some(130));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    server.database.raw.batch_execute("ROLLBACK").await.unwrap();
    until("the end of the statement", PATIENCE, async || running().await == 0).await;
}

//! `/api/export/{dataset}` and `drover products export --history`: three formats with the same rows, filters, refusals, and
//! exports that end before their last row.

use std::ops::ControlFlow;
use std::process::Output;

use contract::exports::ExportQuery;
use db::products::option_history::{ChunkEnd, HistoryRow, OptionHistory};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use nix::sys::signal::Signal;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use rstest::rstest;
use serde_json::{Map, Value, json};

use super::server::{Server, open};
use testkit::{PATIENCE, TestDatabase, drover, until};

/// Two stores with three products. The first one's texts are hostile, and its history is out of order.
const HISTORY: &str = "
    SET xmlbinary = 'hex';
    INSERT INTO dispensaries (id, name, state, groups) OVERRIDING SYSTEM VALUE
    VALUES (1, 'Leaf; DROP TABLE dispensaries; --', 'AZ', '{north}'), (2, 'Fern', NULL, '{}');
    INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, brand_name_raw, category, subcategory,
                                is_on_special, quantity_censored, is_in_stock, stock_status, first_seen_at, last_seen_at)
    OVERRIDING SYSTEM VALUE
    VALUES (11, 1, 'dutchie', 'a', '=HYPERLINK(\"x\")' || chr(13) || chr(10) || repeat('🌿', 2500) || chr(8238) || '''', 'Bud Bros', 'Flower',
            NULL, false, false, true, 'in_stock', now(), now()),
           (12, 1, 'dutchie', 'b', 'Blue', NULL, 'Edible', 'Gummies', false, false, true, 'in_stock', now(), now()),
           (13, 2, 'dutchie', 'a', 'Red', 'bud bros', NULL, NULL, false, false, true, 'in_stock', now(), now());
    INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, size_mg, size_ml, price_rec,
                                               price_med, special_price_rec, special_price_med, quantity, quantity_censored, is_in_stock, gone,
                                               rec_per_g, rec_per_mg_thc, unit_basis)
    VALUES (11, '3.5g', 0, 9, '2025-01-11T08:00:00.000001Z', 3500, NULL, 3000, NULL, 2500, 0, NULL, false, true, false, 714286, 2857, 'weight'),
           (11, '3.5g', 0, 8, '2025-01-10T08:00:00Z', 3500, NULL, 3200, NULL, NULL, NULL, 7, true, true, false, NULL, NULL, NULL),
           (11, '1g', 1, 8, '2025-01-10T08:00:00Z', 1000, NULL, 1000, 900, NULL, NULL, 0, false, false, true, NULL, NULL, NULL),
           (12, 'a,\"b\"', 0, 8, '2024-11-10T08:00:00Z', NULL, 30.5, NULL, NULL, NULL, NULL, NULL, false, true, false, NULL, NULL, NULL),
           (13, '1g', 0, 7, '2025-01-09T08:00:00Z', NULL, NULL, 1, NULL, NULL, NULL, 1, false, true, false, NULL, NULL, NULL);
    RESET xmlbinary;";

/// The export as SQL says it.
const EXPECTED: &str = "
    SELECT json_agg(json_build_object(
               'store_id', d.id, 'store', d.name, 'state', d.state, 'product_id', p.id, 'product', p.name_raw, 'brand', p.brand_name_raw,
               'category', p.category, 'subcategory', p.subcategory, 'option_label', h.option_label, 'nth', h.nth, 'crawl_id', h.crawl_id,
               'crawled_at', to_char(h.crawled_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), 'size_mg', h.size_mg,
               'size_ml', h.size_ml, 'price_rec', h.price_rec, 'price_med', h.price_med, 'special_price_rec', h.special_price_rec,
               'special_price_med', h.special_price_med, 'quantity', h.quantity, 'quantity_censored', h.quantity_censored,
               'is_in_stock', h.is_in_stock, 'gone', h.gone, 'rec_per_g', h.rec_per_g, 'med_per_g', h.med_per_g,
               'rec_per_ml', h.rec_per_ml, 'med_per_ml', h.med_per_ml, 'rec_per_mg_thc', h.rec_per_mg_thc,
               'med_per_mg_thc', h.med_per_mg_thc, 'unit_basis', h.unit_basis)
             ORDER BY p.id, h.option_label COLLATE \"C\", h.nth, h.crawled_at, h.crawl_id)
      FROM store_product_variant_history h JOIN store_products p ON p.id = h.store_product_id
      JOIN dispensaries d ON d.id = p.dispensary_id";

/// Statements of exports that run now.
const RUNNING: &str = "SELECT count(*) FROM pg_stat_activity \
                       WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' AND query LIKE '%products/option_history%'";

async fn with_history() -> Server {
    let server = Server::start().await;
    server.database.raw.batch_execute(HISTORY).await.unwrap();
    server
}

/// The rows of a file, as objects of JSON.
fn rows(format: &str, bytes: &[u8]) -> Vec<Value> {
    match format {
        "csv" => csv_rows(bytes),
        "jsonl" => bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(json_line).collect(),
        _ => parquet_rows(bytes),
    }
}

fn json_line(line: &[u8]) -> Value {
    serde_json::from_slice(line).unwrap()
}

/// A cell of numbers or truth is read as JSON; an empty one is null.
fn csv_rows(bytes: &[u8]) -> Vec<Value> {
    const TEXTS: [&str; 9] =
        ["store", "state", "product", "brand", "category", "subcategory", "option_label", "crawled_at", "unit_basis"];
    let mut csv = csv::Reader::from_reader(bytes);
    let names = csv.headers().unwrap().clone();
    let cell = |name: &str, text: &str| match text {
        "" => Value::Null,
        text if TEXTS.contains(&name) => json!(export::csv_cell::unescaped(text)),
        number => serde_json::from_str(number).unwrap(),
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

async fn expected(database: &TestDatabase, filter: &str) -> Vec<Value> {
    let row = database.raw.query_one(&format!("{EXPECTED} WHERE {filter}"), &[]).await.unwrap();
    row.get::<_, Option<Value>>(0).map_or_else(Vec::new, |rows| rows.as_array().unwrap().clone())
}

#[tokio::test]
async fn three_formats_hold_the_rows_that_sql_says_with_texts_unharmed() {
    let server = with_history().await;
    let expected = expected(&server.database, "true").await;
    assert_eq!(expected.len(), 5);
    for (format, kind) in [
        ("csv", "text/csv; charset=utf-8"),
        ("jsonl", "application/x-ndjson"),
        ("parquet", "application/vnd.apache.parquet"),
    ] {
        let answer = server.get(&format!("/api/export/option_history?format={format}")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.headers["content-type"], kind);
        let name = format!("attachment; filename=\"option_history.{format}\"");
        assert_eq!(answer.headers["content-disposition"], name.as_str());
        assert_eq!(rows(format, &answer.body), expected, "{format}");
    }
}

#[tokio::test]
async fn a_filter_leaves_the_rows_that_sql_says() {
    let server = with_history().await;
    for (query, filter, count) in [
        ("since=2025-01-10", "h.crawled_at >= '2025-01-10'", 3),
        ("until=2025-01-10", "h.crawled_at < '2025-01-11'", 4),
        ("since=2025-01-09&until=2025-01-09", "h.crawled_at BETWEEN '2025-01-09' AND '2025-01-10'", 1),
        ("store=1", "d.id = 1", 4),
        ("store=1&category=edible", "p.id = 12", 1),
        ("group=north", "'north' = ANY (d.groups)", 4),
        ("group=south", "false", 0),
        ("state=az", "d.state = 'AZ'", 4),
        ("brand=BUD%20BROS", "p.id IN (11, 13)", 4),
        ("category=flower", "p.id = 11", 3),
    ] {
        let answer = server.get(&format!("/api/export/option_history?format=jsonl&{query}")).await;
        let rows = rows("jsonl", &answer.body);
        assert_eq!((rows.len(), &rows), (count, &expected(&server.database, filter).await), "{query}");
    }
    let two = server.get("/api/export/option_history?columns=price_rec,store&store=2").await;
    assert_eq!(two.text(), "price_rec,store\r\n1,Fern\r\n");
}

#[tokio::test]
async fn what_cannot_be_exported_is_refused_with_what_can() {
    let server = with_history().await;
    for (path, field, named) in [
        ("/api/export/snapshots", "dataset", "option_history"),
        ("/api/export/option_history?format=xml", "format", "`csv`, `jsonl`, `parquet`"),
        ("/api/export/option_history?columns=price", "columns", "the columns are store_id, store, state, product_id"),
        ("/api/export/option_history?columns=nth,nth", "columns", "the column 'nth' is given twice"),
        ("/api/export/option_history?since=2025-01-10&until=2025-01-09", "since", "before the end"),
        ("/api/export/option_history?state=Arizona", "state", "not two letters"),
    ] {
        let problem = server.get(path).await.problem(400);
        let detail = problem["detail"].as_str().unwrap();
        assert!(problem["field"] == field && detail.contains(named), "{path}: {detail}");
    }
    server.get("/api/export/option_history?store=4711").await.problem(404);
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
    let server = with_history().await;
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
    let server = with_history().await;
    server.database.raw.batch_execute(MUCH).await.unwrap();
    let answer = begin(&server).await;
    // the first rows are on their way, and more than the buffers hold are not
    server.stop.cancel();
    let broken = answer.into_body().collect().await;
    assert!(broken.is_err(), "a part of the file looks whole");
}

#[tokio::test]
async fn a_chunk_that_is_broken_off_after_each_row_goes_on_with_the_next() {
    let database = testkit::database().await;
    database.raw.batch_execute(HISTORY).await.unwrap();
    let mut history = OptionHistory::new(ExportQuery::default());
    let mut rows = Vec::new();
    loop {
        let read = |row: &HistoryRow<'_>| {
            rows.push(json!([row.product.id, row.option_label, row.nth, row.crawl_id]));
            Ok(ControlFlow::Break(()))
        };
        if history.read_chunk(&database.db, read).await.unwrap() == ChunkEnd::Whole {
            break;
        }
    }
    let expected = expected(&database, "true").await;
    let key = |row: &Value| json!([row["product_id"], row["option_label"], row["nth"], row["crawl_id"]]);
    assert_eq!(rows, expected.iter().map(key).collect::<Vec<_>>());
}

#[tokio::test]
async fn rows_are_found_by_their_keys_whatever_the_statistics_say() {
    let database = testkit::database().await;
    let statistics = "ANALYZE store_products, dispensaries, store_product_variant_history";
    database.raw.batch_execute(&format!("{HISTORY} {statistics};")).await.unwrap();
    let folder = testkit::root().join("crates/db/src/sql/products/option_history");
    let file = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let values = [
        ("$products", "'{11,12}'"),
        ("$since", "NULL"),
        ("$until", "NULL"),
        ("$label", "'1g'"),
        ("$nth", "0"),
        ("$at", "now()"),
        ("$crawl", "1"),
        ("$limit", "50000"),
        ("$max_walked", "20000"),
        ("$after", "0"),
        ("$group", "'north'"),
        ("$state", "'AZ'"),
        ("$brand", "'a'"),
        ("$category", "'b'"),
        ("$store", "1"),
        ("$1", "0"),
        ("$2", "20000"),
        ("{products/option_history/listed.sql}", ""),
    ];
    database.raw.batch_execute(&format!("BEGIN; {}", file("pin_plans.sql"))).await.unwrap();
    for name in ["rows.sql", "walk.sql", "of_store.sql", "walked_to.sql"] {
        let text = file(name).replace("{products/option_history/listed.sql}", &file("listed.sql"));
        let text = values.iter().fold(text, |text, (name, value)| text.replace(name, value));
        let plan = database.raw.query(&format!("EXPLAIN {text}"), &[]).await.unwrap();
        let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
        assert!(!plan.iter().any(|line| line.contains("Seq Scan")), "{name}: {plan:#?}");
    }
}

async fn run(server: &Server, is_remote: bool, args: &[&str]) -> Output {
    let mut command = drover();
    match is_remote {
        false => command.env("DATABASE_URL", &server.database.url),
        true => command.args(["--url", &format!("http://{}", server.address)]),
    };
    command.args(["products", "export"]).args(args).output().await.unwrap()
}

#[rstest]
#[case::in_process(false)]
#[case::of_a_server(true)]
#[tokio::test]
async fn the_command_writes_what_the_api_streams(#[case] is_remote: bool) {
    let server = with_history().await;
    let run = async |args: &[&str]| run(&server, is_remote, args).await;
    let csv = run(&["--history"]).await;
    assert_eq!(csv.status.code(), Some(0), "{}", String::from_utf8_lossy(&csv.stderr));
    let expected = expected(&server.database, "true").await;
    assert_eq!(rows("csv", &csv.stdout), expected);

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("history.parquet");
    let path = file.to_str().unwrap();
    let written = run(&["--history", "--format", "parquet", "--out", path, "--json"]).await;
    let report: Value = serde_json::from_slice(&written.stdout).unwrap();
    let bytes = std::fs::read(&file).unwrap();
    assert_eq!(report, json!({"rows": 5, "bytes": bytes.len(), "file": path}));
    assert_eq!(rows("parquet", &bytes), expected);

    let filters = ["--history", "--store", "fern", "--since", "2025-01-01", "--columns", "store,price_rec"];
    assert_eq!(String::from_utf8(run(&filters).await.stdout).unwrap(), "store,price_rec\r\nFern,1\r\n");
    let recent = run(&["--history", "--since", "7d", "--json", "--columns", "nth"]).await;
    assert_eq!((recent.status.code(), recent.stdout.len()), (Some(0), 0), "nothing is so young");

    for (args, fault) in [
        (&["--history", "--columns", "price"][..], "--columns: unknown column 'price': the columns are store_id"),
        (&["--history", "--format", "json"], "--format: a history is csv, jsonl or parquet"),
        (&["--format", "parquet"], "--format: parquet needs --history"),
        (&["--brand", "Bud"], "--history"),
        (&["--history", "--since", "yesterday"], "a span such as 7d"),
        (&["--history", "--since", "2025-01-02", "--until", "2025-01-01"], "--since: must be before"),
    ] {
        let refused = run(args).await;
        let stderr = String::from_utf8_lossy(&refused.stderr);
        assert!(refused.status.code() == Some(2) && stderr.contains(fault), "{args:?}: {stderr}");
    }
}

#[tokio::test]
async fn an_interrupted_export_leaves_no_file_and_no_statement() {
    let server = with_history().await;
    let dir = tempfile::tempdir().unwrap();
    let mut export = drover();
    export.env("DATABASE_URL", &server.database.url).args(["products", "export", "--history", "--out"]);
    export.arg(dir.path().join("history.csv"));
    // the statement waits, so that the signal meets it
    let lock = "BEGIN; LOCK TABLE store_product_variant_history IN ACCESS EXCLUSIVE MODE";
    server.database.raw.batch_execute(lock).await.unwrap();
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

//! How much memory it takes to serve and to compare payloads of 50,000 products. Each is read in a process of
//! its own, so that nothing else moves its peak.

use std::process::Stdio;
use std::sync::LazyLock;

use bytes::Bytes;
use domain::payload::{PageQuestion, Payload};
use domain::store::Platform;
use drover::platforms;
use futures_util::TryStreamExt;
use serde_json::{Value, json};
use storage::{PageBytes, PayloadContent, PayloadForm, PayloadHead, Payloads, SurroundingText};

const PAGES: usize = 500;
const PRODUCTS_PER_PAGE: usize = 100;
/// Filler of each product: together about the size of the largest menu that is kept.
const FILLER_BYTES: usize = 1000;
const OWNER: &str = "a test";

/// A payload of 50,000 products; `revision` decides a part of the prices.
fn content(revision: usize) -> PayloadContent {
    let head = PayloadHead {
        platform: Platform::Dutchie,
        dispensary_id: revision as i64,
        platform_dispensary_id: "some id".to_owned(),
        fetched_at: "2025-11-07T09:30:00.123Z".parse().unwrap(),
        total_count: PAGES * PRODUCTS_PER_PAGE,
    };
    let page = |number: usize| PageBytes {
        bytes: Bytes::from(page(number, revision)),
        is_gzip: false,
        question: PageQuestion { operation: "FilteredProducts".to_owned(), cursor: json!(number) },
    };
    PayloadContent { head, pages: (0..PAGES).map(page).collect() }
}

fn page(number: usize, revision: usize) -> String {
    let products: Vec<Value> = (0..PRODUCTS_PER_PAGE)
        .map(|place| {
            let n = number * PRODUCTS_PER_PAGE + place;
            let price = 10 + usize::from(n.is_multiple_of(10)) * revision;
            json!({ "_id": format!("60f1a2b3c4d5e6f7{n:08x}"), "Name": format!("Product of a menu {n}"), "Status": "Active",
                    "Options": ["1g", "1/8oz"], "Prices": [price, 30], "description": filler(n) })
        })
        .collect();
    let info = json!({ "totalCount": PAGES * PRODUCTS_PER_PAGE, "totalPages": PAGES });
    json!({ "data": { "filteredProducts": { "products": products, "queryInfo": info } } }).to_string()
}

/// Text that gzip makes about three times smaller.
fn filler(n: usize) -> &'static str {
    static NOISE: LazyLock<String> = LazyLock::new(|| {
        let mut seed = 1_u64;
        let mut letter = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(b'a' + (seed >> 60) as u8 % 6)
        };
        (0..1 << 20).map(|_| letter()).collect()
    });
    let start = n * FILLER_BYTES % (NOISE.len() - FILLER_BYTES);
    &NOISE[start..start + FILLER_BYTES]
}

#[tokio::test]
async fn a_payload_of_50000_products_takes_a_bounded_share_of_memory() {
    let root = tempfile::tempdir().unwrap();
    let files = Payloads::new(root.path(), OWNER);
    let mut rows = Vec::new();
    for revision in [1, 2] {
        rows.push(row(&files, revision).await);
    }
    for (reader, most) in [("file", 32), ("gzip", 32), ("json", 32), ("diff", 256)] {
        let output = tokio::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "reads::payload_memory::reading", "--ignored", "--nocapture"])
            .env("ROOT", root.path())
            .env("READER", reader)
            .env("PAYLOADS", serde_json::to_string(&rows).unwrap())
            .stderr(Stdio::inherit())
            .output()
            .await
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let line = said.lines().find(|line| line.contains("MiB more")).unwrap_or_else(|| panic!("{said}"));
        println!("{line}");
        let more: usize = line.split(' ').next().unwrap().parse().unwrap();
        assert!(more < most, "{line}");
    }
}

async fn row(files: &Payloads, revision: usize) -> Payload {
    let content = content(revision);
    let (dispensary_id, fetched_at) = (content.head.dispensary_id, content.head.fetched_at);
    let file = files.write(content).await.unwrap();
    let products = (PAGES * PRODUCTS_PER_PAGE) as i32;
    Payload {
        id: dispensary_id,
        task_id: None,
        dispensary_id,
        platform: Platform::Dutchie,
        storage_path: file.storage_path,
        sha256: file.sha256,
        bytes: file.bytes as i64,
        product_count: products,
        total_count: products,
        coverage: 1.0,
        fetched_at,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the test above, in a process of its own"]
async fn reading() {
    let variable = |name: &str| std::env::var(name).unwrap();
    let files = Payloads::new(variable("ROOT"), OWNER);
    let rows: Vec<Payload> = serde_json::from_str(&variable("PAYLOADS")).unwrap();
    let reader = variable("READER");
    let before = memory("VmRSS:");
    let read = match reader.as_str() {
        "file" => drain(&files, &rows[0], PayloadForm::File).await,
        "gzip" => drain(&files, &rows[0], PayloadForm::Gzip).await,
        "json" => drain(&files, &rows[0], PayloadForm::Json).await,
        _ => compare(&files, &rows).await,
    };
    let more = (memory("VmHWM:") - before) / 1024;
    println!("{more} MiB more for {reader}: {read}");
}

async fn drain(files: &Payloads, row: &Payload, form: PayloadForm) -> String {
    let data = files.open(&row.storage_path, &row.sha256, form, SurroundingText::default()).await.unwrap();
    let bytes = data.parts.try_fold(0, async |sum, part| Ok(sum + part.len())).await.unwrap();
    assert!(bytes > 10 << 20);
    format!("{bytes} bytes")
}

async fn compare(files: &Payloads, rows: &[Payload]) -> String {
    let counts = files.diff(&rows[0], &rows[1], platforms::normalise).await.unwrap().diff;
    assert_eq!(counts.price_changes, PAGES * PRODUCTS_PER_PAGE / 10);
    format!("{counts:?}")
}

fn memory(line: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let value = status.lines().find_map(|text| text.strip_prefix(line)).unwrap();
    value.trim().trim_end_matches(" kB").parse().unwrap()
}

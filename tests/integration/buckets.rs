//! Payloads and images in a bucket: a real speaker of S3 answers, goes away, and refuses.

use std::collections::HashSet;
use std::net::SocketAddr;

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use domain::menu::image::Subject;
use domain::payload::{PageQuestion, SweepTimes};
use domain::store::Platform;
use domain::task::role::Role;
use foundation::clock::Clock;
use foundation::digest::sha256_hex;
use futures_util::TryStreamExt;
use http::Method;
use nix::sys::signal::Signal;
use rstest::rstest;
use serde_json::Value;
use storage::{
    Images, Ownership, PageBytes, PayloadContent, PayloadForm, PayloadHead, Payloads, Place, StorageError,
    SurroundingText, SweepReport,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

use testkit::{Child, Farm, PATIENCE, S3, S3_SECRET, drover, until};

const OURS: &str = "id 5 9";
const THEIRS: &str = "id 6 9";
/// Size that is larger than a page of a reader, gzipped.
const LONG: usize = 3 << 20;

/// Payloads as a process of its own has them.
fn payloads(s3: &S3, owner: &str) -> Payloads {
    Payloads::new(Place::of(&s3.config()).unwrap(), owner)
}

fn fetched_at() -> DateTime<Utc> {
    "2025-11-07T09:30:00.123Z".parse().unwrap()
}

fn content(body: String) -> PayloadContent {
    let head = PayloadHead {
        platform: Platform::Dutchie,
        dispensary_id: 5,
        platform_dispensary_id: "6405ef617056e8014d79101b".to_owned(),
        fetched_at: fetched_at(),
        total_count: 1,
    };
    let question = PageQuestion { operation: "FilteredProducts".to_owned(), cursor: Value::Null };
    PayloadContent { head, pages: vec![PageBytes { bytes: Bytes::from(body), is_gzip: false, question }] }
}

pub fn small() -> PayloadContent {
    content(r#"{"data": 1}"#.to_owned())
}

fn nothing_known(_: Vec<String>) -> std::future::Ready<Result<HashSet<String>, StorageError>> {
    std::future::ready(Ok(HashSet::new()))
}

/// A day after the fetch.
fn next_day() -> SweepTimes {
    let now = fetched_at() + TimeDelta::days(1);
    SweepTimes { now, before: now - TimeDelta::hours(1) }
}

#[tokio::test]
async fn a_payload_is_read_whole_or_in_parts_on_a_machine_that_did_not_write_it() {
    let s3 = S3::start().await;
    let random: Vec<String> = (0..LONG / 64).map(|n| sha256_hex(n.to_string().as_bytes())).collect();
    let body = format!("\"{}\"", random.concat());
    let file = payloads(&s3, OURS).write(content(body.clone())).await.unwrap();
    assert!(file.bytes > 1 << 20, "{file:?}");

    let elsewhere = payloads(&s3, OURS);
    let stored = elsewhere.read(&file.storage_path, &file.sha256).await.unwrap();
    assert_eq!(stored.pages()[0].body, body.as_bytes());
    let open = async |form| {
        let around = SurroundingText::default();
        let data = elsewhere.open(&file.storage_path, &file.sha256, form, around).await.unwrap();
        data.parts.try_collect::<Vec<Bytes>>().await.unwrap().concat()
    };
    assert!(open(PayloadForm::File).await == std::fs::read(s3.object(&file.storage_path)).unwrap());
    let json: Value = serde_json::from_slice(&open(PayloadForm::Json).await).unwrap();
    assert_eq!(json["pages"][0].as_str().unwrap().len(), body.len() - 2);
    let wrong = elsewhere.open(&file.storage_path, "another", PayloadForm::Json, SurroundingText::default()).await;
    assert!(matches!(wrong, Err(StorageError::Corrupt { .. })));
}

#[tokio::test]
async fn an_object_is_never_replaced() {
    let s3 = S3::start().await;
    let ours = payloads(&s3, OURS);
    let first = ours.write(small()).await.unwrap();
    let second = payloads(&s3, OURS).write(content("2".to_owned())).await.unwrap();
    assert_eq!(first.storage_path, "payloads/2025/11/07/store_5_20251107T093000123Z.json.gz");
    assert_eq!(second.storage_path, "payloads/2025/11/07/store_5_20251107T093000124Z.json.gz");
    ours.read(&first.storage_path, &first.sha256).await.unwrap();

    let images = Images::beside(&ours);
    let brand = Subject::Brand { slug: "bud-bros".to_owned() };
    assert_eq!(images.find(&brand).await.unwrap(), None);
    let path = images.write(&brand, &sha256_hex(b"an image"), b"first".to_vec()).await.unwrap();
    images.write(&brand, &sha256_hex(b"an image"), b"second".to_vec()).await.unwrap();
    assert_eq!(images.find(&brand).await.unwrap(), Some(path.clone()));
    assert_eq!(images.read(&path).await.unwrap().bytes, b"first");
}

/// Puts a line that is not a header into each answer of a service.
async fn with_odd_headers(service: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (mut asks, mut answers) = client.into_split();
            let (mut from_service, mut to_service) = TcpStream::connect(service).await.unwrap().into_split();
            tokio::spawn(async move { tokio::io::copy(&mut asks, &mut to_service).await });
            tokio::spawn(async move {
                let mut bytes = vec![0; 64 << 10];
                while let Ok(count @ 1..) = from_service.read(&mut bytes).await {
                    let line_end = bytes[..count].iter().position(|byte| *byte == b'\n').map(|end| end + 1);
                    let at = line_end.filter(|_| bytes.starts_with(b"HTTP/1.1 ")).unwrap_or_default();
                    let odd: &[u8] = if at > 0 { b"PHP Warning - startup\r\nX-Odd : \xfc\r\n" } else { b"" };
                    let _ = answers.write_all(&[&bytes[..at], odd, &bytes[at..count]].concat()).await;
                }
            });
        }
    });
    address
}

#[tokio::test]
async fn a_header_line_that_browsers_skip_costs_no_object() {
    let s3 = S3::start().await;
    let address = with_odd_headers(s3.address()).await;
    let ours = Payloads::new(Place::of(&s3.config_by_way_of(address)).unwrap(), OURS);
    let file = ours.write(small()).await.unwrap();
    ours.read(&file.storage_path, &file.sha256).await.unwrap();
    assert_eq!(ours.remove(vec![file.storage_path.clone()]).await.unwrap(), [file.storage_path]);
}

#[tokio::test]
async fn an_object_that_is_away_is_missing_and_a_path_outside_the_layout_invalid() {
    let s3 = S3::start().await;
    let ours = payloads(&s3, OURS);
    let file = ours.write(small()).await.unwrap();
    let gone = "payloads/2025/11/07/store_1_20251107T093000123Z.json.gz";
    let read = async |path: &str| ours.read(path, "").await.unwrap_err();
    assert!(matches!(read(gone).await, StorageError::Missing { .. }));
    assert!(matches!(read("payloads/../../secret").await, StorageError::InvalidPath { .. }));
    assert!(matches!(read("images/a.webp").await, StorageError::InvalidPath { .. }));
    let missing = ours.missing(vec![gone.to_owned(), file.storage_path.clone()]).await.unwrap();
    assert_eq!(missing, HashSet::from([gone.to_owned()]));

    std::fs::write(s3.object(&file.storage_path), "").unwrap();
    let open = ours.open(&file.storage_path, &file.sha256, PayloadForm::File, SurroundingText::default()).await;
    assert!(open.is_err_and(|error| error.is_permanent()), "an empty object");
    let removed = ours.remove(vec![gone.to_owned(), file.storage_path.clone()]).await.unwrap();
    assert_eq!(HashSet::from_iter(removed), HashSet::from([gone.to_owned(), file.storage_path]));
    assert!(s3.objects("").is_empty());
}

#[tokio::test]
async fn a_sweep_sets_old_objects_without_a_row_aside_and_deletes_them_days_later() {
    let s3 = S3::start().await;
    let ours = payloads(&s3, OURS);
    let orphan = content(r#"{"data": 2}"#.to_owned());
    let (with_row, orphan) = (ours.write(small()).await.unwrap(), ours.write(orphan).await.unwrap());
    let known = |_| std::future::ready(Ok::<_, StorageError>(HashSet::from([with_row.storage_path.clone()])));

    let young = SweepTimes { before: fetched_at(), ..next_day() };
    assert_eq!(ours.sweep(young, known).await.unwrap(), SweepReport::default());
    assert_eq!(ours.sweep(next_day(), known).await.unwrap(), SweepReport { set_aside: 1, removed: 0 });
    let name = orphan.storage_path.rsplit('/').next().unwrap();
    let aside = format!("payloads/.orphans/2025-11-08/{name}");
    assert_eq!(s3.objects(""), [aside, with_row.storage_path.clone()]);

    let later = |days| SweepTimes { now: next_day().now + TimeDelta::days(days), ..next_day() };
    assert_eq!(ours.sweep(later(7), known).await.unwrap(), SweepReport::default());
    assert_eq!(ours.sweep(later(8), known).await.unwrap(), SweepReport { set_aside: 0, removed: 1 });
    assert_eq!(s3.objects(""), [with_row.storage_path]);
}

#[tokio::test]
async fn an_object_that_cannot_be_deleted_stays_and_costs_no_other_one() {
    let s3 = S3::start().await;
    let ours = payloads(&s3, OURS);
    let mut paths = Vec::new();
    for _ in 0..3 {
        paths.push(ours.write(small()).await.unwrap().storage_path);
    }
    let [locked, removed, swept] = paths.try_into().unwrap();
    s3.refuse(Method::DELETE, &locked);
    assert_eq!(ours.remove(vec![locked.clone(), removed.clone()]).await.unwrap(), [removed]);
    // alone, too
    assert!(ours.remove(vec![locked.clone()]).await.unwrap().is_empty());

    let swept = format!("payloads/.orphans/2025-11-08/{}", swept.rsplit('/').next().unwrap());
    assert_eq!(ours.sweep(next_day(), nothing_known).await.unwrap(), SweepReport { set_aside: 1, removed: 0 });
    assert_eq!(s3.objects(""), [swept.clone(), locked.clone()]);
    let later = SweepTimes { now: next_day().now + TimeDelta::days(8), ..next_day() };
    assert_eq!(ours.sweep(later, nothing_known).await.unwrap(), SweepReport { set_aside: 0, removed: 1 });
    assert_eq!(s3.objects(""), [locked]);
}

#[tokio::test]
async fn only_old_images_that_no_row_names_are_swept() {
    let s3 = S3::start().await;
    let ours = payloads(&s3, OURS);
    let images = Images::beside(&ours);
    let write = async |content: &str| {
        let brand = Subject::Brand { slug: "bud-bros".to_owned() };
        images.write(&brand, &sha256_hex(content.as_bytes()), content.into()).await.unwrap()
    };
    let (known, old, young) = (write("known").await, write("old").await, write("young").await);
    let now = Clock::system().utc();
    for path in [&known, &old] {
        let file = std::fs::File::options().write(true).open(s3.object(path)).unwrap();
        file.set_modified((now - TimeDelta::days(30)).into()).unwrap();
    }
    let dir = "images/brands".to_owned();
    let removed = images.sweep(dir, HashSet::from([known.clone()]), SweepTimes { now, before: now }).await.unwrap();
    assert_eq!(removed, 1);
    let left: HashSet<String> = s3.objects("images").into_iter().collect();
    assert_eq!(left, HashSet::from([known, young]));
}

#[tokio::test]
async fn where_two_databases_keep_objects_neither_of_them_sweeps() {
    let s3 = S3::start().await;
    let (ours, theirs) = (payloads(&s3, OURS), payloads(&s3, THEIRS));
    assert_eq!(theirs.register_owner().await.unwrap(), Ownership::New);
    assert_eq!(theirs.register_owner().await.unwrap(), Ownership::Exclusive);
    let file = ours.write(small()).await.unwrap();
    assert_eq!(theirs.register_owner().await.unwrap(), Ownership::Shared, "ours would be leftovers to them, too");
    for payloads in [&ours, &theirs] {
        assert_eq!(payloads.sweep(next_day(), nothing_known).await.unwrap(), SweepReport::default());
        assert!(payloads.remove(vec![file.storage_path.clone()]).await.unwrap().is_empty());
    }
    assert_eq!(s3.objects(""), [file.storage_path]);
}

#[tokio::test]
async fn a_bucket_that_lost_its_owner_is_unavailable_until_an_operator_says_that_it_is_empty() {
    let s3 = S3::start().await;
    let ours = payloads(&s3, OURS);
    ours.expect_owner();
    for error in [ours.register_owner().await.unwrap_err(), ours.write(small()).await.unwrap_err()] {
        assert!(error.is_outage() && error.to_string().contains("it has no payloads/.database"), "{error}");
    }
    assert!(s3.objects("").is_empty());
    std::fs::create_dir_all(s3.object("payloads")).unwrap();
    std::fs::write(s3.object("payloads/.database"), "").unwrap();
    assert_eq!(ours.register_owner().await.unwrap(), Ownership::New);
    ours.write(small()).await.unwrap();
}

#[tokio::test]
async fn a_bucket_that_is_away_is_noticed_and_so_is_its_return() {
    let mut s3 = S3::start().await;
    let ours = payloads(&s3, OURS);
    ours.check_room().await.unwrap();
    s3.stop().await;
    let error = ours.write(small()).await.unwrap_err();
    assert!(error.is_outage() && !error.to_string().contains("task"), "a command has none: {error}");
    assert!(!*ours.can_write().borrow());
    assert!(ours.check_room().await.unwrap_err().is_outage());
    s3.start_again().await;
    until("the bucket is back", PATIENCE, async || ours.check_room().await.is_ok()).await;
    assert!(*ours.can_write().borrow());
}

/// A command that works on a farm with its files in the bucket, on a machine with another data directory.
fn in_bucket(farm: &Farm, s3: &S3, args: &[&str]) -> (Command, tempfile::TempDir) {
    let data = tempfile::tempdir().unwrap();
    let mut command = farm.drover(args);
    s3.on_a_machine_of_its_own(&mut command, data.path());
    (command, data)
}

const NO_RETRY: &str = "SELECT count(*) FROM worker_tasks WHERE retry_count > 0";

#[tokio::test]
async fn a_refresh_on_another_machine_than_the_fetch_finds_its_payload() {
    let (s3, farm) = (S3::start().await, Farm::with_stores(2).await);
    farm.enqueue(Role::PayloadFetch).await;
    let (mut command, _its_data) = in_bucket(&farm, &s3, &["worker", "--role", "payload_fetch"]);
    let mut fetcher = Child::spawn(&mut command);
    let waiting = "SELECT count(*) FROM worker_tasks WHERE role = 'product_refresh' AND status = 'pending'";
    farm.until_counted("both stores were fetched", waiting, 2).await;
    fetcher.signal(Signal::SIGTERM);
    assert!(fetcher.ended(PATIENCE).await.success());
    assert_eq!(s3.objects("payloads").len(), 2);

    let (mut command, _its_data) = in_bucket(&farm, &s3, &["worker", "--role", "product_refresh"]);
    let _refresher = Child::spawn(&mut command);
    farm.until_crawled().await;
    assert!(farm.files().is_empty(), "a file is in the local root");
}

#[tokio::test]
async fn a_payload_whose_process_was_killed_before_its_row_is_swept_once_it_is_old() {
    let (s3, farm) = (S3::start().await, Farm::with_stores(1).await);
    let person = testkit::connect(farm.url()).await;
    person.batch_execute("BEGIN; LOCK TABLE raw_crawl_payloads IN EXCLUSIVE MODE").await.unwrap();
    farm.enqueue(Role::PayloadFetch).await;
    let (mut command, _its_data) = in_bucket(&farm, &s3, &["worker"]);
    let mut worker = Child::spawn(&mut command);
    until("the payload is in the bucket", PATIENCE, async || s3.objects("payloads").len() == 1).await;
    worker.signal(Signal::SIGKILL);
    worker.ended(PATIENCE).await;
    person.batch_execute("ROLLBACK").await.unwrap();

    let ours = payloads(&s3, &db::schema::installation::storage_owner(&client_of(&farm).await).await.unwrap());
    let farm = &farm;
    let known = |paths: Vec<String>| async move {
        let client = client_of(farm).await;
        Ok::<_, StorageError>(db::payloads::known(&client, &paths).await.unwrap())
    };
    let now = Clock::system().utc();
    let young = SweepTimes { now, before: now - TimeDelta::hours(1) };
    assert_eq!(ours.sweep(young, known).await.unwrap(), SweepReport::default());
    let old = SweepTimes { now: now + TimeDelta::hours(3), before: now + TimeDelta::hours(2) };
    assert_eq!(ours.sweep(old, known).await.unwrap(), SweepReport { set_aside: 1, removed: 0 });

    let (mut command, _its_data) = in_bucket(farm, &s3, &["worker"]);
    let _worker = Child::spawn(&mut command);
    farm.until_crawled().await;
    assert_eq!(ours.sweep(old, known).await.unwrap(), SweepReport::default(), "the payload with a row stays");
}

async fn client_of(farm: &Farm) -> db::Client {
    farm.db.client().await.unwrap()
}

#[tokio::test]
async fn fetches_wait_without_a_retry_while_the_bucket_is_away() {
    let (mut s3, farm) = (S3::start().await, Farm::with_stores(3).await);
    s3.stop().await;
    farm.enqueue(Role::PayloadFetch).await;
    let (mut command, _its_data) = in_bucket(&farm, &s3, &["worker"]);
    let worker = Child::spawn(&mut command);
    let snoozed = "SELECT least(1, count(*)) FROM task_attempts WHERE outcome = 'snoozed' AND error LIKE 'the bucket s3://% cannot be used%'";
    farm.until_counted("a fetch was put off with a clear text", snoozed, 1).await;
    worker.logged("Payloads cannot be written yet: the bucket s3://menus/crawl/one cannot be used", PATIENCE).await;
    assert_eq!(farm.sim.counts().menus.len(), 0, "a menu was fetched that could not be written");

    s3.start_again().await;
    farm.until_crawled().await;
    assert_eq!(farm.count(NO_RETRY).await, 0, "it cost retries");
}

#[tokio::test]
async fn images_are_stored_in_the_bucket_and_served_from_it_by_another_machine() {
    let (s3, farm) = (S3::start().await, Farm::with_stores(1).await);
    farm.enqueue(Role::PayloadFetch).await;
    let (mut command, _its_data) = in_bucket(&farm, &s3, &["worker"]);
    let mut worker = Child::spawn(command.env("DROVER__IMAGES__DOWNLOAD", "true"));
    farm.until_crawled().await;
    let stored = "SELECT least(1, count(*)) FROM store_products WHERE local_image_path IS NOT NULL";
    farm.until_counted("an image is stored", stored, 1).await;
    // the API runs the schedules, and would give it more to do
    worker.signal(Signal::SIGTERM);
    worker.ended(PATIENCE).await;

    let (mut command, data) = in_bucket(&farm, &s3, &["api"]);
    let api = Child::spawn(&mut command);
    let line: Value = serde_json::from_str(&api.logged("Listening on http", PATIENCE).await).unwrap();
    let address = line["address"].as_str().unwrap();
    let path = "SELECT min(local_image_path) FROM store_products";
    let path: String = farm.db.client().await.unwrap().query_one(path, &[]).await.unwrap().try_get(0).unwrap();
    let original = std::fs::read(s3.object(&path)).unwrap();
    let (head, body) = get(address, &format!("/img/{}", path.trim_start_matches("images/"))).await;
    assert!(head.starts_with("HTTP/1.1 200 ") && body == original, "{head}");
    let (head, _) = get(address, &format!("/img/{}?w=20", path.trim_start_matches("images/"))).await;
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    assert!(data.path().join("image-cache").exists(), "variants are kept on the machine");
    assert!(s3.objects("").iter().all(|path| !path.contains("cache")));
}

/// Head and body of an answer.
async fn get(address: &str, path: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
    (String::from_utf8_lossy(&answer[..end]).into_owned(), answer[end + 4..].to_vec())
}

async fn doctor(s3: &S3, change: impl FnOnce(&mut Command)) -> (Option<i32>, String) {
    let data = tempfile::tempdir().unwrap();
    let mut command = drover();
    command.args(["doctor", "--json"]);
    s3.on_a_machine_of_its_own(&mut command, data.path());
    change(&mut command);
    let output = command.output().await.unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[tokio::test]
async fn the_doctor_writes_to_the_bucket_and_leaves_nothing_there() {
    let s3 = S3::start().await;
    let (_, said) = doctor(&s3, |_| ()).await;
    assert!(said.contains("s3://menus/crawl/one answers and is writable"), "{said}");
    assert!(s3.objects("").is_empty());
}

#[rstest]
#[case::a_wrong_secret(
    "DROVER__STORAGE__SECRET_ACCESS_KEY",
    "wr0ng/SeCrEt",
    "refuses these credentials (SignatureDoesNotMatch)"
)]
#[case::an_unknown_id("DROVER__STORAGE__ACCESS_KEY_ID", "AKIDOFAFOREIGNER", "refuses these credentials (")]
#[case::no_such_bucket("DROVER__STORAGE__BUCKET", "elsewhere", "there is no such bucket")]
#[case::a_file_that_is_away(
    "DROVER__STORAGE__SECRET_ACCESS_KEY_FILE",
    "/not/there",
    "storage.secret_access_key_file: /not/there cannot be read"
)]
#[tokio::test]
async fn the_doctor_says_what_is_wrong_with_a_bucket(
    #[case] variable: &str,
    #[case] value: &str,
    #[case] expected: &str,
) {
    let s3 = S3::start().await;
    let (code, said) = doctor(&s3, |command| {
        command.env(variable, value);
    })
    .await;
    assert!(code == Some(1) && said.contains(expected), "{said}");
    assert!(!said.contains(S3_SECRET) && !said.contains("wr0ng/SeCrEt"), "{said}");
}

#[tokio::test]
async fn credentials_are_read_from_files_and_shown_nowhere() {
    let (s3, farm) = (S3::start().await, Farm::with_stores(1).await);
    let keys = tempfile::tempdir().unwrap();
    let (good, bad) = (keys.path().join("good"), keys.path().join("bad"));
    std::fs::write(&good, format!("{S3_SECRET}\n")).unwrap();
    std::fs::write(&bad, "wr0ng/SeCrEt\n").unwrap();
    let with_key = |args: &[&str], key: &std::path::Path| {
        let (mut command, data) = in_bucket(&farm, &s3, args);
        command.env("DROVER__STORAGE__SECRET_ACCESS_KEY", "").env("DROVER__STORAGE__SECRET_ACCESS_KEY_FILE", key);
        command.env("RUST_LOG", "debug");
        (command, data)
    };
    farm.enqueue(Role::PayloadFetch).await;
    let (mut command, _its_data) = with_key(&["worker"], &bad);
    let refused = Child::spawn(&mut command);
    refused.logged("Payloads cannot be written yet", PATIENCE).await;
    let said = refused.stderr().join("\n");
    assert!(said.contains("it refuses these credentials (SignatureDoesNotMatch)"), "{said}");
    assert!(!said.contains("wr0ng/SeCrEt"), "{said}");
    drop(refused);

    farm.execute("UPDATE worker_tasks SET scheduled_for = NULL WHERE status = 'pending'").await;
    let (mut command, _its_data) = with_key(&["worker"], &good);
    let worker = Child::spawn(&mut command);
    farm.until_crawled().await;
    let (mut command, _its_data) = in_bucket(&farm, &s3, &["config", "show"]);
    let shown = command.output().await.unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("storage.secret_access_key"), "{shown}");
    for text in [worker.stderr().join("\n"), shown] {
        assert!(!text.contains(S3_SECRET), "{text}");
    }
}

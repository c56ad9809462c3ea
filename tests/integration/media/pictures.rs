//! Pictures that media jobs downloaded, out of `/img`, and the list of items that names them.

use contract::age_sort::AgeSort;
use contract::media::items::ItemFilter;
use domain::task::role::Role;
use geo::Geo;
use image_transform::{Format, probe};
use rstest::rstest;
use serde_json::{Value, json};
use sim::media::MediaFile;

use super::harness::MediaHarness;
use crate::api::images::{KEY, SOON, sign, webp};
use crate::api::server::Server;
use testkit::until;

const ACCOUNTS: i64 = 500;
const ITEMS_OF_EACH: i64 = 200;

/// A server of the items of alice, whose files are downloaded, with these files.
async fn downloaded() -> (Server, Vec<MediaFile>) {
    let harness = MediaHarness::start().await;
    let files = harness.files_of_account("alice");
    let ids = harness.know(&files.iter().collect::<Vec<_>>()).await;
    harness.settle(Role::DownloadMedia, json!({"media_ids": ids})).await;
    let MediaHarness { database, storage, .. } = harness;
    let server = Server::on(database, |_| (), Geo::default()).await;
    move_media(&storage, &server);
    (server, files)
}

fn move_media(storage: &tempfile::TempDir, server: &Server) {
    std::fs::rename(storage.path().join("media"), server.storage.path().join("media")).unwrap();
}

async fn items(server: &Server) -> Vec<Value> {
    server.get("/api/media/items?limit=500").await.expect(200)["items"].as_array().unwrap().clone()
}

fn of_type<'a>(items: &'a [Value], media_type: &str) -> &'a Value {
    items.iter().find(|item| item["media_type"] == media_type).unwrap()
}

fn address(item: &Value) -> String {
    format!("/img/{}", item["path"].as_str().unwrap())
}

#[tokio::test]
async fn a_downloaded_picture_is_answered_in_the_size_and_format_that_is_asked_for() {
    let (server, _) = downloaded().await;
    let items = items(&server).await;
    for media_type in ["image/jpeg", "image/png"] {
        let item = of_type(&items, media_type);
        assert_eq!(item["local_image_path"], item["path"]);
        let stored = std::fs::read(server.storage.path().join(item["path"].as_str().unwrap())).unwrap();
        let stored = probe(&stored).unwrap();
        for (query, format) in [("?w=10", Format::WebP), ("?w=10&format=png", Format::Png)] {
            let answer = server.get(&format!("{}{query}", address(item))).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
            assert_eq!(answer.headers["content-type"], format.content_type());
            assert_eq!(answer.headers["cache-control"], "public, max-age=31536000, immutable");
            assert_eq!(answer.headers["content-security-policy"], "sandbox");
            let header = probe(&answer.body).unwrap();
            assert_eq!((header.format, header.width), (format, 10));
        }
        // never as a stranger wrote it
        let whole = probe(&server.get(&address(item)).await.body).unwrap();
        assert_eq!((whole.format, whole.width, whole.height), (Format::WebP, stored.width, stored.height));
    }
}

#[tokio::test]
async fn a_video_is_no_picture() {
    let (server, _) = downloaded().await;
    let items = items(&server).await;
    let video = of_type(&items, "video/mp4");
    assert_eq!(video["local_image_path"], Value::Null);
    for query in ["", "?w=10"] {
        let refused = server.get(&format!("{}{query}", address(video))).await.problem(415);
        assert!(refused["detail"].as_str().unwrap().contains("not a picture"), "{refused}");
    }
}

#[tokio::test]
async fn a_file_that_only_has_the_name_of_a_picture_is_refused() {
    let (server, _) = downloaded().await;
    let items = items(&server).await;
    let (video, picture) = (of_type(&items, "video/mp4"), of_type(&items, "image/jpeg"));
    let path = |item: &Value| server.storage.path().join(item["path"].as_str().unwrap());
    std::fs::copy(path(video), path(picture)).unwrap();
    server.get(&format!("{}?w=10", address(picture))).await.problem(415);
}

#[rstest]
#[case::an_unknown_digest(&format!("media/ab/{}.jpg", "ab12".repeat(16)))]
#[case::another_directory(&format!("media/00/{}.jpg", "ab12".repeat(16)))]
#[case::a_name("media/ab/canary.jpg")]
#[case::climbing("media/../canary.jpg")]
#[case::encoded("media/%2e%2e/canary.jpg")]
#[case::below_images(&format!("images/media/ab/{}.jpg", "ab12".repeat(16)))]
#[case::the_work_directory("media-work/canary.jpg")]
#[tokio::test]
async fn what_is_no_media_file_is_not_found(#[case] path: &str) {
    let server = Server::start().await;
    let plant = |dir: &str, name: &str| {
        let dir = server.storage.path().join(dir);
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join(name), webp()).unwrap();
    };
    plant("media/ab", "canary.jpg");
    plant("media/00", &format!("{}.jpg", "ab12".repeat(16)));
    plant("media-work", "canary.jpg");
    plant("", "canary.jpg");
    for query in ["", "?w=10"] {
        server.get(&format!("/img/{path}{query}")).await.problem(404);
    }
}

#[tokio::test]
async fn no_symbolic_link_among_media_files_is_followed() {
    let server = Server::start().await;
    let (outside, name) = (tempfile::tempdir().unwrap(), format!("{}.jpg", "ab12".repeat(16)));
    std::fs::write(outside.path().join(&name), webp()).unwrap();
    std::fs::create_dir_all(server.storage.path().join("media")).unwrap();
    std::os::unix::fs::symlink(outside.path(), server.storage.path().join("media/ab")).unwrap();
    server.get(&format!("/img/media/ab/{name}?w=10")).await.problem(404);
}

#[tokio::test]
async fn with_a_key_the_address_of_a_picture_needs_a_signature() {
    let (downloaded, _) = downloaded().await;
    let address = address(of_type(&items(&downloaded).await, "image/jpeg"));
    let server = Server::with_images(|images| images.signing_key = KEY.into()).await;
    move_media(&downloaded.storage, &server);
    server.token("consumer").await;
    until("the server asks for a token", SOON, async || server.get("/api/tasks").await.status == 401).await;
    let asked = format!("{address}?w=10");
    server.get(&asked).await.problem(403);
    let answer = server.get(&format!("{asked}&s={}", sign(&asked))).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[tokio::test]
async fn items_are_listed_by_account_with_the_pictures_that_can_be_shown() {
    let server = Server::start().await;
    let sql = "
        INSERT INTO media_accounts (id, platform, username, kind) VALUES (1, 'site', 'ann', 'public'), (2, 'site', 'bea', 'public');
        INSERT INTO media_files (sha256, path, bytes, media_type)
        SELECT repeat(n::text, 64), 'media/' || n, bytes, media_type
          FROM (VALUES (1, 5, 'image/gif'), (2, 20971520, 'image/webp'), (3, 20971521, 'image/webp'), (4, 5, 'image/avif'),
                       (5, 5, 'video/mp4')) AS file (n, bytes, media_type);
        INSERT INTO media_items (source, source_id, account_id, kind, url, state, sha256)
        SELECT 'site', n, 1, 'file', 'https://site.example', 'downloaded', repeat(n::text, 64) FROM generate_series(1, 5) AS n;
        INSERT INTO media_items (source, source_id, account_id, kind, url)
        VALUES ('site', '6', 2, 'file', 'https://site.example'), ('site', '7', NULL, 'page', 'https://site.example')";
    server.database.raw.batch_execute(sql).await.unwrap();
    let list = async |query: &str| -> Vec<(String, Value)> {
        let page = server.get(&format!("/api/media/items?sort=oldest{query}")).await.expect(200);
        let items = page["items"].as_array().unwrap().iter();
        items.map(|item| (item["source_id"].as_str().unwrap().to_owned(), item["local_image_path"].clone())).collect()
    };
    let of_ann = [json!("media/1"), json!("media/2"), Value::Null, Value::Null, Value::Null];
    let of_ann: Vec<_> = of_ann.into_iter().enumerate().map(|(at, path)| ((at + 1).to_string(), path)).collect();
    assert_eq!(list("&account_id=1").await, of_ann);
    assert_eq!(list("&account_id=1&state=downloaded&source=site").await, of_ann);
    assert_eq!(list("&account_id=2").await, [("6".to_owned(), Value::Null)]);
    assert_eq!(list("&account_id=4711").await, []);
    assert_eq!(list("").await.len(), 7);
    assert_eq!(server.get("/api/media/items?account_id=ann").await.problem(400)["field"], "account_id");
}

/// State at once after an import: no statistics.
#[tokio::test]
async fn the_items_of_an_account_are_found_by_an_index_whatever_the_statistics_say() {
    let database = testkit::database().await;
    let sql = format!(
        "ALTER TABLE media_items SET (autovacuum_enabled = false);
         INSERT INTO media_accounts (id, platform, username, kind) SELECT n, 'site', n, 'public' FROM generate_series(1, {ACCOUNTS}) n;
         INSERT INTO media_items (source, source_id, account_id, kind, url)
         SELECT 'site', n, 1 + n / {ITEMS_OF_EACH}, 'file', 'https://site.example' FROM generate_series(0, {ACCOUNTS} * {ITEMS_OF_EACH} - 1) n"
    );
    database.raw.batch_execute(&sql).await.unwrap();
    let client = database.db.client().await.unwrap();
    let flush = async || client.query("SELECT pg_stat_force_next_flush()", &[]).await.unwrap();
    let read = async || -> i64 {
        flush().await;
        let sql = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_user_tables WHERE relname = 'media_items'";
        database.raw.query_one(sql, &[]).await.unwrap().get(0)
    };
    for is_analysed in [false, true] {
        if is_analysed {
            database.raw.batch_execute("ANALYZE media_items").await.unwrap();
        }
        for (account, sort) in [(1, AgeSort::Newest), (ACCOUNTS, AgeSort::Oldest), (ACCOUNTS + 1, AgeSort::Newest)] {
            let filter = ItemFilter { account_id: Some(account), sort, ..ItemFilter::default() };
            // as often as it takes until a plan is settled
            for _ in 0..8 {
                let before = read().await;
                db::media::items::list(&client, &filter, 50).await.unwrap();
                let read = read().await - before;
                assert!(read <= 60, "{read} rows were read for account {account}, analysed: {is_analysed}");
            }
        }
    }
}

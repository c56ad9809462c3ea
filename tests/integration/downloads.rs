//! Images of products and brands: downloaded once after a refresh, through the proxies, outside of any task;
//! and `drover images backfill`, which brings lost ones.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::Duration;

use contract::proxies::ProxyFilter;
use db::products;
use db::products::brands::MenuBrand;
use domain::proxy::{Budgets, ShownHealth};
use domain::task::role::Role;
use nix::sys::signal::Signal;
use rstest::rstest;
use serde_json::Value;
use sim::{PictureAnswer, Settings, Simulator};
use tokio::process::Command;

use testkit::{Child, Farm, PATIENCE, TestDatabase, database, until};

const KILLS: usize = 10;
/// Images of products and brands that were neither stored nor given up for now.
const OPEN: &str = "SELECT count(*) FROM (
    SELECT FROM store_products p LEFT JOIN product_image_failures f ON f.product_id = p.id
     WHERE p.image_url IS NOT NULL AND p.local_image_path IS NULL AND f.product_id IS NULL
    UNION ALL
    SELECT FROM brands b LEFT JOIN brand_image_failures f ON f.brand_id = b.id
     WHERE b.image_url IS NOT NULL AND b.local_image_path IS NULL AND f.brand_id IS NULL) i";

/// A command of a process that downloads images.
fn downloading(farm: &Farm, args: &[&str]) -> Command {
    let mut command = farm.drover(args);
    command.env("DROVER__IMAGES__DOWNLOAD", "true");
    command
}

async fn crawl(farm: &Farm) -> Child {
    farm.enqueue(Role::PayloadFetch).await;
    let worker = Child::spawn(&mut downloading(farm, &["worker"]));
    farm.until_crawled().await;
    worker
}

async fn end(mut worker: Child) {
    worker.signal(Signal::SIGTERM);
    assert!(worker.ended(PATIENCE).await.success());
}

/// Address → where it is stored; of products and brands.
async fn stored(farm: &Farm) -> Vec<(String, Option<String>)> {
    let sql = "SELECT image_url, local_image_path FROM store_products WHERE image_url IS NOT NULL
               UNION ALL SELECT image_url, local_image_path FROM brands WHERE image_url IS NOT NULL";
    let rows = farm.db.client().await.unwrap().query(sql, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

async fn assert_files_are_the_oracles(farm: &Farm) {
    let mut expected: HashMap<String, Vec<u8>> = HashMap::new();
    let mut paths = BTreeSet::new();
    for (url, path) in stored(farm).await {
        match (farm.sim.picture(&url).unwrap(), path) {
            (PictureAnswer::Good(photo), Some(path)) => {
                let webp = expected
                    .entry(photo.sha256.clone())
                    .or_insert_with(|| image_transform::to_stored(&photo.bytes).unwrap().webp);
                assert_eq!(&std::fs::read(farm.storage().join(&path)).unwrap(), webp, "{path}");
                paths.insert(farm.storage().join(path));
            }
            (PictureAnswer::Bad { .. }, None) => {}
            (picture, path) => panic!("{url} is stored as {path:?}: {picture:?}"),
        }
    }
    let files: BTreeSet<PathBuf> = farm.image_files().into_iter().collect();
    assert_eq!(files, paths, "no file without a row, and none half written");
}

/// Small menus of many stores have a picture of every kind.
fn many_kinds(settings: Settings) -> Settings {
    Settings { products_per_store: 60..=80, ..settings }
}

#[tokio::test]
async fn an_image_host_that_no_proxy_reaches_delays_no_menu_and_is_no_fault_of_the_proxies() {
    let refused_hosts = vec!["images.simulated.test".to_owned()];
    let farm = Farm::changed(24, |world| Settings { refused_hosts, blocked_proxies: 0, ..world }).await;
    let worker = crawl(&farm).await;
    farm.enqueue(Role::PayloadFetch).await;
    let refreshed = "SELECT count(*) FROM worker_tasks WHERE role = 'product_refresh' AND status = 'completed'";
    farm.until_counted("every menu was crawled once more", refreshed, 48).await;
    end(worker).await;

    assert_eq!(farm.count("SELECT count(*) FROM task_attempts WHERE outcome <> 'completed'").await, 0, "a menu waited");
    let client = farm.db.client().await.unwrap();
    for proxy in db::proxies::list(&client, &ProxyFilter::default(), Budgets::default(), 100).await.unwrap() {
        assert_eq!(proxy.health, ShownHealth::Healthy, "{proxy:?}");
        let images = proxy.hosts.iter().find(|host| host.host == "images.simulated.test");
        assert!(images.is_none_or(|host| host.is_best_effort), "{proxy:?}");
    }
    assert!(farm.count("SELECT count(*) FROM proxy_hosts WHERE recent_failed > 0").await > 0, "no image was asked for");
}

#[tokio::test]
async fn every_good_picture_is_stored_and_no_bad_one_whatever_is_wrong_with_it() {
    let farm = Farm::changed(6, many_kinds).await;
    let worker = crawl(&farm).await;
    farm.until_counted("every image is stored or has failed", OPEN, 0).await;
    end(worker).await;
    assert_files_are_the_oracles(&farm).await;
    let failed: BTreeMap<String, String> = failures(&farm).await;
    assert!(failed.len() > 5, "{failed:?}");
    for (url, reason) in failed {
        assert!(
            matches!(farm.sim.picture(&url), Some(PictureAnswer::Bad { reason: expected }) if expected == reason),
            "{url}: {reason}"
        );
    }
    let counts = farm.sim.counts();
    assert_eq!(counts.direct, 0);
    assert!(counts.picture_answers.values().all(|answers| *answers == 1), "{:?}", counts.picture_answers);
}

#[rstest]
#[case::search("images.feeder")]
#[case::download("images.lane")]
#[case::record("images.recorder")]
#[tokio::test]
async fn a_panic_costs_a_few_images_which_the_next_refresh_brings(#[case] place: &str) {
    let farm = Farm::changed(2, many_kinds).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut command = downloading(&farm, &["worker"]);
    // no other lane takes the place of the one that panicked
    command.env("DROVER__IMAGES__CONCURRENCY", "1");
    let worker =
        Child::spawn(command.env("FAILPOINTS", format!("{place}=1*panic(planted)"))).allow_errors(&["planted"]);
    worker.until_metric("drover_panics_total", 1.0).await;
    farm.until_crawled().await;
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_crawled().await;
    farm.until_counted("every image is stored or has failed", OPEN, 0).await;
    end(worker).await;
    assert_files_are_the_oracles(&farm).await;
}

#[tokio::test]
async fn a_host_that_answers_in_avif_is_asked_once_more_without_it() {
    let farm = Farm::changed(2, many_kinds).await;
    farm.sim.prefer_avif(true);
    let worker = crawl(&farm).await;
    farm.until_counted("every image is stored or has failed", OPEN, 0).await;
    end(worker).await;
    assert_files_are_the_oracles(&farm).await;
    assert!(farm.image_files().len() > 5);
}

#[tokio::test]
async fn a_stop_in_the_middle_notes_what_was_downloaded() {
    let farm = Farm::changed(6, many_kinds).await;
    // hundreds of pictures, one after the other, last longer than a busy machine holds this test up
    farm.sim.set_picture_latency(Duration::from_millis(50));
    farm.enqueue(Role::PayloadFetch).await;
    let worker = Child::spawn(downloading(&farm, &["worker"]).env("DROVER__IMAGES__CONCURRENCY", "1"));
    farm.until_crawled().await;
    until("some images are downloaded", PATIENCE, async || farm.image_files().len() > 20).await;
    end(worker).await;
    assert!(farm.count(OPEN).await > 0, "it was stopped in the middle");
    let noted = stored(&farm).await.into_iter().filter_map(|(_, path)| path).collect::<BTreeSet<_>>().len();
    let under_way = 1;
    assert!(farm.image_files().len() <= noted + under_way, "{} files, {noted} noted", farm.image_files().len());
}

async fn failures(farm: &Farm) -> BTreeMap<String, String> {
    let sql = "SELECT image_url, reason FROM product_image_failures UNION ALL SELECT image_url, reason FROM brand_image_failures";
    let rows = farm.db.client().await.unwrap().query(sql, &[]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

#[tokio::test]
async fn a_second_crawl_downloads_nothing_again() {
    let farm = Farm::with_stores(2).await;
    let worker = crawl(&farm).await;
    farm.until_counted("every image is stored or has failed", OPEN, 0).await;
    let (asked, refreshed) = (
        farm.sim.counts().pictures,
        "SELECT count(*) FROM worker_tasks WHERE status = 'completed' AND role = 'product_refresh'",
    );
    farm.enqueue(Role::PayloadFetch).await;
    farm.until_counted("every store was crawled again", refreshed, 2 * farm.stores.len() as i64).await;
    end(worker).await;
    let backfilled = backfill(&farm, &[]).await;
    assert_eq!((farm.sim.counts().pictures, &backfilled["wanted"]), (asked, &Value::from(0)));
}

async fn backfill(farm: &Farm, flags: &[&str]) -> Value {
    let args = [&["images", "backfill", "--json"], flags].concat();
    let output = farm.drover(&args).output().await.unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

#[tokio::test]
async fn backfill_brings_what_no_refresh_brought() {
    let farm = Farm::with_stores(2).await;
    farm.enqueue(Role::PayloadFetch).await;
    let worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    end(worker).await;
    assert_eq!(farm.image_files().len(), 0);
    let said = backfill(&farm, &["--dry-run"]).await;
    let wanted = said["wanted"].as_i64().unwrap();
    assert!(wanted > 10 && farm.sim.counts().pictures == 0, "{said}");
    assert_eq!(wanted, farm.count(OPEN).await, "a logo of several stores is one image");
    let one = backfill(&farm, &["--limit", "3"]).await;
    assert_eq!(one["wanted"], 3);
    backfill(&farm, &[]).await;
    assert_eq!(farm.count(OPEN).await, 0);
    assert_files_are_the_oracles(&farm).await;
    assert_eq!(farm.sim.counts().direct, 0);
}

#[tokio::test]
async fn a_kill_in_the_middle_leaves_no_half_file_and_what_is_stored_is_not_downloaded_again() {
    let farm = Farm::changed(6, many_kinds).await;
    farm.enqueue(Role::PayloadFetch).await;
    let mut worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    worker.signal(Signal::SIGTERM);
    worker.ended(PATIENCE).await;

    let mut stored_before: BTreeMap<String, u64> = BTreeMap::new();
    for _ in 0..KILLS {
        let files = whole_files(&farm).len();
        let mut killed = Child::spawn(&mut farm.drover(&["images", "backfill"]));
        until("some more images are stored", PATIENCE, async || {
            whole_files(&farm).len() > files + 5 || killed.try_wait().unwrap().is_some()
        })
        .await;
        // it may have ended with the last image
        let _ = killed.start_kill();
        killed.ended(PATIENCE).await;
        assert_every_visible_file_is_whole(&farm);
        let counts = farm.sim.counts().picture_answers;
        for (path, answers) in &stored_before {
            assert_eq!(counts[path], *answers, "{path} was stored, and downloaded again");
        }
        stored_before = answers_of_stored(&farm, &counts).await;
    }
    backfill(&farm, &[]).await;
    assert_eq!(farm.count(OPEN).await, 0);
    let counts = farm.sim.counts();
    assert!(stored_before.iter().all(|(path, answers)| counts.picture_answers[path] == *answers));
    assert_eq!(counts.direct, 0);
}

/// Files that have their own names.
fn whole_files(farm: &Farm) -> Vec<PathBuf> {
    farm.image_files()
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "webp"))
        .collect()
}

fn assert_every_visible_file_is_whole(farm: &Farm) {
    for path in whole_files(farm) {
        let bytes = std::fs::read(&path).unwrap();
        let whole = image_transform::to_stored(&bytes);
        assert!(whole.is_ok(), "{} is half a file", path.display());
    }
}

/// How often addresses were answered whose file is there, by their path at the origin.
async fn answers_of_stored(farm: &Farm, counts: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let names: BTreeSet<String> =
        whole_files(farm).iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    let noted = stored(farm).await.into_iter().filter(|(_, path)| path.is_some()).map(|(url, _)| url);
    let paths = noted.filter(|url| names.iter().any(|name| has_name(&farm.sim, url, name)));
    paths
        .map(|url| url.trim_start_matches(farm.sim.pictures_url()).to_owned())
        .map(|path| (path.clone(), counts[&path]))
        .collect()
}

fn has_name(sim: &Simulator, url: &str, name: &str) -> bool {
    matches!(sim.picture(url), Some(PictureAnswer::Good(photo)) if name.contains(&photo.sha256[..8]))
}

#[tokio::test]
async fn an_image_is_given_up_after_five_tries_until_its_address_changes() {
    let farm = Farm::changed(6, many_kinds).await;
    let worker = crawl(&farm).await;
    farm.until_counted("every image is stored or has failed", OPEN, 0).await;
    end(worker).await;
    let wanted = async || backfill(&farm, &["--dry-run"]).await["wanted"].as_i64().unwrap();
    assert_eq!(wanted().await, 0, "each waits for its next try");
    let left_out = backfill(&farm, &["--dry-run"]).await["left_out"].clone();
    let refused: i64 = left_out["refused"].as_array().unwrap().iter().map(|it| it["images"].as_i64().unwrap()).sum();
    let all = "SELECT (SELECT count(*) FROM product_image_failures) + (SELECT count(*) FROM brand_image_failures)";
    assert_eq!(left_out["waiting"].as_i64().unwrap() + refused, farm.count(all).await, "{left_out}");
    assert!(backfill(&farm, &["--dry-run", "--refetch"]).await["left_out"].is_null(), "these are wanted");
    farm.execute("UPDATE product_image_failures SET retry_at = now(), tries = 4").await;
    let failed = wanted().await;
    assert!(failed > 0);
    backfill(&farm, &[]).await;
    farm.execute("UPDATE product_image_failures SET retry_at = now()").await;
    assert_eq!(wanted().await, 0, "given up");
    assert!(backfill(&farm, &["--dry-run"]).await["left_out"]["given_up"].as_i64().unwrap() > 0);
    farm.execute("UPDATE product_image_failures SET reason = 'refused_redirect'").await;
    let refused = backfill(&farm, &["--dry-run"]).await["left_out"]["refused"].clone();
    let host = &farm.sim.pictures_url().trim_start_matches("http://").trim_start_matches("https://");
    assert!(refused.as_array().unwrap().iter().any(|it| it["host"] == **host), "{refused}");
    farm.execute("UPDATE store_products SET image_url = image_url || 'x' WHERE id IN (SELECT product_id FROM product_image_failures)").await;
    assert_eq!(wanted().await, failed);
}

#[tokio::test]
async fn a_host_that_is_permitted_later_gives_its_images_to_the_next_backfill() {
    let farm = Farm::with_stores(1).await;
    farm.enqueue(Role::PayloadFetch).await;
    let worker = Child::spawn(&mut farm.drover(&["worker"]));
    farm.until_crawled().await;
    end(worker).await;
    let all = backfill(&farm, &["--dry-run"]).await["wanted"].as_i64().unwrap();
    let mut elsewhere = farm.drover(&["images", "backfill"]);
    let output = elsewhere.env("DROVER__PLATFORM__DUTCHIE__IMAGE_HOSTS", "other.test").output().await.unwrap();
    assert_eq!((output.status.code(), farm.sim.counts().pictures), (Some(5), 0));
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!log.contains("workers: 0"), "{log}");
    let refused = "SELECT (SELECT count(*) FROM product_image_failures WHERE reason = 'refused_host')
                        + (SELECT count(*) FROM brand_image_failures WHERE reason = 'refused_host')";
    assert_eq!(farm.count(refused).await, all);
    farm.execute("UPDATE product_image_failures SET tries = 5").await;
    let mut still = farm.drover(&["images", "backfill"]);
    let output = still.env("DROVER__PLATFORM__DUTCHIE__IMAGE_HOSTS", "other.test").output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("images.simulated.test is not permitted") && said.contains("image_hosts"), "{said}");

    let said = backfill(&farm, &["--dry-run"]).await;
    assert_eq!((said["wanted"].as_i64(), said["left_out"]["refused"].as_array().map(Vec::len)), (Some(all), Some(0)));
    backfill(&farm, &[]).await;
    assert_eq!(farm.count(refused).await, 0);
    assert_files_are_the_oracles(&farm).await;
}

#[tokio::test]
async fn a_backfill_without_proxies_says_so() {
    let farm = Farm::with_stores(1).await;
    let worker = {
        farm.enqueue(Role::PayloadFetch).await;
        Child::spawn(&mut farm.drover(&["worker"]))
    };
    farm.until_crawled().await;
    end(worker).await;
    farm.execute("UPDATE proxies SET is_active = false, cooldown_until = NULL").await;
    let output = farm.drover(&["images", "backfill"]).output().await.unwrap();
    assert_eq!(output.status.code(), Some(78));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("drover proxies import"), "{said}");
    assert_eq!(farm.sim.counts().direct, 0);
}

#[tokio::test]
async fn the_first_address_of_a_brand_stays_when_two_menus_name_it_at_the_same_time() {
    let database = database().await;
    let named = |address: &str| MenuBrand {
        name: "Granite Ridge".to_owned(),
        slug: "granite-ridge".to_owned(),
        image_url: Some(address.to_owned()),
    };
    let first = database.db.begin().await.unwrap();
    products::brands::add(&first, &[named("http://a.test/1")]).await.unwrap();
    let (db, other) = (database.db.clone(), named("http://a.test/2"));
    let second = tokio::spawn(async move {
        let tx = db.begin().await.unwrap();
        products::brands::add(&tx, &[other]).await.unwrap();
        tx.commit().await.unwrap();
    });
    until("the second waits for the first", PATIENCE, async || count(&database, testkit::WAITING_FOR_LOCKS).await == 1)
        .await;
    first.commit().await.unwrap();
    second.await.unwrap();
    let address = "SELECT count(*) FROM brands WHERE image_url = 'http://a.test/1'";
    assert_eq!(count(&database, address).await, 1);
}

async fn count(database: &TestDatabase, sql: &str) -> i64 {
    database.raw.query_one(sql, &[]).await.unwrap().get(0)
}

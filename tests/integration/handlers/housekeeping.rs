//! Files of runs that were killed between their file and its row.

use std::path::PathBuf;
use std::time::Duration;

use bytes::Bytes;
use chrono::Utc;
use db::schema;
use domain::payload::PageQuestion;
use domain::store::Platform;
use drover::handlers::housekeeping::Housekeeping;
use storage::{Ownership, PageBytes, PayloadContent, PayloadHead, Payloads, SweepReport};

use super::harness::HandlerHarness;

const LEASE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn old_files_without_a_row_are_swept_once_no_lease_can_still_give_them_one() {
    let harness = HandlerHarness::new().await;
    let with_a_row = file(&harness, HOUR + 2 * LEASE).await;
    let sql = "UPDATE raw_crawl_payloads SET storage_path = $2 WHERE id = $1";
    let payload = harness.store.payload(0, 1, 1.0).await;
    harness.store.database.raw.execute(sql, &[&payload.id, &with_a_row]).await.unwrap();
    let orphan = file(&harness, HOUR + 2 * LEASE).await;
    let on_its_way = file(&harness, HOUR + LEASE / 2).await;

    housekeeping(&harness).sweep_files(LEASE).await.unwrap();

    let left = [&with_a_row, &orphan, &on_its_way].map(|path| place(&harness, path).exists());
    assert_eq!(left, [true, false, true]);
}

/// `pg_dump` and `CREATE DATABASE … TEMPLATE` copy the id of the installation, too.
#[tokio::test]
async fn a_copy_of_the_database_on_the_same_root_sweeps_nothing() {
    let harness = HandlerHarness::new().await;
    let unknown_to_the_copy = file(&harness, 3 * HOUR).await;
    let copy = harness.store.database.copy().await;
    let owner = schema::installation::storage_owner(&copy.db.client().await.unwrap()).await.unwrap();
    let of_copy = Housekeeping { db: copy.db.clone(), payloads: Payloads::new(harness.storage.path(), owner) };

    assert_eq!(of_copy.sweep_files(LEASE).await.unwrap(), SweepReport::default(), "before it registers");
    assert_eq!(of_copy.payloads.register_owner().await.unwrap(), Ownership::Shared);
    assert_eq!(of_copy.sweep_files(LEASE).await.unwrap(), SweepReport::default());
    assert!(place(&harness, &unknown_to_the_copy).exists());
}

#[tokio::test]
async fn what_a_restored_database_forgot_is_kept_though_it_crawls_on() {
    let harness = HandlerHarness::new().await;
    let forgotten = [file(&harness, 20 * HOUR).await, file(&harness, 3 * HOUR).await];
    harness.store.payload(0, 1, 1.0).await;
    let report = housekeeping(&harness).sweep_files(LEASE).await.unwrap();
    assert_eq!(report, SweepReport { set_aside: 2, removed: 0 });
    let orphans = place(&harness, "payloads/.orphans").read_dir().unwrap().next().unwrap().unwrap().path();
    for path in forgotten {
        assert!(orphans.join(path.rsplit('/').next().unwrap()).exists());
    }
}

fn housekeeping(harness: &HandlerHarness) -> Housekeeping {
    Housekeeping { db: harness.services.db.clone(), payloads: harness.services.payloads.clone() }
}

/// A payload file whose fetch began this long ago.
async fn file(harness: &HandlerHarness, ago: Duration) -> String {
    let now: chrono::DateTime<Utc> = harness.store.database.raw.query_one("SELECT now()", &[]).await.unwrap().get(0);
    let head = PayloadHead {
        platform: Platform::Dutchie,
        dispensary_id: harness.store.id,
        platform_dispensary_id: "6405ef617056e8014d79101b".to_owned(),
        fetched_at: now - ago,
        total_count: 0,
    };
    let question = PageQuestion { operation: "FilteredProducts".to_owned(), cursor: serde_json::Value::Null };
    let pages = vec![PageBytes { bytes: Bytes::from_static(b"{}"), is_gzip: false, question }];
    harness.services.payloads.write(PayloadContent { head, pages }).await.unwrap().storage_path
}

fn place(harness: &HandlerHarness, path: &str) -> PathBuf {
    harness.storage.path().join(path)
}

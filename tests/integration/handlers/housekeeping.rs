//! What runs left behind that were killed between their file and its row.

use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use drover::db::installation;
use drover::domain::dispensary::Platform;
use drover::handlers::housekeeping::sweep_files;
use drover::storage::{PageBytes, PayloadContent, PayloadHead};

use super::desk::Desk;

const LEASE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn old_files_without_a_row_are_swept_once_no_lease_can_still_give_them_one() {
    let desk = Desk::new().await;
    let owner = installation::id(&desk.services.db.client().await.unwrap()).await.unwrap();
    desk.services.payloads.claim(&owner).await.unwrap();
    let with_a_row = file(&desk, HOUR + 2 * LEASE).await;
    let sql = "UPDATE raw_crawl_payloads SET storage_path = $2 WHERE id = $1";
    let payload = desk.shelf.payload(0, 1, 1.0).await;
    desk.shelf.database.raw.execute(sql, &[&payload.id, &with_a_row]).await.unwrap();
    let orphan = file(&desk, HOUR + 2 * LEASE).await;
    let on_its_way = file(&desk, HOUR + LEASE / 2).await;

    sweep_files(&desk.services, LEASE).await.unwrap();

    let left = [&with_a_row, &orphan, &on_its_way].map(|path| place(&desk, path).exists());
    assert_eq!(left, [true, false, true]);
}

/// A payload file that was written so long ago.
async fn file(desk: &Desk, ago: Duration) -> String {
    let head = PayloadHead {
        platform: Platform::Dutchie,
        dispensary_id: desk.store(),
        platform_dispensary_id: "6405ef617056e8014d79101b".to_owned(),
        fetched_at: desk.services.clock.utc(),
        total_count: 0,
    };
    let pages = vec![PageBytes { bytes: Bytes::from_static(b"{}"), is_gzip: false }];
    let path = desk.services.payloads.write(PayloadContent { head, pages }).await.unwrap().storage_path;
    let written = File::options().write(true).open(place(desk, &path)).unwrap();
    written.set_modified(SystemTime::from(desk.services.clock.utc()) - ago).unwrap();
    path
}

fn place(desk: &Desk, path: &str) -> PathBuf {
    desk.storage.path().join(path)
}

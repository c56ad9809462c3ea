//! Files that retention removes, that it keeps, and that a process leaves behind when it is killed meanwhile.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use db::tasks::{self, NewTask};
use domain::payload::Payload;
use domain::task::role::Role;
use drover::handlers::housekeeping::Housekeeping;
use drover::handlers::retention::{RetentionReport, RetentionRun};
use rstest::rstest;
use serde_json::{Value, json};
use storage::SweepReport;
use tokio::process::Command;

use super::harness::HandlerHarness;
use testkit::{Child, PATIENCE, config, drover, page, until};

const LEASE: Duration = Duration::from_secs(60);
const MONTHS: &str = "
    CREATE TABLE store_product_snapshots_2020_01 PARTITION OF store_product_snapshots FOR VALUES FROM ('2020-01-01Z') TO ('2020-02-01Z');
    CREATE TABLE store_product_variant_history_2020_01 PARTITION OF store_product_variant_history
       FOR VALUES FROM ('2020-01-01Z') TO ('2020-02-01Z');
    INSERT INTO store_product_snapshots (store_product_id, crawl_id, crawled_at, is_on_special, quantity_censored, is_in_stock, stock_status)
    SELECT 1, 1, at, false, false, true, 'in_stock' FROM unnest(ARRAY['2020-01-15Z', '2019-01-01Z', now()::text]::timestamptz[]) AS at;
    INSERT INTO whole_crawls (dispensary_id, crawled_at, crawl_id)
    SELECT d.id, at, 1 FROM dispensaries d, unnest(ARRAY['2020-01-15Z', '2019-01-01Z', now()::text]::timestamptz[]) AS at;";

impl HandlerHarness {
    fn housekeeping(&self) -> Housekeeping {
        Housekeeping { db: self.services.db.clone(), payloads: self.services.payloads.clone() }
    }

    async fn retain(&self, age: &'static str, dry_run: bool) -> RetentionReport {
        let ages = config(&[(age, "30d")]).retention;
        self.housekeeping().retain(RetentionRun { ages: &ages, dry_run, goes_on: &|_| true }).await.unwrap()
    }

    /// A payload that was fetched `days_ago` days ago, with its file.
    async fn payload_of(&self, days_ago: i64) -> Payload {
        let now: DateTime<Utc> = self.store.database.raw.query_one("SELECT now()", &[]).await.unwrap().get(0);
        self.payload(now - TimeDelta::days(days_ago), &[&page(&["a"])]).await
    }

    async fn has_row(&self, payload: &Payload) -> bool {
        self.store.count(&format!("SELECT count(*) FROM raw_crawl_payloads WHERE id = {}", payload.id)).await == 1
    }

    fn has_file(&self, payload: &Payload) -> bool {
        self.storage.path().join(&payload.storage_path).exists()
    }

    async fn open_task_of(&self, payload: &Payload) {
        let task = NewTask {
            dispensary_id: Some(payload.dispensary_id),
            platform: Some("dutchie".to_owned()),
            payload: json!({ "payload_id": payload.id }),
            ..NewTask::new(Role::ProductRefresh)
        };
        tasks::enqueue(&self.services.db.client().await.unwrap(), &[task]).await.unwrap();
    }

    /// `drover retention run` with payloads kept for 30 days.
    fn run_retention(&self) -> Command {
        let mut command = drover();
        command
            .args(["retention", "run", "--json"])
            .env("DATABASE_URL", &self.store.database.url)
            .env("DROVER__STORAGE__ROOT", self.storage.path())
            .env("DROVER__RETENTION__PAYLOADS", "30d");
        command
    }
}

#[tokio::test]
async fn old_payloads_go_but_not_the_newest_of_a_store_nor_those_that_are_needed() {
    let harness = HandlerHarness::new().await;
    let (needed, old, refreshed) =
        (harness.payload_of(60).await, harness.payload_of(50).await, harness.payload_of(45).await);
    let newest = harness.payload_of(40).await;
    harness.open_task_of(&needed).await;
    let of_products = "UPDATE dispensaries SET last_payload_id = $1";
    harness.store.database.raw.execute(of_products, &[&refreshed.id]).await.unwrap();

    let said = harness.retain("retention.payloads", true).await;
    assert_eq!((said.payloads.files, said.payloads.bytes), (1, old.bytes as u64));
    assert!(harness.has_file(&old) && harness.has_row(&old).await, "it only says what would go");

    assert_eq!(harness.retain("retention.payloads", false).await, said);
    assert!(!harness.has_file(&old) && !harness.has_row(&old).await);
    for kept in [&needed, &refreshed, &newest] {
        assert!(harness.has_file(kept) && harness.has_row(kept).await, "{kept:?}");
    }
    assert_eq!(harness.housekeeping().sweep_files(LEASE).await.unwrap(), SweepReport::default());
    assert!(!harness.storage.path().join(&old.storage_path).parent().unwrap().exists(), "its day is empty");
}

#[tokio::test]
async fn a_payload_that_a_replay_queues_now_stays() {
    let harness = HandlerHarness::new().await;
    let (old, _newest) = (harness.payload_of(50).await, harness.payload_of(40).await);
    let other = testkit::connect(&harness.store.database.url).await;
    let keep = format!("BEGIN; SELECT FROM raw_crawl_payloads WHERE id = {} FOR KEY SHARE", old.id);
    other.batch_execute(&keep).await.unwrap();
    assert_eq!(harness.retain("retention.payloads", false).await.payloads.files, 0);
    other.batch_execute("COMMIT").await.unwrap();
    assert_eq!(harness.retain("retention.payloads", false).await.payloads.files, 1);
}

#[tokio::test]
async fn under_a_root_that_two_databases_share_nothing_goes() {
    let harness = HandlerHarness::new().await;
    let (old, _newest) = (harness.payload_of(50).await, harness.payload_of(40).await);
    std::fs::write(harness.storage.path().join("payloads/.database"), "several databases").unwrap();
    let report = harness.retain("retention.payloads", false).await;
    assert!(report.payloads_left.is_some() && report.payloads.files == 0);
    assert!(harness.has_file(&old) && harness.has_row(&old).await);
}

#[rstest]
#[case::after_the_row("retention.rows_deleted")]
#[case::after_the_file("retention.files_removed")]
#[tokio::test]
async fn a_run_that_is_killed_leaves_nothing_that_the_next_one_does_not_find(#[case] moment: &str) {
    let harness = HandlerHarness::new().await;
    let (old, newest) = (harness.payload_of(50).await, harness.payload_of(40).await);
    let mut killed = Child::spawn(harness.run_retention().env("FAILPOINTS", format!("{moment}=pause")));
    until("the row is deleted", PATIENCE, async || !harness.has_row(&old).await).await;
    if moment == "retention.files_removed" {
        until("the file is removed", PATIENCE, async || !harness.has_file(&old)).await;
    }
    killed.kill().await.unwrap();
    assert_eq!(
        harness.housekeeping().sweep_files(LEASE).await.unwrap(),
        SweepReport::default(),
        "no file without a row"
    );

    let again = harness.run_retention().output().await.unwrap();
    assert!(again.status.success(), "{again:?}");
    assert!(!harness.has_file(&old) && harness.has_file(&newest));
    assert_eq!(harness.store.count("SELECT count(*) FROM payload_removals").await, 0);
}

#[tokio::test]
async fn old_months_are_dropped_and_loose_rows_deleted() {
    let harness = HandlerHarness::new().await;
    harness.store.database.raw.batch_execute(MONTHS).await.unwrap();
    let months = "SELECT count(*) FROM pg_class WHERE relname LIKE 'store\\_product\\_%\\_2020\\_01' AND relkind = 'r'";
    let rows = "SELECT (SELECT count(*) FROM store_product_snapshots) + (SELECT count(*) FROM whole_crawls)";

    let said = harness.retain("retention.snapshots", true).await;
    assert_eq!((said.partitions.len(), said.loose_rows, said.partitions[0].rows), (2, 3, 1));
    assert_eq!((harness.store.count(months).await, harness.store.count(rows).await), (2, 6));

    assert_eq!(harness.retain("retention.snapshots", false).await, said);
    assert_eq!((harness.store.count(months).await, harness.store.count(rows).await), (0, 2));
    assert_eq!(harness.retain("retention.snapshots", false).await, RetentionReport::default());
}

#[tokio::test]
async fn a_month_that_somebody_reads_is_dropped_later() {
    let harness = HandlerHarness::new().await;
    harness.store.database.raw.batch_execute(MONTHS).await.unwrap();
    let reader = testkit::connect(&harness.store.database.url).await;
    reader.batch_execute("BEGIN; SELECT FROM store_product_snapshots_2020_01").await.unwrap();
    let report = harness.retain("retention.snapshots", false).await;
    assert_eq!(report.partitions_in_use, ["store_product_snapshots_2020_01"]);
    assert_eq!(report.partitions.len(), 1, "the other table's month goes");
    reader.batch_execute("COMMIT").await.unwrap();
    assert_eq!(harness.retain("retention.snapshots", false).await.partitions.len(), 1);
}

#[tokio::test]
async fn without_an_age_the_command_says_what_to_set() {
    let harness = HandlerHarness::new().await;
    let refused = harness.run_retention().env_remove("DROVER__RETENTION__PAYLOADS").output().await.unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("retention.payloads"));
    let dry = harness.run_retention().arg("--dry-run").output().await.unwrap();
    let said: Value = serde_json::from_slice(&dry.stdout).unwrap();
    assert_eq!((&said["dry_run"], &said["payloads"]["files"]), (&true.into(), &0.into()));
}

//! Retention of crawled data: payloads, snapshots, the history of variants and changes go when they are older than
//! the operator wants.
//!
//! In: the ages of the configuration. Out: a [`RetentionReport`] of the removals, or of the ones that would
//! be made. Each step commits by itself, and may be the last: a payload's row goes together with a note of
//! its file, the file after that, the note at last. It must not know when it runs.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::housekeeping::Housekeeping;
use db::schema::partitions::{OldPartition, PartitionedTable};
use db::{DbError, payloads, schema};
use domain::menu::stock::PayloadPosition;
use domain::payload::{PayloadId, RemovedFiles};
use queue::TaskError;
use settings::Retention;

/// Rows that one transaction deletes, and files that are removed together.
const PART: i64 = 500;

/// Counts of a run: what it removed, or would remove.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RetentionReport {
    pub payloads: RemovedFiles,
    /// Files that cannot be removed, or not now; their rows are gone, and the next run tries again.
    pub files_left: u64,
    pub partitions: Vec<OldPartition>,
    /// Partitions that others used for too long: the next run tries again.
    pub partitions_in_use: Vec<String>,
    /// Rows that no month's partition held.
    pub loose_rows: u64,
    /// Why payloads were left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payloads_left: Option<&'static str>,
}

impl RetentionReport {
    /// Files, partitions and rows.
    pub fn changed(&self) -> u64 {
        self.payloads.files + self.partitions.len() as u64 + self.loose_rows
    }
}

/// Removes, or counts what it would remove; after each part it asks `goes_on` whether to continue.
#[derive(Clone, Copy)]
pub struct RetentionRun<'a> {
    pub ages: &'a Retention,
    pub dry_run: bool,
    pub goes_on: &'a (dyn Fn(&RetentionReport) -> bool + Send + Sync),
}

const SHARED_ROOT: &str =
    "this storage root is not marked as this database's own, and payloads of another database must not be removed";

impl Housekeeping {
    pub async fn retain(&self, run: RetentionRun<'_>) -> Result<RetentionReport, TaskError> {
        let mut report = RetentionReport::default();
        if let Some(age) = run.ages.payloads {
            let client = self.db.client().await?;
            let before = db::payloads::sweep_times(&client, age).await?.before;
            drop(client);
            self.retain_payloads(run, before, &mut report).await?;
        }
        if let Some(age) = run.ages.snapshots {
            let client = self.db.client().await?;
            let before = db::payloads::sweep_times(&client, age).await?.before;
            drop(client);
            self.retain_rows(run, PartitionedTable::CRAWLED, before, &mut report).await?;
        }
        let client = self.db.client().await?;
        let before = db::payloads::sweep_times(&client, run.ages.changes).await?.before;
        drop(client);
        self.retain_rows(run, &[PartitionedTable::Changes], before, &mut report).await?;
        Ok(report)
    }

    async fn retain_payloads(
        &self,
        run: RetentionRun<'_>,
        before: DateTime<Utc>,
        report: &mut RetentionReport,
    ) -> Result<(), TaskError> {
        if !self.payloads.is_exclusive().await? {
            // an unused root holds nothing to remove
            let has_payloads = db::payloads::any(&self.db.client().await?).await?;
            report.payloads_left = has_payloads.then_some(SHARED_ROOT);
            return Ok(());
        }
        if run.dry_run {
            report.payloads += payloads::removals::count(&self.db.client().await?).await?;
        } else {
            self.remove_files(report).await?;
        }
        let mut last = PayloadPosition { fetched_at: DateTime::UNIX_EPOCH, id: 0 };
        while (run.goes_on)(report) {
            let page = db::payloads::aged(&self.db.client().await?, before, last, PART).await?;
            let Some(end) = page.last() else { break };
            last = *end;
            let ids: Vec<PayloadId> = page.iter().map(|payload| payload.id).collect();
            if run.dry_run {
                report.payloads += db::payloads::expendable(&self.db.client().await?, &ids).await?;
                continue;
            }
            report.payloads += db::payloads::expire(&self.db, &ids).await?;
            fail::fail_point!("retention.rows_deleted");
            self.remove_files(report).await?;
        }
        Ok(())
    }

    /// Removes the files of all rows that are gone, an earlier run's too.
    async fn remove_files(&self, report: &mut RetentionReport) -> Result<(), TaskError> {
        report.files_left = 0;
        let mut after = String::new();
        loop {
            let paths = payloads::removals::page(&self.db.client().await?, &after, PART).await?;
            let Some(last) = paths.last() else { return Ok(()) };
            after.clone_from(last);
            let count = paths.len();
            let gone = self.payloads.remove(paths).await?;
            fail::fail_point!("retention.files_removed");
            report.files_left += (count - gone.len()) as u64;
            payloads::removals::forget(&self.db.client().await?, &gone).await?;
        }
    }

    async fn retain_rows(
        &self,
        run: RetentionRun<'_>,
        tables: &[PartitionedTable],
        before: DateTime<Utc>,
        report: &mut RetentionReport,
    ) -> Result<(), TaskError> {
        let old = schema::partitions::old(&self.db.maintenance_client().await?, tables, before).await?;
        for partition in old {
            if !(run.goes_on)(report) {
                return Ok(());
            }
            if run.dry_run {
                report.partitions.push(partition);
                continue;
            }
            let client = self.db.maintenance_client().await?;
            match schema::partitions::drop_old(&client, tables, &partition.name, before).await {
                Ok(true) => report.partitions.push(partition),
                Ok(false) => {}
                Err(DbError::Contention(_)) => report.partitions_in_use.push(partition.name),
                Err(error) => return Err(error.into()),
            }
        }
        for table in tables {
            self.retain_loose(run, *table, before, report).await?;
        }
        Ok(())
    }

    async fn retain_loose(
        &self,
        run: RetentionRun<'_>,
        table: PartitionedTable,
        before: DateTime<Utc>,
        report: &mut RetentionReport,
    ) -> Result<(), DbError> {
        if run.dry_run {
            let client = self.db.maintenance_client().await?;
            report.loose_rows += schema::partitions::count_loose(&client, table, before).await?;
            return Ok(());
        }
        while (run.goes_on)(report) {
            let client = self.db.maintenance_client().await?;
            match schema::partitions::delete_loose(&client, table, before).await? {
                0 => break,
                deleted => report.loose_rows += deleted,
            }
        }
        Ok(())
    }
}

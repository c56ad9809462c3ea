//! Month partitions of snapshots, of variants' history and of changes: created ahead, and dropped when they are too old.
//!
//! Rows whose month has no partition are in a table's default partition ("loose"). The list of whole crawls has loose rows alone.

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::statements::{column, first_column, read_all, rows, sql};
use crate::{Client, DbError};

/// Maximum rows that one statement deletes.
const MAX_DELETED: i64 = 5_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OldPartition {
    pub name: String,
    pub ends_at: DateTime<Utc>,
    /// Estimate of the last ANALYZE.
    pub rows: i64,
    pub bytes: i64,
}

/// The tables with partitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartitionedTable {
    Snapshots,
    VariantHistory,
    WholeCrawls,
    Changes,
}

impl PartitionedTable {
    /// Tables of what was crawled, which go together.
    pub const CRAWLED: &[PartitionedTable] =
        &[PartitionedTable::Snapshots, PartitionedTable::VariantHistory, PartitionedTable::WholeCrawls];

    fn name(self) -> &'static str {
        match self {
            PartitionedTable::Snapshots => "store_product_snapshots",
            PartitionedTable::VariantHistory => "store_product_variant_history",
            PartitionedTable::WholeCrawls => "whole_crawls",
            PartitionedTable::Changes => "product_changes",
        }
    }
}

/// Partitions of these tables that end before `before`, oldest first. May count rows, so its client needs time.
pub async fn old(
    client: &Client,
    tables: &[PartitionedTable],
    before: DateTime<Utc>,
) -> Result<Vec<OldPartition>, DbError> {
    let names = column(tables, |table| table.name());
    read_all(&client.query(sql!("schema/partitions/old.sql"), &[&before, &names]).await?)
}

/// False when the partition is gone already; `Contention` when its table is in use for too long.
pub async fn drop_old(
    client: &Client,
    tables: &[PartitionedTable],
    name: &str,
    before: DateTime<Utc>,
) -> Result<bool, DbError> {
    let names = column(tables, |table| table.name());
    first_column(&client.query_one(sql!("schema/partitions/drop.sql"), &[&name, &before, &names]).await?)
}

/// Number of rows from before `before` that no month's partition holds.
pub async fn count_loose(client: &Client, table: PartitionedTable, before: DateTime<Utc>) -> Result<u64, DbError> {
    let sql = match table {
        PartitionedTable::Snapshots => sql!("schema/partitions/count_loose_snapshots.sql"),
        PartitionedTable::VariantHistory => sql!("schema/partitions/count_loose_history.sql"),
        PartitionedTable::WholeCrawls => sql!("schema/partitions/count_old_crawls.sql"),
        PartitionedTable::Changes => sql!("schema/partitions/count_loose_changes.sql"),
    };
    Ok(first_column::<i64>(&client.query_one(sql, &[&before]).await?)?.unsigned_abs())
}

/// Deletes some of them; returns the number of deleted rows, 0 when none is left.
pub async fn delete_loose(client: &Client, table: PartitionedTable, before: DateTime<Utc>) -> Result<u64, DbError> {
    let sql = match table {
        PartitionedTable::Snapshots => sql!("schema/partitions/delete_loose_snapshots.sql"),
        PartitionedTable::VariantHistory => sql!("schema/partitions/delete_loose_history.sql"),
        PartitionedTable::WholeCrawls => sql!("schema/partitions/delete_old_crawls.sql"),
        PartitionedTable::Changes => sql!("schema/partitions/delete_loose_changes.sql"),
    };
    client.execute(sql, &[&before, &MAX_DELETED]).await
}

rows! {
    OldPartition { name, ends_at, rows: "row_count", bytes }
}

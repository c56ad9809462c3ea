//! Refreshes the data that [`super`] reads: prices by day and week, then the materialized views; and the copies
//! that product search reads.
//!
//! Readers see the old rows until it ends. A refresh may be interrupted anywhere and run twice: the next run
//! finishes the rest.

use std::time::Duration;

use chrono::NaiveDate;

use crate::statements::{first_column, first_columns, sql};
use crate::{Client, Db, DbError, products};

/// Views in the order of their refreshes: each view comes after the views it is made of.
const VIEWS: [&str; 4] = ["mv_store_summary", "mv_brand_presence", "mv_category_mix", "mv_price_trend"];
/// Days of prices that are kept; older ones are deleted.
pub(super) const MAX_DAYS: i32 = 90;
/// Weeks of prices by unit that are kept.
const MAX_WEEKS: i32 = 53;
/// Tables whose refresh is noted like that of a view.
pub(super) const PRICE_CHANGES: &str = "daily_price_changes";
pub(super) const UNIT_PRICES: &str = "unit_price_weeks";
/// Maximum time for copying names of products; later turns copy the rest, a little at a time.
const MAX_COPY_TIME: Duration = Duration::from_secs(600);
/// Advisory lock held while a day is written ("prices" in ASCII).
const LOCK: i64 = 0x7072_6963_6573;

/// Writes the days of prices that may have changed and refreshes every view; returns the names of the views.
/// Takes minutes on large tables.
pub async fn refresh(db: &Db) -> Result<Vec<&'static str>, DbError> {
    for day in changed_days(db).await? {
        write_day(db, day).await?;
    }
    write_price_changes(db).await?;
    let client = db.maintenance_client().await?;
    client.execute(sql!("analytics/forget_old_days.sql"), &[&MAX_DAYS]).await?;
    for view in VIEWS {
        refresh_view(&client, view).await?;
    }
    write_unit_prices(&client).await?;
    products::search::forget_gone(&client).await?;
    drop(client);
    products::search::copy_names(db, MAX_COPY_TIME).await?;
    Ok(VIEWS.to_vec())
}

async fn changed_days(db: &Db) -> Result<Vec<NaiveDate>, DbError> {
    let client = db.client().await?;
    first_columns(&client.query(sql!("analytics/days.sql"), &[&MAX_DAYS]).await?)
}

/// Each day is a transaction of its own, so no transaction is long.
async fn write_day(db: &Db, day: NaiveDate) -> Result<(), DbError> {
    let tx = db.begin_maintenance().await?;
    tx.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    tx.execute(sql!("analytics/forget_day.sql"), &[&day]).await?;
    tx.execute(sql!("analytics/write_day.sql"), &[&day]).await?;
    tx.commit().await
}

/// The options whose price changed, day by day; each day is a statement of its own, so no transaction is long.
async fn write_price_changes(db: &Db) -> Result<(), DbError> {
    let client = db.maintenance_client().await?;
    let days: Vec<NaiveDate> = first_columns(&client.query(sql!("analytics/change_days.sql"), &[&MAX_DAYS]).await?)?;
    for day in days {
        client.execute(sql!("analytics/write_change_day.sql"), &[&day]).await?;
    }
    client.execute(sql!("analytics/forget_old_change_days.sql"), &[&MAX_DAYS]).await?;
    client.execute(sql!("analytics/note_refresh.sql"), &[&PRICE_CHANGES]).await?;
    Ok(())
}

/// Prices by unit of the present week.
async fn write_unit_prices(client: &Client) -> Result<(), DbError> {
    client.execute(sql!("analytics/write_unit_price_week.sql"), &[]).await?;
    client.execute(sql!("analytics/forget_old_weeks.sql"), &[&MAX_WEEKS]).await?;
    client.execute(sql!("analytics/note_refresh.sql"), &[&UNIT_PRICES]).await?;
    Ok(())
}

/// Fills a view for the first time without CONCURRENTLY: it has no readers yet, and Postgres refuses to fill
/// it beside readers.
async fn refresh_view(client: &Client, view: &str) -> Result<(), DbError> {
    let beside_readers = if is_filled(client, view).await? { "CONCURRENTLY" } else { "" };
    client.batch(&format!("REFRESH MATERIALIZED VIEW {beside_readers} {view}")).await?;
    client.execute(sql!("analytics/note_refresh.sql"), &[&view]).await?;
    Ok(())
}

/// Whether a view can be read.
pub async fn is_filled(client: &Client, view: &str) -> Result<bool, DbError> {
    let row = client.query_opt(sql!("analytics/is_filled.sql"), &[&view]).await?;
    row.as_ref().map_or(Ok(false), first_column)
}

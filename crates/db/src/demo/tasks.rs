//! Tasks in a demo's database that its next crawl does not expect. In: when that crawl began, and the stores that
//! are in trouble on purpose. Out: ids.

use chrono::{DateTime, Utc};

use crate::statements::{first_columns, sql};
use crate::{Client, DbError};
use domain::store::StoreId;
use domain::task::TaskId;

/// Fetches and discoveries that the crawl did not make, and that wait or would be counted as its own.
pub async fn of_others(
    client: &Client,
    begun: Option<DateTime<Utc>>,
    apart: &[StoreId],
) -> Result<Vec<TaskId>, DbError> {
    first_columns(&client.query(sql!("demo/tasks/of_others.sql"), &[&begun, &apart]).await?)
}

/// The crawl's tasks that failed, were cancelled, or wait for another try.
pub async fn spent(client: &Client, begun: DateTime<Utc>, apart: &[StoreId]) -> Result<Vec<TaskId>, DbError> {
    first_columns(&client.query(sql!("demo/tasks/spent.sql"), &[&begun, &apart]).await?)
}

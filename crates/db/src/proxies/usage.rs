//! Bytes that proxies have carried today, as all processes have written them (`fetch_minute`), and the ends
//! of their days.
//!
//! In: only the tables; midnight is the database's. Out: bytes by proxy, and of all together. It must not
//! know budgets.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio_postgres::Row;

use crate::statements::sql;
use crate::{Client, DbError};
use domain::proxy::{DayUsage, ProxyId, UsageToday};

/// Reads every minute of a day, so it must not run for each request.
pub async fn today(client: &Client) -> Result<UsageToday, DbError> {
    let (mut by_proxy, mut in_all) = (BTreeMap::new(), None);
    for row in &client.query(sql!("proxies/usage.sql"), &[]).await? {
        match row.try_get::<_, Option<ProxyId>>("id")? {
            Some(id) => {
                by_proxy.insert(id, day(row)?);
            }
            None => in_all = Some(day(row)?),
        }
    }
    let in_all = in_all.ok_or_else(|| DbError::Other("the usage of all proxies was not answered".to_owned()))?;
    Ok(UsageToday { by_proxy, in_all })
}

fn day(row: &Row) -> Result<DayUsage, DbError> {
    let left = Duration::try_from_secs_f64(row.try_get("left_s")?).unwrap_or(Duration::ZERO);
    Ok(DayUsage { bytes: row.try_get("bytes")?, left, ends: row.try_get("ends")? })
}

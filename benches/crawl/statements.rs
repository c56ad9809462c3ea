//! Which statements took Postgres' time, by `pg_stat_statements`. It costs time itself: figures taken with it
//! are for profiles only.

use anyhow::Result;
use tokio_postgres::Client;

pub const SETTINGS: [&str; 2] = ["shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track_planning=on"];
const MOST: i64 = 24;
const TOP: &str = "SELECT left(regexp_replace(query, '\\s+', ' ', 'g'), 90), calls, total_exec_time, total_plan_time, wal_bytes::bigint,
       shared_blks_hit + shared_blks_read
  FROM pg_stat_statements
 WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)
 ORDER BY total_exec_time + total_plan_time DESC
 LIMIT $2";

/// Begins to count, or starts again.
pub async fn forget(client: &Client) -> Result<()> {
    client.batch_execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements").await?;
    Ok(client.batch_execute("SELECT pg_stat_statements_reset()").await?)
}

/// Prints the most expensive ones of a database; `per`: how many stores shared them.
pub async fn print(client: &Client, database: &str, per: usize) -> Result<()> {
    let per = per as f64;
    println!("{:>7} {:>8} {:>8} {:>9} {:>9}  a store of {database}", "calls", "ms", "plan ms", "WAL", "buffers");
    for row in client.query(TOP, &[&database, &MOST]).await? {
        let (text, calls, buffers): (String, i64, i64) = (row.try_get(0)?, row.try_get(1)?, row.try_get(5)?);
        let (execution, planning, wal): (f64, f64, i64) = (row.try_get(2)?, row.try_get(3)?, row.try_get(4)?);
        println!(
            "{:>7.2} {:>8.3} {:>8.3} {:>7.0} B {:>9.0}  {text}",
            calls as f64 / per,
            execution / per,
            planning / per,
            wal as f64 / per,
            buffers as f64 / per
        );
    }
    Ok(())
}

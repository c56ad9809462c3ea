//! How late drover renewed its leases in a crawl, by its own metrics.

use anyhow::{Context, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const LATENESS: &str = "drover_heartbeat_late_seconds";
/// How late a renewal may be, in seconds: the bound of a bucket.
const ASKED: &str = "0.05";
const LOST: &str = "drover_tasks_lost_total";
/// Interval at which a crawl of some seconds has many; by default it is half a minute.
pub const INTERVAL: &str = "50ms";

/// A port that is free now, for the worker's metrics.
pub async fn port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0").await?.local_addr()?.port())
}

/// Prints the worker's counts since it started.
pub async fn print(port: u16) -> Result<()> {
    let text = scrape(port).await?;
    let total = value(&text, &format!("{LATENESS}_count")).context("the worker counts no heartbeats")?;
    let bound = |share: f64| {
        let buckets = text.lines().filter_map(bucket);
        let mut within = buckets.filter(|(_, count)| *count >= share * total);
        within.next().map_or("more".to_owned(), |(le, _)| format!("{le} s"))
    };
    let lost = value(&text, LOST).unwrap_or_default();
    let asked = text.lines().filter_map(bucket).find(|(le, _)| *le == ASKED).map_or(0.0, |(_, count)| count);
    println!(
        "heartbeats {total}, late at most: median {}, p99 {}, all {}; within {ASKED} s {:.1} %; leases lost {lost}",
        bound(0.5),
        bound(0.99),
        bound(1.0),
        asked / total * 100.0
    );
    Ok(())
}

async fn scrape(port: u16) -> Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await?;
    Ok(text)
}

/// A bucket's upper bound, and how many are in it or below.
fn bucket(line: &str) -> Option<(&str, f64)> {
    let rest = line.strip_prefix(LATENESS)?.strip_prefix("_bucket{le=\"")?;
    let (le, count) = rest.split_once("\"} ")?;
    Some((le, count.trim().parse().ok()?))
}

fn value(text: &str, name: &str) -> Option<f64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

//! The bare reference: the cost of the same crawl without a queue, without health of proxies and without a
//! second thought.
//!
//! Eight tasks take the next store each, fetch its menu through the proxies page by page, keep the raw
//! answers in a file, and write products and snapshots in one transaction. In: a [`Job`]. It must not know
//! drover.

mod fetch;
mod normalise;
mod wire;
mod write;

use std::io::{BufRead, Lines, StdinLock, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::UNIX_EPOCH;

use anyhow::{Context, Result};
use futures_util::future::try_join_all;
use serde::de::DeserializeOwned;

use crate::peer::{Answer, Job, Order};

const IN_FLIGHT: usize = 8;

/// The process.
pub fn main() -> Result<()> {
    let mut input = std::io::stdin().lock().lines();
    let job: Arc<Job> = Arc::new(read(&mut input)?.context("no job")?);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut writers =
        runtime.block_on(try_join_all((0..IN_FLIGHT).map(|_| write::Writer::connect(&job.database_url))))?;
    send_line(&Answer::Ready)?;
    while let Some(order) = read(&mut input)? {
        writers = runtime.block_on(crawl(&job, writers, order))?;
        send_line(&Answer::Done)?;
    }
    Ok(())
}

async fn crawl(job: &Arc<Job>, writers: Vec<write::Writer>, order: Order) -> Result<Vec<write::Writer>> {
    let next = Arc::new(AtomicUsize::new(0));
    let crawled_at = UNIX_EPOCH.elapsed()?;
    let tasks = writers.into_iter().enumerate().map(|(task, mut writer)| {
        let (job, next) = (Arc::clone(job), Arc::clone(&next));
        tokio::spawn(async move {
            loop {
                let store = next.fetch_add(1, Ordering::Relaxed);
                let Some(id) = job.stores.get(store) else { return anyhow::Ok(writer) };
                let raw = fetch::menu(&job, id, (task + store) % job.proxies.len()).await?;
                let file = format!("{store}-{}.json.gz", crawled_at.as_micros());
                std::fs::write(job.payloads.join(file), raw.concat())?;
                let pages = raw.iter().map(|page| fetch::inflate(page)).collect::<Result<Vec<_>>>()?;
                let products = normalise::menu(&pages)?;
                writer.write(order, store as i32, crawled_at, &products).await?;
            }
        })
    });
    let ended = try_join_all(tasks).await?;
    ended.into_iter().collect()
}

fn read<T: DeserializeOwned>(input: &mut Lines<StdinLock<'static>>) -> Result<Option<T>> {
    let Some(line) = input.next() else { return Ok(None) };
    Ok(Some(serde_json::from_str(&line?)?))
}

fn send_line(answer: &Answer) -> Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, answer)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

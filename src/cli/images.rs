//! `drover images`: downloads images that no refresh has brought yet.

use std::sync::Arc;

use clap::Subcommand;
use serde::Serialize;

use super::progress::CommandProgress;
use super::{CliError, Env, ExitCode, service, values};
use crate::actors::plan::{Plan, PodPlan};
use crate::app::App;
use crate::downloads::{DownloadProgress, DownloadQueue, StoreAsk};
use db::Db;
use db::images::ImageSelection;
use domain::store::StoreId;
use settings::Config;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Download missing product images and brand logos through the proxies
    Backfill(BackfillArgs),
}

#[derive(Debug, clap::Args)]
struct BackfillArgs {
    /// Only products of stores in this state, such as AZ
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Only products of the store with this id
    #[arg(long, value_name = "ID")]
    store: Option<StoreId>,
    /// Maximum number of images
    #[arg(long, value_name = "N", value_parser = values::number(1..=u32::MAX))]
    limit: Option<u32>,
    /// Count the images, and download nothing
    #[arg(long)]
    dry_run: bool,
    /// Also download images that are stored or were given up
    #[arg(long)]
    refetch: bool,
}

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    /// Images to be downloaded.
    wanted: usize,
    #[serde(flatten)]
    progress: DownloadProgress,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let Command::Backfill(args) = args.command;
    let db = if args.dry_run { env.db_to_read().await? } else { env.db().await? };
    let asks = asks(&db, &args).await?;
    let wanted: usize = asks.iter().filter_map(|ask| ask.limit).sum();
    if args.dry_run || wanted == 0 {
        let answer = Answer { dry_run: args.dry_run, wanted, progress: DownloadProgress::default() };
        env.out.either(&answer, text)?;
        return Ok(ExitCode::Ok);
    }
    service::require_proxies(&db).await?;
    backfill(env, db, &asks, wanted).await
}

/// The stores with wanted images, each with the number of images to take.
async fn asks(db: &Db, args: &BackfillArgs) -> anyhow::Result<Vec<StoreAsk>> {
    let client = db.client().await?;
    let stores = db::images::stores(&client, args.state.as_deref(), args.store).await?;
    if stores.is_empty() {
        return Err(CliError::not_found("no such store; `drover stores list` shows all stores").into());
    }
    let kind = if args.refetch { ImageSelection::All } else { ImageSelection::Missing };
    let mut left = args.limit.map_or(usize::MAX, |limit| limit as usize);
    let mut asks = Vec::new();
    for store in stores {
        let images = db::images::of_store_and_brands(&client, store, kind).await?;
        let taken = images.len().min(left);
        left -= taken;
        if taken > 0 {
            asks.push(StoreAsk { store, refetch: args.refetch, limit: Some(taken) });
        }
    }
    Ok(asks)
}

async fn backfill(env: &Env, db: Db, asks: &[StoreAsk], wanted: usize) -> anyhow::Result<ExitCode> {
    let mut config = Config::clone(&env.config);
    config.images.download = true;
    // a pod without workers: the same proxies as tasks have, and no tasks
    let pod = PodPlan { name: "images".to_owned(), workers: Vec::new() };
    let plan = Plan { schedules: false, pods: vec![pod] };
    let app = App::prepare(Arc::new(config), db, env.runtime.clone(), plan).await?.start().await?;
    let bar = CommandProgress::begin(env, "images");
    let answer = match app.downloads() {
        Some(queue) => Answer { dry_run: false, wanted, progress: follow(queue, asks, wanted, &bar).await },
        None => Answer { dry_run: false, wanted, progress: DownloadProgress::default() },
    };
    let is_stopped = bar.is_stopped();
    drop(bar);
    app.stop(std::future::ready(())).await;
    env.out.either(&answer, text)?;
    Ok(match is_stopped {
        true => ExitCode::Interrupted,
        false if answer.progress.failed() + answer.progress.postponed > 0 => ExitCode::PartialFailure,
        false => ExitCode::Ok,
    })
}

/// Returns when all are done, or when a signal asks to stop: then open downloads are left for the next time.
async fn follow(queue: &DownloadQueue, asks: &[StoreAsk], wanted: usize, bar: &CommandProgress) -> DownloadProgress {
    asks.iter().for_each(|ask| queue.ask(*ask));
    bar.set_total(wanted as u64);
    let mut progress = queue.progress();
    let mut shown = 0;
    loop {
        let now = progress.borrow_and_update().clone();
        bar.advance(now.ended() - shown);
        shown = now.ended();
        if now.is_idle() || bar.is_stopped() {
            return now;
        }
        tokio::select! {
            changed = progress.changed() => if changed.is_err() { return now },
            () = bar.until_stopped() => {}
        }
    }
}

fn text(answer: &Answer) -> String {
    let Answer { dry_run, wanted, progress } = answer;
    if *dry_run {
        return format!("{wanted} images would be downloaded");
    }
    if *wanted == 0 {
        return "nothing to download: every image is stored, was given up, or waits for its next try (--refetch downloads all)".to_owned();
    }
    let mut lines =
        vec![format!("{} of {wanted} images stored, {} bytes", progress.stored + progress.found, progress.bytes)];
    lines.extend(progress.failed.iter().map(|(reason, images)| format!("  {images} failed: {reason}")));
    if progress.postponed > 0 {
        lines
            .push(format!("  {} postponed: no proxy, host or disk was available; try again later", progress.postponed));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_download_names_the_flag_that_downloads_all() {
        let answer = Answer { dry_run: false, wanted: 0, progress: DownloadProgress::default() };
        assert!(text(&answer).contains("--refetch"));
    }
}

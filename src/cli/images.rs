//! `drover images`: downloads images that no refresh has brought yet.

use std::collections::HashSet;

use clap::Subcommand;
use serde::Serialize;

use super::progress::CommandProgress;
use super::store_name::{self, StoreName};
use super::{CliError, Env, ExitCode, service, values};
use crate::actors::plan::{Plan, PodPlan};
use crate::app::App;
use crate::downloads::{DownloadProgress, DownloadQueue, StoreAsk};
use crate::stealth::AllowList;
use db::Db;
use db::products::images::{ImageSelection, RefusedImages};
use domain::amounts::counted;
use domain::store::StoreId;
use domain::task::role::RoleSet;
use settings::{Config, LiveConfig};

/// Maximum number of refused hosts that are named.
const MAX_HOSTS: usize = 10;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Download missing product images and brand logos through the proxies
    Backfill(BackfillArgs),
}

#[derive(Debug, clap::Args)]
pub struct BackfillArgs {
    /// Only products of stores in this state, such as AZ
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Only products of the store with this id, slug or name
    #[arg(long, value_name = "STORE", allow_negative_numbers = true)]
    store: Option<StoreName>,
    /// Maximum number of images
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number(1..=u32::MAX))]
    limit: Option<u32>,
    /// Count the missing and the failed images, and download nothing
    #[arg(long)]
    dry_run: bool,
    /// Also download images that are stored, wait for their next try, or were given up
    #[arg(long)]
    refetch: bool,
}

#[derive(Serialize)]
struct Answer {
    dry_run: bool,
    /// Images to be downloaded.
    wanted: usize,
    /// Failed images beside these; None with `--refetch`, which downloads them.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<LeftOut>,
    #[serde(flatten)]
    progress: DownloadProgress,
}

#[derive(Serialize)]
struct LeftOut {
    /// Images whose next try is not due yet.
    waiting: i64,
    /// Images that are not tried again until their addresses change.
    given_up: i64,
    /// Images that hosts refuse which are not permitted, the most frequent host first.
    refused: Vec<RefusedHost>,
}

#[derive(Serialize)]
struct RefusedHost {
    host: String,
    /// The host is permitted, and redirects to one that is not.
    redirects: bool,
    images: i64,
}

impl From<RefusedImages> for RefusedHost {
    fn from(RefusedImages { host, redirects, images }: RefusedImages) -> Self {
        RefusedHost { host, redirects, images }
    }
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    let Command::Backfill(args) = command;
    let db = if args.dry_run { env.db_to_read().await? } else { env.db().await? };
    let store = store_name::id_of(args.store.as_ref(), &env.api_to_read().await?).await?;
    let permitted = AllowList::new(env.config.image_hosts());
    let (asks, wanted) = asks(&db, &args, store, &permitted).await?;
    let left_out = if args.refetch { None } else { Some(left_out(&db, &args, store, &permitted).await?) };
    if args.dry_run || wanted == 0 {
        let answer = Answer { dry_run: args.dry_run, wanted, left_out, progress: DownloadProgress::default() };
        env.out.either(&answer, text)?;
        return Ok(ExitCode::Ok);
    }
    service::require_proxies(&db).await?;
    let progress = backfill(env, db, &asks, wanted).await?;
    let answer = Answer { dry_run: false, wanted, left_out, progress: progress.downloads };
    env.out.either(&answer, text)?;
    Ok(match progress.is_stopped {
        true => ExitCode::Interrupted,
        false if answer.progress.failed() + answer.progress.postponed > 0 => ExitCode::PartialFailure,
        false => ExitCode::Ok,
    })
}

async fn left_out(
    db: &Db,
    args: &BackfillArgs,
    store: Option<StoreId>,
    permitted: &AllowList,
) -> anyhow::Result<LeftOut> {
    let is_permitted = |address: &str| permitted.permits(address);
    let found =
        db::products::images::left_out(&db.client().await?, args.state.as_deref(), store, &is_permitted).await?;
    let refused = found.refused.into_iter().map(RefusedHost::from).collect();
    Ok(LeftOut { waiting: found.waiting, given_up: found.given_up, refused })
}

/// The stores with wanted images, and the number of all these images. A logo belongs to the first store that has it.
async fn asks(
    db: &Db,
    args: &BackfillArgs,
    store: Option<StoreId>,
    permitted: &AllowList,
) -> anyhow::Result<(Vec<StoreAsk>, usize)> {
    let client = db.client().await?;
    let stores = db::products::images::stores(&client, args.state.as_deref(), store).await?;
    if stores.is_empty() {
        return Err(CliError::not_found("no such store; `drover stores list` shows all stores").into());
    }
    let kind = if args.refetch { ImageSelection::All } else { ImageSelection::Missing };
    let is_permitted = |address: &str| permitted.permits(address);
    let most = args.limit.map_or(usize::MAX, |limit| limit as usize);
    let mut seen = HashSet::new();
    let (mut asks, mut wanted) = (Vec::new(), 0);
    for store in stores {
        let images = db::products::images::of_store_and_brands(&client, store, kind, &is_permitted).await?;
        let new = images.iter().filter(|image| seen.insert(image.owner)).count();
        let taken = new.min(most - wanted);
        wanted += taken;
        if taken > 0 {
            asks.push(StoreAsk { store, refetch: args.refetch, limit: args.limit.map(|_| taken) });
        }
    }
    Ok((asks, wanted))
}

/// How far a backfill came.
struct Backfill {
    downloads: DownloadProgress,
    is_stopped: bool,
}

async fn backfill(env: &Env, db: Db, asks: &[StoreAsk], wanted: usize) -> anyhow::Result<Backfill> {
    let mut config = Config::clone(&env.config);
    config.images.download = true;
    // a pod without workers: the same proxies as tasks have, and no tasks
    let pod = PodPlan { name: "images".to_owned(), roles: RoleSet::any(), workers: 0 };
    let plan = Plan { pods: vec![pod], ..Plan::default() };
    let app = App::prepare(LiveConfig::fixed(config), db, env.runtime.clone(), plan).await?.start().await?;
    let bar = CommandProgress::begin(env, "images");
    let downloads = match app.downloads() {
        Some(queue) => follow(queue, asks, wanted, &bar).await,
        None => DownloadProgress::default(),
    };
    let is_stopped = bar.is_stopped();
    drop(bar);
    app.stop(std::future::ready(())).await;
    Ok(Backfill { downloads, is_stopped })
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
    let Answer { dry_run, wanted, left_out, progress } = answer;
    let mut lines = match (dry_run, wanted) {
        (true, _) => vec![format!("{} would be downloaded", counted(*wanted, "image"))],
        (false, 0) if left_out.is_none() => vec!["nothing to download: no product has an image".to_owned()],
        (false, 0) if left_out.as_ref().is_some_and(LeftOut::is_empty) => {
            vec!["nothing to download: every image is stored (--refetch downloads all)".to_owned()]
        }
        (false, 0) => vec!["nothing to download: all other images are stored".to_owned()],
        (false, _) => downloaded(*wanted, progress),
    };
    lines.extend(left_out.iter().flat_map(LeftOut::lines));
    lines.join("\n")
}

fn downloaded(wanted: usize, progress: &DownloadProgress) -> Vec<String> {
    let mut lines = vec![format!(
        "{} of {} stored, {}",
        progress.stored + progress.found,
        counted(wanted, "image"),
        counted(progress.bytes, "byte")
    )];
    lines.extend(progress.failed.iter().map(|(reason, images)| format!("  {images} failed: {reason}")));
    if progress.postponed > 0 {
        lines
            .push(format!("  {} postponed: no proxy, host or disk was available; try again later", progress.postponed));
    }
    lines
}

impl LeftOut {
    fn is_empty(&self) -> bool {
        self.waiting + self.given_up == 0 && self.refused.is_empty()
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.waiting > 0 {
            lines.push(format!("  {} failed before; the next attempt is not due yet", counted(self.waiting, "image")));
        }
        if self.given_up > 0 {
            lines.push(format!("  {} given up", counted(self.given_up, "image")));
        }
        let refused = self.refused.iter().take(MAX_HOSTS);
        lines.extend(refused.map(|it| {
            let fault = if it.redirects { "redirects to a host that is not permitted" } else { "is not permitted" };
            format!("  {} refused: {} {fault}", counted(it.images, "image"), it.host)
        }));
        if self.refused.len() > MAX_HOSTS {
            lines.push(format!("  and images of {} refused as well", counted(self.refused.len() - MAX_HOSTS, "host")));
        }
        if !self.refused.is_empty() {
            lines.push("once a host is in the image_hosts of a platform (platform.<name>.image_hosts), this command downloads its images".to_owned());
        }
        if self.waiting + self.given_up > 0 || self.refused.iter().any(|it| it.redirects) {
            lines.push("--refetch downloads all images that are not refused, the stored ones too".to_owned());
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dry_run(left_out: LeftOut) -> String {
        text(&Answer { dry_run: true, wanted: 0, left_out: Some(left_out), progress: DownloadProgress::default() })
    }

    #[test]
    fn images_that_are_left_out_are_counted_with_the_flag_that_downloads_them() {
        let waiting = dry_run(LeftOut { waiting: 3, given_up: 1, refused: Vec::new() });
        assert_eq!(
            waiting,
            "0 images would be downloaded\n  3 images failed before; the next attempt is not due yet\n  1 image given up\n\
             --refetch downloads all images that are not refused, the stored ones too"
        );
        assert_eq!(dry_run(LeftOut { waiting: 0, given_up: 0, refused: Vec::new() }), "0 images would be downloaded");
    }

    #[test]
    fn a_refused_host_is_named_with_the_setting_that_permits_it() {
        let refused = vec![RefusedHost { host: "cdn.test".to_owned(), redirects: false, images: 7 }];
        let said = dry_run(LeftOut { waiting: 0, given_up: 0, refused });
        assert!(said.contains("7 images refused: cdn.test is not permitted"), "{said}");
        assert!(said.contains("platform.<name>.image_hosts") && !said.contains("--refetch"), "{said}");
    }
}

//! The bodies of media jobs, one file a job type, and what they share.
//!
//! In: a run's [`Context`], with [`MediaServices`]. Out: items, files and the rows of what is watched. They
//! must not know menu platforms.

pub mod appearances_sync;
pub mod download_media;
pub mod easynews_monitor;
pub mod forum_scrape;
pub mod paid_content_creator;
pub mod paid_content_sync;
pub mod scrape_account;
pub mod youtube_monitor;

mod account_scrape;
mod cookie_file;
mod forum_session;
mod item_download;
mod monitor;
mod report;
mod scraped_files;
mod tool_proxy;
mod wait;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::task::spawn_blocking;

use super::{Context, stopped};
use crate::stealth::ProxySource;
use ::media::tool::sweep;
use public_http::Http;
use queue::{TaskError, WriteResults};
use settings::Config;
use storage::{MediaFiles, Payloads};

/// Dependencies that all media jobs of a process share.
pub struct MediaServices {
    /// Client for files on hosts that strangers name: no stranger may change the limits of a host.
    pub strangers: Http,
    pub files: MediaFiles,
    pub config: settings::Media,
    /// None: tools reach their sites directly.
    pub tool_proxies: Option<Arc<dyn ProxySource>>,
    /// Directory of files until they are whole.
    pub work_dir: PathBuf,
}

impl MediaServices {
    pub fn new(config: &Config, payloads: &Payloads, strangers: Http, proxies: Arc<dyn ProxySource>) -> Self {
        MediaServices {
            strangers,
            files: MediaFiles::beside(payloads),
            config: config.media.clone(),
            tool_proxies: config.media.use_proxies.then_some(proxies),
            work_dir: config.media_work_dir(),
        }
    }
}

/// How long a part of a file stays for the next attempt.
const KEEP_PARTS: Duration = Duration::from_secs(24 * 3600);

/// Ends the tools that dead processes left on this machine, and removes work directories that no run has used for
/// a day; returns how many.
pub async fn sweep_work(config: &Config) -> Result<u64, TaskError> {
    let root = config.media_work_dir();
    let swept = spawn_blocking(move || root.is_dir().then(|| sweep(&root, KEEP_PARTS))).await;
    let swept = swept.map_err(|lost| TaskError::retry(lost.to_string()))?.unwrap_or_default();
    match swept.failures.first() {
        Some(error) => Err(TaskError::retry(error.to_string())),
        None => Ok(swept.removed as u64),
    }
}

/// An object of these fields.
fn fields<const N: usize>(named: [(&str, Value); N]) -> Map<String, Value> {
    named.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Results of a credential's last use.
const CREDENTIAL_WORKS: &str = "works";
const CREDENTIAL_REFUSED: &str = "the service refuses it";

/// The end of a job whose credential its service refuses, which is marked first.
async fn refused_credential(ctx: &Context, id: i64, error: &impl ToString) -> TaskError {
    let marked = ctx.save(id, |id, tx| {
        Box::pin(async move {
            db::access::credentials::note_result(tx, *id, CREDENTIAL_REFUSED).await?;
            Ok(WriteResults::default())
        })
    });
    match marked.await {
        Ok(_) => TaskError::permanent(error.to_string()),
        Err(error) => error.into(),
    }
}

/// The result of `work`, unless the run is stopped from outside before.
pub(super) async fn unless_stopped<T>(ctx: &Context, work: impl Future<Output = T>) -> Result<T, TaskError> {
    tokio::select! {
        result = work => Ok(result),
        () = ctx.cancelled() => Err(stopped()),
    }
}

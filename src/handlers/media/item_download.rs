//! One item: its file from the own downloader or, for a page, from yt-dlp; then into the storage.
//!
//! In: an item. Out: how the attempt ended. The file is durable before its end is known to the caller, who
//! writes the row. A part stays in the item's work directory for the next attempt; what will never come
//! leaves nothing there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::spawn_blocking;
use url::Url;

use super::cookie_file::CookieFile;
use super::tool_proxy::{self, ToolProxy};
use super::wait::Wait;
use super::{MediaServices, easynews_monitor, forum_scrape, stopped, unless_stopped};
use crate::handlers::Context;
use ::media::Verdict;
use ::media::content::Content;
use ::media::download::{Download, DownloadError, download};
use ::media::tool::{self, How, WorkDirectory, WorkDirectoryError};
use ::media::yt_dlp::{self, Line, ScriptRuntime};
use db::access;
use domain::media::item::{Item, ItemEnd, ItemKind, StoredFile};
use domain::task::disposition::{Disposition, HasDisposition};
use foundation::digest::sha256_of_file;
use public_http::{HttpError, Secrets};
use queue::TaskError;
use storage::StorageError;

/// How long a job waits for an item that another run downloads.
const WAIT_FOR_OTHER_RUN: Duration = Duration::from_secs(60);

/// Why an attempt says nothing of its item.
pub enum ItemError {
    Wait(Wait),
    /// No item can be downloaded now.
    Task(TaskError),
}

/// How a service is asked for a file.
pub struct ServiceAccess {
    pub secrets: Option<Secrets>,
    /// Minimum time between two requests to it.
    pub min_interval: Duration,
}

/// How far an item is, and which of a job's items it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemProgress {
    /// Items that were tried before it.
    pub before: usize,
    /// Items of the job.
    pub items: usize,
    /// Bytes that are there.
    pub bytes: u64,
    /// None: its server does not say it.
    pub total: Option<u64>,
}

impl ItemProgress {
    fn note(of: &watch::Sender<ItemProgress>, bytes: u64, total: Option<u64>) {
        of.send_modify(|received| (received.bytes, received.total) = (bytes, total));
    }
}

pub async fn run(ctx: &Context, item: &Item, received: &watch::Sender<ItemProgress>) -> Result<ItemEnd, ItemError> {
    let Ok(url) = Url::parse(&item.url) else { return Ok(refused("its address is not a URL")) };
    let directory = lock(&ctx.services.media, format!("item-{}", item.id)).await?;
    let end = match item.kind {
        ItemKind::File => download_file(ctx, item, url, directory.path(), received).await,
        ItemKind::Page => download_page(ctx, item, &url, &directory, received).await,
    };
    leave(ctx, directory, matches!(end, Ok(ItemEnd::Failed { .. }) | Err(_))).await;
    end
}

/// Frees a directory. Its files stay where another attempt is to continue with them, unless the task was cancelled.
pub async fn leave(ctx: &Context, directory: WorkDirectory, keeps_files: bool) {
    if keeps_files && !(ctx.is_cancelled() && ctx.is_over().await) {
        return;
    }
    // a chore removes what stays
    let _ = spawn_blocking(move || directory.remove()).await;
}

/// Locks a work directory. Where another run has it, the job waits.
pub async fn lock(media: &MediaServices, name: String) -> Result<WorkDirectory, ItemError> {
    let root = media.work_dir.clone();
    match spawn_blocking(move || WorkDirectory::lock(&root, &name)).await {
        Ok(Ok(directory)) => Ok(directory),
        Ok(Err(error @ WorkDirectoryError::InUse(_))) => {
            Err(ItemError::Wait(Wait::new(error.to_string(), Some(WAIT_FOR_OTHER_RUN))))
        }
        Ok(Err(error)) => Err(ItemError::Task(TaskError::retry(error.to_string()))),
        Err(lost) => Err(ItemError::Task(TaskError::retry(lost.to_string()))),
    }
}

async fn download_file(
    ctx: &Context,
    item: &Item,
    url: Url,
    directory: &Path,
    received: &watch::Sender<ItemProgress>,
) -> Result<ItemEnd, ItemError> {
    let media = &ctx.services.media;
    let access = match item.source.as_str() {
        easynews_monitor::SOURCE => easynews_monitor::access(ctx, &url).await,
        source => forum_scrape::access(ctx, source, &url).await,
    };
    let access = access.map_err(ItemError::Task)?;
    let http = if access.is_some() { &ctx.services.http } else { &media.strangers };
    let min_interval = access.as_ref().map_or(Duration::ZERO, |access| access.min_interval);
    let ask = Download {
        url,
        referer: item.referer.clone(),
        secrets: access.and_then(|access| access.secrets),
        min_interval,
        part: directory.join("part"),
        max_bytes: media.config.max_file_bytes as u64,
    };
    let work = download(http, &ask, |bytes, total| ItemProgress::note(received, bytes, total));
    match unless_stopped(ctx, work).await.map_err(ItemError::Task)? {
        Ok(whole) => store(media, WholeFile::new(ask.part, whole.sha256, whole.bytes)).await,
        Err(error) => end_of(error),
    }
}

fn end_of(error: DownloadError) -> Result<ItemEnd, ItemError> {
    let (reason, disposition) = (error.to_string(), error.disposition());
    match (error, disposition) {
        (DownloadError::Gone(_), _) => Ok(ItemEnd::Gone { reason }),
        (DownloadError::Wait { after, .. }, _) => Err(ItemError::Wait(Wait::new(reason, after))),
        (DownloadError::Http(HttpError::Held(held)), _) => Err(ItemError::Wait(held.into())),
        (error @ DownloadError::Disk { .. }, _) => Err(ItemError::Task(error.into())),
        (_, Disposition::Permanent) => Ok(ItemEnd::Refused { reason }),
        _ => Ok(ItemEnd::Failed { reason }),
    }
}

async fn download_page(
    ctx: &Context,
    item: &Item,
    url: &Url,
    directory: &WorkDirectory,
    received: &watch::Sender<ItemProgress>,
) -> Result<ItemEnd, ItemError> {
    let media = &ctx.services.media;
    if let Err(error) = media.strangers.check(url).await {
        return Ok(end_of_check(&error));
    }
    let cookies = cookies(ctx, item, url, directory.path()).await.map_err(ItemError::Task)?;
    let proxy = tool_proxy::lease(ctx, url).await.map_err(ItemError::Task)?;
    let is_there = |program: &str| tool::find(program.as_ref(), media.config.tool_path.as_ref()).is_some();
    let ask = yt_dlp::Download {
        address: url.as_str(),
        work: directory.path(),
        max_bytes: media.config.max_file_bytes as u64,
        login: None,
        cookies: cookies.as_ref().map(CookieFile::path),
        proxy: proxy.as_ref().map(ToolProxy::address),
        has_ffmpeg: is_there("ffmpeg"),
        script_runtime: script_runtime(is_there),
    };
    let mut command = match ask.command(&media.config.yt_dlp) {
        Ok(command) => command,
        Err(error) => return Ok(refused(error)),
    };
    command.search_path = media.config.tool_path.clone().into();
    command.secrets.extend(cookies.iter().flat_map(|cookies| cookies.secrets().to_owned()));
    let (sender, lines) = tool::lines();
    let run = tool::run(command, directory, sender, ctx.cancelled());
    let (ended, found) = tokio::join!(run, read_lines(lines, directory.path(), received));
    let ended = ended.map_err(|error| ItemError::Task(error.into()))?;
    if ended.how == How::Cancelled {
        return Err(ItemError::Task(stopped()));
    }
    if let Some(proxy) = proxy {
        proxy.report(ctx, yt_dlp::error_message(&ended).filter(|_| found.is_none()));
    }
    let reason = || yt_dlp::error_message(&ended).unwrap_or_else(|| format!("yt-dlp brought no file: {}", ended.how));
    match (yt_dlp::verdict(&ended, found.is_some()), found) {
        (Verdict::Done, Some(item)) => {
            let found = unless_stopped(ctx, WholeFile::of_tool(*item)).await.map_err(ItemError::Task)?;
            store(media, found.map_err(ItemError::Task)?).await
        }
        (Verdict::Permanent { .. }, _) => Ok(refused(reason())),
        _ => Ok(ItemEnd::Failed { reason: reason() }),
    }
}

/// The account's cookies for the page's host. A password has no host, and so it is not for a page.
async fn cookies(ctx: &Context, item: &Item, url: &Url, work: &Path) -> Result<Option<CookieFile>, TaskError> {
    let (Some(id), Some(platform)) = (item.credential_id, &item.platform) else { return Ok(None) };
    let client = ctx.services.db.client().await?;
    let login = access::credentials::open_for(&client, id, platform, &ctx.services.keys).await?;
    drop(client);
    CookieFile::write(work, &login, url)
}

fn end_of_check(error: &HttpError) -> ItemEnd {
    match error.disposition() {
        Disposition::Permanent => refused(error),
        _ => ItemEnd::Failed { reason: error.to_string() },
    }
}

fn script_runtime(is_there: impl Fn(&'static str) -> bool) -> Option<ScriptRuntime> {
    match (is_there("deno"), is_there("node")) {
        (true, _) => Some(ScriptRuntime::Deno),
        (_, true) => Some(ScriptRuntime::Node),
        _ => None,
    }
}

/// The last item that the tool named. Lines that are neither an item nor progress say nothing.
async fn read_lines(
    mut lines: mpsc::Receiver<Vec<u8>>,
    work: &Path,
    received: &watch::Sender<ItemProgress>,
) -> Option<Box<yt_dlp::Item>> {
    let mut found = None;
    while let Some(line) = lines.recv().await {
        match Line::read(&line, work) {
            Ok(Line::Progress { bytes, total }) => ItemProgress::note(received, bytes, total),
            Ok(Line::Item(item)) => found = Some(item),
            Err(_) => {}
        }
    }
    found
}

/// A file in a work directory that is whole.
struct WholeFile {
    file: PathBuf,
    sha256: String,
    bytes: u64,
    width: Option<u32>,
    height: Option<u32>,
    duration_ms: Option<u64>,
}

impl WholeFile {
    fn new(file: PathBuf, sha256: String, bytes: u64) -> WholeFile {
        WholeFile { file, sha256, bytes, width: None, height: None, duration_ms: None }
    }

    async fn of_tool(item: yt_dlp::Item) -> Result<WholeFile, TaskError> {
        let yt_dlp::Item { path, width, height, duration, .. } = item;
        Ok(WholeFile { width, height, duration_ms: duration, ..WholeFile::read(path).await? })
    }

    /// A file that a tool has made.
    async fn read(file: PathBuf) -> Result<WholeFile, TaskError> {
        let path = file.clone();
        let digest =
            spawn_blocking(move || sha256_of_file(&path)).await.map_err(|lost| TaskError::retry(lost.to_string()))?;
        let unreadable = |error| TaskError::retry(format!("the file of the tool cannot be read: {error}"));
        let (bytes, sha256) = digest.map_err(unreadable)?;
        Ok(WholeFile::new(file, sha256, bytes))
    }
}

/// Moves a file that a tool has made into the storage; a page in place of one is refused.
pub async fn store_tool_file(ctx: &Context, file: PathBuf) -> Result<ItemEnd, ItemError> {
    let found = unless_stopped(ctx, WholeFile::read(file)).await.map_err(ItemError::Task)?;
    store(&ctx.services.media, found.map_err(ItemError::Task)?).await
}

/// Stores the file, also where the run is stopped: one that has moved and has no row would be downloaded again.
async fn store(media: &MediaServices, found: WholeFile) -> Result<ItemEnd, ItemError> {
    let file = found.file.clone();
    let content = spawn_blocking(move || Content::of_file(&file)).await;
    let content = content.map_err(|lost| lost.to_string()).and_then(|read| read.map_err(|error| error.to_string()));
    let content = content.map_err(|reason| ItemError::Task(TaskError::retry(reason)))?;
    if content.is_page() {
        return Ok(refused(DownloadError::Page));
    }
    let stored = media.files.store(&found.file, &found.sha256, content.extension).await;
    let path = stored.map_err(|error: StorageError| ItemError::Task(error.into()))?;
    Ok(ItemEnd::Downloaded(StoredFile {
        sha256: found.sha256,
        path,
        bytes: i64::try_from(found.bytes).unwrap_or(i64::MAX),
        media_type: content.media_type.to_owned(),
        width: found.width.and_then(|pixels| i32::try_from(pixels).ok()),
        height: found.height.and_then(|pixels| i32::try_from(pixels).ok()),
        duration_ms: found.duration_ms.and_then(|time| i64::try_from(time).ok()),
    }))
}

fn refused(reason: impl ToString) -> ItemEnd {
    ItemEnd::Refused { reason: reason.to_string() }
}

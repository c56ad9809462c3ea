//! One account: its media by gallery-dl, into the storage and the tables of media.
//!
//! In: an account. Out: a file for each content, an item for each file, an item of the kind page for each address
//! that the tool does not know, and the end of the scrape in the account's row. What has its row is not downloaded
//! again: the tool's archive is written from the rows. Files are durable before their rows, and rows are saved while
//! the tool continues.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::json;
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::cookie_file::CookieFile;
use super::item_download::{self, ItemError};
use super::scraped_files::{Note, ScrapedFiles};
use super::tool_proxy::{self, ToolProxy};
use super::{CREDENTIAL_REFUSED, fields, stopped};
use crate::handlers::Context;
use ::media::gallery_dl::{self, Archive, Credential, ItemId, ScrapeType, Secret};
use ::media::tool::{self, Ended, WorkDirectory};
use ::media::{Login, Verdict};
use db::access;
use db::access::credentials::OpenCredential;
use db::media::accounts::ScrapedAccount;
use domain::credential::CredentialKind;
use domain::media::account::{AccountKind, check_platform, check_username, web_address};
use domain::media::item::{ItemId as FileId, ItemKind, NewItem};
use domain::vocabulary::Word;
use foundation::digest::sha256_hex;
use queue::{Outcome, TaskError};

/// Maximum number of files of an account that the tool knows; older ones of a larger account may come again.
const MAX_KNOWN: usize = 1_000_000;
const ARCHIVE: &str = "archive.sqlite3";
/// Maximum size of the list of addresses that the tool does not know.
const MAX_UNSUPPORTED_BYTES: u64 = 4 << 20;
/// Number of digits of a digest in the name of a work directory.
const NAME_DIGITS: usize = 32;

/// The account of a scrape.
pub struct Account {
    pub platform: String,
    pub username: String,
    pub kind: AccountKind,
    /// None: it is added with the first of its items.
    row: Option<ScrapedAccount>,
}

impl Account {
    pub fn of_row(row: ScrapedAccount) -> Account {
        let ScrapedAccount { platform, username, kind, .. } = row.clone();
        Account { platform, username, kind, row: Some(row) }
    }

    pub fn without_row(platform: &str, username: &str) -> Account {
        let (platform, username) = (platform.to_owned(), username.to_owned());
        Account { platform, username, kind: AccountKind::Public, row: None }
    }

    pub fn has_row(&self) -> bool {
        self.row.is_some()
    }

    /// Address as the tool takes it, and the address of the web in it.
    fn address(&self, config: &settings::Media) -> Result<(String, Url), TaskError> {
        let Account { platform, username, .. } = self;
        check_platform(platform).map_err(|fault| TaskError::permanent(format!("the job's platform {fault}")))?;
        check_username(username).map_err(|fault| TaskError::permanent(format!("the account's name {fault}")))?;
        let own = self.row.as_ref().and_then(|row| row.url.clone());
        let of_platform = || config.platforms.get(platform).map(|of| of.url.of(username));
        let address = own.or_else(of_platform).ok_or_else(|| {
            TaskError::permanent(format!(
                "the address of accounts on {platform} is unknown: set media.platforms.{platform}.url, or give the account an address with `drover media set accounts ID url=…`"
            ))
        })?;
        match web_address(&address) {
            Ok(url) => Ok((address, url)),
            Err(fault) => Err(TaskError::permanent(format!("the account's address {fault}"))),
        }
    }

    /// Name of the work directory; a name from a stranger must not name a directory.
    fn work_name(&self) -> String {
        let digest = sha256_hex(format!("{}/{}", self.platform, self.username));
        format!("account-{}", &digest[..NAME_DIGITS])
    }
}

pub async fn run(ctx: &Context, account: Account, scrape_type: ScrapeType) -> Result<Outcome, TaskError> {
    let media = &ctx.services.media;
    let (address, url) = account.address(&media.config)?;
    ctx.services.http.check(&url).await?;
    let login = login(ctx, &account).await?;
    let directory = item_download::lock(media, account.work_name()).await.map_err(end_of_lock)?;
    let scraped = scrape(ctx, account, scrape_type, &directory, login, (address, url)).await;
    item_download::leave(ctx, directory, scraped.is_err()).await;
    scraped
}

async fn scrape(
    ctx: &Context,
    account: Account,
    scrape_type: ScrapeType,
    directory: &WorkDirectory,
    login: Option<OpenCredential>,
    (address, url): (String, Url),
) -> Result<Outcome, TaskError> {
    let media = &ctx.services.media;
    let cookies = login.as_ref().map(|login| CookieFile::write(directory.path(), login, &url)).transpose()?.flatten();
    let secret = login.as_ref().map(|login| secret(login, cookies.as_ref(), &url)).transpose()?;
    let proxy = tool_proxy::lease(ctx, &url).await?;
    let known = write_archive(ctx, &account, scrape_type, &url, directory).await?;
    let scrape = gallery_dl::Scrape {
        addresses: std::slice::from_ref(&address),
        scrape_type: known.scrape_type,
        work: directory.path(),
        archive: &known.archive,
        credential: secret.map(|secret| Credential { category: account.platform.clone(), secret }),
        proxy: proxy.as_ref().map(ToolProxy::address),
        wait_after_429: gallery_dl::DEFAULT_WAIT_AFTER_429,
    };
    let mut command =
        scrape.command(&media.config.gallery_dl).map_err(|error| TaskError::permanent(error.to_string()))?;
    command.search_path = media.config.tool_path.clone().into();
    command.limits.file_size = media.config.max_file_bytes as u64;

    let mut files = ScrapedFiles::new(ctx, account, url, directory.path().to_owned(), known.has_ownerless);
    let (sender, lines) = tool::lines();
    let fault = CancellationToken::new();
    let cancelled = async {
        tokio::select! {
            () = ctx.cancelled() => {}
            () = fault.cancelled() => {}
        }
    };
    let read = async {
        let read = files.read(lines).await;
        if read.is_err() {
            fault.cancel();
        }
        read
    };
    let (ended, read) = tokio::join!(tool::run(command, directory, sender, cancelled), read);
    if ctx.is_cancelled() {
        files.save(None).await?;
        return Err(stopped());
    }
    if let Err(error) = read {
        return Err(failed(files, error).await);
    }
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => return Err(failed(files, TaskError::from(error)).await),
    };
    if let Some(proxy) = proxy {
        proxy.report(ctx, gallery_dl::error_message(&ended).filter(|_| !files.has_some()));
    }
    finish(files, ended, login, directory).await
}

async fn finish(
    mut files: ScrapedFiles<'_>,
    ended: Ended,
    login: Option<OpenCredential>,
    directory: &WorkDirectory,
) -> Result<Outcome, TaskError> {
    let reason = gallery_dl::error_message(&ended)
        .unwrap_or_else(|| format!("gallery-dl ended without any output: {}", ended.how));
    let verdict = match gallery_dl::verdict(&ended, files.has_some()) {
        Verdict::Retry if login.is_some() && gallery_dl::is_refused(&ended) => Verdict::Permanent { login: true },
        verdict => verdict,
    };
    match verdict {
        Verdict::Done => {
            let pages = pages(&files.account.platform, directory.path()).await?;
            let is_whole = gallery_dl::is_whole(&ended);
            let note = Note {
                is_whole,
                error: (!is_whole).then_some(reason),
                // a scrape that brought nothing says nothing of it
                credential: login.filter(|_| files.has_some()).map(|login| (login.id, super::CREDENTIAL_WORKS)),
            };
            Ok(files.end(note, pages).into())
        }
        Verdict::Permanent { login: true } => {
            let credential = login.map(|login| (login.id, CREDENTIAL_REFUSED));
            files.save(Some(Note { is_whole: false, error: Some(reason.clone()), credential })).await?;
            Err(TaskError::permanent(reason))
        }
        Verdict::Permanent { login: false } => Err(failed(files, TaskError::permanent(reason)).await),
        Verdict::Retry => Err(failed(files, TaskError::retry(reason)).await),
    }
}

/// Writes in the account's row why the scrape failed.
async fn failed(mut files: ScrapedFiles<'_>, error: TaskError) -> TaskError {
    let note = Note { is_whole: false, error: Some(error.to_string()), credential: None };
    match files.save(Some(note)).await {
        Ok(()) => error,
        Err(not_saved) => not_saved.into(),
    }
}

fn end_of_lock(error: ItemError) -> TaskError {
    match error {
        ItemError::Wait(wait) => wait.into(),
        ItemError::Task(error) => error,
    }
}

async fn login(ctx: &Context, account: &Account) -> Result<Option<OpenCredential>, TaskError> {
    let Some(id) = account.row.as_ref().and_then(|row| row.credential_id) else { return Ok(None) };
    let client = ctx.services.db.client().await?;
    Ok(Some(access::credentials::open_for(&client, id, &account.platform, &ctx.services.keys).await?))
}

fn secret(login: &OpenCredential, cookies: Option<&CookieFile>, url: &Url) -> Result<Secret, TaskError> {
    let secret = login.secret.clone();
    match (&login.kind, cookies) {
        (_, Some(cookies)) => {
            Ok(Secret::Cookies { file: cookies.path().to_owned(), secrets: cookies.secrets().to_owned() })
        }
        (Word::Known(CredentialKind::Password), _) => {
            let username = login.username.clone().unwrap_or_default();
            Ok(Secret::Login(Login { username, password: secret }))
        }
        (Word::Known(CredentialKind::Token), _) => Ok(Secret::Token(secret)),
        (Word::Known(CredentialKind::Cookies), None) => {
            let host = url.host_str().unwrap_or_default();
            Err(TaskError::permanent(format!("the account's credential has no cookie for {host}")))
        }
        (other, _) => Err(TaskError::permanent(format!("a scrape takes a password, cookies or a token, not {other}"))),
    }
}

struct KnownToTool {
    archive: PathBuf,
    scrape_type: ScrapeType,
    /// No account owns some of the files.
    has_ownerless: bool,
}

/// Writes the tool's archive. That of a dead run may know files whose rows were not saved.
async fn write_archive(
    ctx: &Context,
    account: &Account,
    wanted: ScrapeType,
    url: &Url,
    directory: &WorkDirectory,
) -> Result<KnownToTool, TaskError> {
    let path = directory.path().join(ARCHIVE);
    let left = path.clone();
    let (archive, was_cut_off) = on_disk(move || begin_archive(&left)).await?;
    // a scrape that was cut off has left gaps behind what is known
    let has_gaps = was_cut_off || account.row.as_ref().is_none_or(|row| !row.is_whole);
    let scrape_type = if has_gaps { ScrapeType::Full } else { wanted };
    let sources = sources(account, url);
    // files that others showed would end a recent scrape before its own are seen
    let sources = if scrape_type == ScrapeType::Full { &sources[..] } else { &[] };
    let has_ownerless = fill(ctx, archive, account, sources).await?;
    Ok(KnownToTool { archive: path, scrape_type, has_ownerless })
}

/// Adds the files that are known; returns whether some have no owner.
async fn fill(ctx: &Context, mut archive: Archive, account: &Account, sources: &[String]) -> Result<bool, TaskError> {
    let id = account.row.as_ref().map(|row| row.id);
    let (mut before, mut known, mut has_ownerless) = (FileId::MAX, 0, false);
    while known < MAX_KNOWN {
        let client = ctx.services.db.client().await?;
        let files = db::media::accounts::known_files(&client, id, sources, before).await?;
        drop(client);
        let Some(last) = files.last() else { break };
        (before, known) = (last.id, known + files.len());
        has_ownerless |= files.iter().any(|file| file.is_ownerless);
        archive = on_disk(move || {
            archive.add(files.iter().map(|file| ItemId::entry(&file.source, &file.source_id)))?;
            Ok(archive)
        })
        .await?;
    }
    Ok(has_ownerless)
}

/// Names that the account's site may have as a source: the tool calls one that it does not know after its host.
fn sources(account: &Account, url: &Url) -> Vec<String> {
    let host = url.host_str().unwrap_or_default();
    let host_and_port = url.port().map(|port| format!("{host}:{port}"));
    [account.platform.clone(), host.to_owned()].into_iter().chain(host_and_port).collect()
}

fn begin_archive(path: &Path) -> io::Result<(Archive, bool)> {
    let was_cut_off = path.exists();
    for left in [path.with_extension("sqlite3-journal"), path.with_file_name(gallery_dl::UNSUPPORTED_FILE)] {
        match std::fs::remove_file(left) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok((Archive::create(path)?, was_cut_off))
}

async fn on_disk<T: Send + 'static>(write: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, TaskError> {
    let written = spawn_blocking(write).await.map_err(|lost| TaskError::retry(lost.to_string()))?;
    written.map_err(|error| TaskError::retry(format!("the archive cannot be written: {error}")))
}

/// Addresses that the tool found and does not know, as items that another tool may download.
async fn pages(platform: &str, work: &Path) -> Result<Vec<NewItem>, TaskError> {
    let path = work.join(gallery_dl::UNSUPPORTED_FILE);
    let read = spawn_blocking(move || read_list(&path)).await.map_err(|lost| TaskError::retry(lost.to_string()))?;
    let list = read.map_err(|error| TaskError::retry(format!("the list of addresses cannot be read: {error}")))?;
    let page = |url: String| NewItem {
        source: platform.to_owned(),
        source_id: sha256_hex(&url),
        kind: ItemKind::Page,
        url,
        referer: None,
        title: None,
        posted_at: None,
        metadata: fields([("found_by", json!("gallery-dl"))]),
    };
    Ok(gallery_dl::unsupported(&list).into_iter().map(page).collect())
}

fn read_list(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(MAX_UNSUPPORTED_BYTES).read_to_end(&mut bytes)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(error),
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn addresses_that_the_tool_does_not_know_are_pages() {
        let work = tempfile::tempdir().unwrap();
        assert_eq!(pages("site", work.path()).await.unwrap(), []);
        let list = "https://video.example/1\nfile:///etc/passwd\n--exec=x\nhttps://video.example/2\n";
        std::fs::write(work.path().join(gallery_dl::UNSUPPORTED_FILE), list).unwrap();
        let pages = pages("site", work.path()).await.unwrap();
        let seen: Vec<_> = pages.iter().map(|page| (page.kind, page.url.as_str())).collect();
        assert_eq!(seen, [(ItemKind::Page, "https://video.example/1"), (ItemKind::Page, "https://video.example/2")]);
        assert_ne!(pages[0].source_id, pages[1].source_id);
    }

    #[test]
    fn a_name_of_a_stranger_is_no_name_of_a_directory() {
        let name = Account::without_row("site", "../../etc").work_name();
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'), "{name}");
        assert_ne!(name, Account::without_row("site", "ann").work_name());
    }
}

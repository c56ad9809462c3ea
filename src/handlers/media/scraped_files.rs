//! `ScrapedFiles`: the files of one scrape: into the storage as they come, then into the tables.
//!
//! In: the lines of gallery-dl. Out: items with their ends, saved at least every ten seconds, and counts. A file is
//! durable before its row. It must not know how the tool is run, nor how it ended.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use url::Url;

use super::account_scrape::Account;
use super::item_download::{self, ItemError};
use super::wait::Wait;
use super::{download_media, fields};
use crate::handlers::Context;
use ::media::LineError;
use ::media::clients::Odd;
use ::media::gallery_dl::{Event, EventKind};
use db::media::accounts::ScrapedItem;
use db::{DbError, Tx, access};
use domain::amounts::counted;
use domain::media::account::AccountKind;
use domain::media::item::{ItemEnd, ItemKind, NewItem};
use domain::task::TaskId;
use queue::{Done, Outcome, SaveError, TaskError, WriteResults};

/// Maximum time that an item waits for its save.
const SAVE_EVERY: Duration = Duration::from_secs(10);
/// Maximum number of items that are not saved: with as many, a save comes before its time.
const MAX_UNSAVED: usize = 500;
/// Maximum size of their metadata; a save holds some copies of it.
const MAX_UNSAVED_BYTES: usize = 512 << 10;
/// The tool says the reason on its other stream, without the name of the item.
const NOT_DOWNLOADED: &str = "gallery-dl could not download it";
const NOT_THERE: &str = "gallery-dl names a file that is not there";

pub struct ScrapedFiles<'a> {
    ctx: &'a Context,
    pub account: Account,
    /// The address of the account, for items without one.
    url: Url,
    work: PathBuf,
    /// Items by source and id: one may come twice.
    unsaved: HashMap<(String, String), ScrapedItem>,
    unsaved_bytes: usize,
    /// Whether known files whose account was removed may be of this one.
    may_adopt: bool,
    /// Known ones that came, by source and id, since the last save.
    adopted: Vec<(String, String)>,
    saved_at: Instant,
    files: usize,
    known: usize,
    failed: usize,
    /// Events that cannot be read.
    odd: Odd,
}

/// How the scrape ended, for the account's row and its credential's.
#[derive(Clone)]
pub struct Note {
    /// Whether the run has seen all that it was to see.
    pub is_whole: bool,
    pub error: Option<String>,
    /// Its id, and the result of its use.
    pub credential: Option<(i64, &'static str)>,
}

impl<'a> ScrapedFiles<'a> {
    pub fn new(ctx: &'a Context, account: Account, url: Url, work: PathBuf, may_adopt: bool) -> ScrapedFiles<'a> {
        ScrapedFiles {
            ctx,
            account,
            url,
            work,
            unsaved: HashMap::new(),
            unsaved_bytes: 0,
            may_adopt,
            adopted: Vec::new(),
            saved_at: Instant::now(),
            files: 0,
            known: 0,
            failed: 0,
            odd: Odd::default(),
        }
    }

    /// Takes the lines of the tool, to the last one. Lines that are not events are ignored.
    pub async fn read(&mut self, mut lines: mpsc::Receiver<Vec<u8>>) -> Result<(), TaskError> {
        loop {
            tokio::select! {
                line = lines.recv() => match line {
                    Some(line) => self.take(&line).await?,
                    None => return Ok(()),
                },
                () = sleep_until(self.saved_at + SAVE_EVERY), if !self.is_saved() => {
                    self.save_unless_busy().await?;
                }
            }
            let unsaved = self.unsaved.len() + self.adopted.len();
            if unsaved >= MAX_UNSAVED || self.unsaved_bytes >= MAX_UNSAVED_BYTES {
                self.save(None).await?;
            }
        }
    }

    /// A file came, or is known.
    pub fn has_some(&self) -> bool {
        self.files + self.known > 0
    }

    fn is_saved(&self) -> bool {
        self.unsaved.is_empty() && self.adopted.is_empty()
    }

    /// Saves what is not saved, and how the scrape ended.
    pub async fn save(&mut self, note: Option<Note>) -> Result<(), SaveError> {
        self.saved_at = Instant::now();
        if self.is_saved() && note.is_none() {
            return Ok(());
        }
        let batch = self.batch(note, Vec::new());
        self.ctx.save(batch, |batch, tx| Box::pin(batch.write(tx))).await?;
        self.unsaved.clear();
        self.unsaved_bytes = 0;
        self.adopted.clear();
        Ok(())
    }

    /// The end of a scrape that is done. Files that an earlier run of its task brought do not count as known.
    pub fn end(self, note: Note, pages: Vec<NewItem>) -> Done {
        let ScrapedFiles { files, known, failed, .. } = self;
        let mut result = json!({"files": files, "known": known, "failed": failed, "pages": 0});
        if self.odd.count > 0 {
            result["odd"] = json!(self.odd.count);
            result["odd_elements"] = json!(self.odd.names);
        }
        let ended = Some(EndedTask { id: self.ctx.task_id, seen: files + known });
        let batch = Batch { ended, ..self.batch(Some(note), pages) };
        Outcome::done(result).write(batch, |batch, tx| Box::pin(batch.write(tx)))
    }

    /// An outage of the database does not end the scrape: the next save has the same items.
    async fn save_unless_busy(&mut self) -> Result<(), SaveError> {
        match self.save(None).await {
            Err(error) if error.is_external() => Ok(()),
            saved => saved,
        }
    }

    async fn take(&mut self, line: &[u8]) -> Result<(), TaskError> {
        let event = match Event::read(line, &self.work) {
            Ok(event) => event,
            Err(LineError::NoObject | LineError::UnknownEvent) => return Ok(()),
            Err(fault) => {
                self.odd.name(&format!("{fault}: {}", String::from_utf8_lossy(line)));
                return Ok(());
            }
        };
        match event.kind {
            EventKind::Post => return Ok(()),
            EventKind::After => self.store(event).await?,
            // whole, and left behind by a run that did not come to save its row
            EventKind::Skip if event.path.as_ref().is_some_and(|path| path.is_file()) => self.store(event).await?,
            EventKind::Skip => {
                self.known += 1;
                if self.may_adopt {
                    self.adopted.push((event.id.category.clone(), event.id.of_category()));
                }
            }
            EventKind::Error => self.add(event, ItemEnd::Failed { reason: NOT_DOWNLOADED.to_owned() }),
        }
        self.ctx.progress(None, self.progress()).await;
        Ok(())
    }

    async fn store(&mut self, mut event: Event) -> Result<(), TaskError> {
        let Some(path) = event.path.take() else { return Ok(()) };
        if !path.is_file() {
            self.add(event, ItemEnd::Failed { reason: NOT_THERE.to_owned() });
            return Ok(());
        }
        match item_download::store_tool_file(self.ctx, path).await {
            Ok(end) => self.add(event, end),
            Err(ItemError::Task(error)) => return Err(error),
            Err(ItemError::Wait(Wait { reason, .. })) => return Err(TaskError::retry(reason)),
        }
        Ok(())
    }

    fn add(&mut self, event: Event, end: ItemEnd) {
        match end {
            ItemEnd::Downloaded(_) => self.files += 1,
            _ => self.failed += 1,
        }
        self.unsaved_bytes += serde_json::to_string(&event.metadata).unwrap_or_default().len();
        let item = NewItem {
            source_id: event.id.of_category(),
            source: event.id.category,
            kind: ItemKind::File,
            url: event.url.unwrap_or_else(|| self.url.to_string()),
            referer: None,
            title: event.title,
            posted_at: event.posted_at,
            metadata: event.metadata,
        };
        let key = (item.source.clone(), item.source_id.clone());
        self.unsaved.insert(key, ScrapedItem { item, end });
    }

    /// `12 files, 3 known, 1 failed`
    fn progress(&self) -> String {
        let ScrapedFiles { files, known, failed, .. } = self;
        let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
        format!("{}, {known} known{failed}", counted(*files, "file"))
    }

    fn batch(&self, note: Option<Note>, pages: Vec<NewItem>) -> Batch {
        let Account { platform, username, kind, .. } = &self.account;
        Batch {
            platform: platform.clone(),
            username: username.clone(),
            kind: *kind,
            has_row: self.account.has_row(),
            items: self.unsaved.values().cloned().collect(),
            adopted: self.adopted.clone(),
            pages,
            note,
            ended: None,
        }
    }
}

/// Writes of one save.
struct Batch {
    platform: String,
    username: String,
    kind: AccountKind,
    has_row: bool,
    items: Vec<ScrapedItem>,
    adopted: Vec<(String, String)>,
    pages: Vec<NewItem>,
    note: Option<Note>,
    ended: Option<EndedTask>,
}

#[derive(Clone, Copy)]
struct EndedTask {
    id: TaskId,
    /// Files that came in its last run, or were known.
    seen: usize,
}

impl Batch {
    async fn write(&self, tx: &Tx) -> Result<WriteResults, DbError> {
        let Batch { platform, items, pages, note, .. } = self;
        if let Some((id, result)) = note.as_ref().and_then(|note| note.credential) {
            access::credentials::note_result(tx, id, result).await?;
        }
        // a name that no site knows leaves no row
        let is_empty = items.is_empty()
            && self.adopted.is_empty()
            && pages.is_empty()
            && note.as_ref().is_none_or(|note| !note.is_whole);
        if is_empty && !self.has_row {
            return Ok(WriteResults::default());
        }
        let account = db::media::accounts::find_or_add(tx, platform, &self.username, self.kind).await?;
        db::media::accounts::record(tx, account, items).await?;
        if !self.adopted.is_empty() {
            db::media::accounts::adopt(tx, account, &self.adopted).await?;
        }
        if let Some(note) = note {
            db::media::accounts::note_scrape(tx, account, note.is_whole, note.error.as_deref()).await?;
        }
        let new = db::media::items::insert(tx, pages).await?;
        db::media::accounts::own(tx, account, &new).await?;
        let mut result = fields([("pages", json!(new.len()))]);
        if let Some(EndedTask { id, seen }) = self.ended {
            let files = db::media::accounts::files_of_task(tx, account, id).await?;
            result.extend(fields([("files", json!(files)), ("known", json!((seen as i64 - files).max(0)))]));
        }
        Ok(WriteResults { result, next: download_media::follow_ups(platform, &new), ..WriteResults::default() })
    }
}

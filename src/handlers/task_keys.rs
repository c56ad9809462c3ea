//! `TaskKeys`: the keys that one task asks a platform with. Where the platform takes none of them, a page of a menu is read, which
//! all processes together do once an hour at most.
//!
//! In: refusals. Out: another key, or the error that says when a page is read next. Refusals and reads are written at once: they
//! are true however the task ends. It must not know menus, and no error, log or row holds a key.

use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::future::BoxFuture;
use serde_json::json;

use super::Context;
use super::platform_keys::{KnownKey, digest, sealed};
use crate::platforms::Keys;
use crate::stealth::error::NotYetKnown;
use crate::stealth::{DocumentLimits, FetchError, Request, Session};
use db::DbError;
use db::hosts::key_reads::{self, KeyRead};
use db::hosts::rotating_values;
use domain::access::AuditEntry;
use domain::store::Platform;
use foundation::cpu;
use foundation::memory::SMALL_BODY;
use queue::TaskError;
use settings::Secret;
use telemetry::events;

/// Maximum time of a read, with its redirects and its waits.
const MAX_FETCH: Duration = Duration::from_secs(30);
const MAX_REDIRECTS: usize = 3;
/// How long a task waits for a key that another process reads.
const READ_WAIT: Duration = Duration::from_secs(10);
/// How long a task waits for a database that fails.
const DB_WAIT: Duration = Duration::from_secs(5);

pub struct TaskKeys<'a> {
    ctx: &'a Context,
    platform: Platform,
    /// Host of the platform, for errors.
    host: String,
    current: Option<KnownKey>,
    /// Digests of the keys that were refused in this task.
    refused: Vec<String>,
    has_worked: bool,
}

/// A read that gave no key.
enum FailedRead {
    /// The page was asked for.
    Failed(String),
    /// Nothing was sent.
    NotSent(FetchError),
}

impl<'a> TaskKeys<'a> {
    pub async fn begin(ctx: &'a Context, platform: Platform, host: &str) -> Result<TaskKeys<'a>, TaskError> {
        let host = host.to_owned();
        let mut keys = TaskKeys { ctx, platform, host, current: None, refused: Vec::new(), has_worked: false };
        keys.current = keys.known().await?.into_iter().next();
        Ok(keys)
    }

    /// Records that the key worked.
    pub async fn end(&self) -> Result<(), DbError> {
        match &self.current {
            Some(known) if self.has_worked => {
                let client = self.ctx.services.db.client().await?;
                rotating_values::record_key_worked(&client, self.platform, &known.digest).await
            }
            _ => Ok(()),
        }
    }

    async fn known(&self) -> Result<Vec<KnownKey>, DbError> {
        let services = &self.ctx.services;
        let rows = rotating_values::keys(&services.db.client().await?, self.platform).await?;
        let configured = &services.platforms.get(self.platform).key;
        Ok(services.platform_keys.known(self.platform, configured, &rows, &services.keys))
    }

    async fn take_another(&mut self, session: &mut Session, page: Option<Request>) -> Result<(), FetchError> {
        self.note_refusal().await.map_err(|error| self.unknown(error))?;
        let Some(_turn) = self.ctx.services.platform_keys.turn(self.platform).await else {
            return Err(self.wait("another task reads it", READ_WAIT));
        };
        let known = self.known().await.map_err(|error| self.unknown(error))?;
        let untried = |known: &KnownKey| !known.is_refused && !self.refused.contains(&known.digest);
        if let Some(known) = known.into_iter().find(untried) {
            self.current = Some(known);
            return Ok(());
        }
        let Some(page) = page else { return Err(self.refusal("it is read by the next crawl of a menu")) };
        if !self.begin_read().await.map_err(|error| self.unknown(error))? {
            return Err(self.not_due().await);
        }
        let read = self.read(session, page).await;
        self.end_read(read).await
    }

    /// Records that the present key was refused.
    async fn note_refusal(&mut self) -> Result<(), DbError> {
        let Some(known) = self.current.take() else { return Ok(()) };
        self.has_worked = false;
        self.refused.push(known.digest.clone());
        let client = self.ctx.services.db.client().await?;
        rotating_values::record_key_refused(&client, self.platform, &known.digest).await
    }

    async fn begin_read(&self) -> Result<bool, DbError> {
        let client = self.ctx.services.db.client().await?;
        key_reads::begin(&client, self.platform, self.ctx.dispensary_id).await
    }

    async fn read(&self, session: &mut Session, page: Request) -> Result<Secret, FailedRead> {
        let before = session.trace().read().requests;
        let fetched = tokio::time::timeout(MAX_FETCH, fetch(session, page)).await;
        let is_sent = session.trace().read().requests > before;
        let body = match fetched {
            Err(_) => return Err(FailedRead::Failed(format!("no answer within {MAX_FETCH:?}"))),
            Ok(Err(error)) if !is_sent => return Err(FailedRead::NotSent(error)),
            Ok(Err(error)) => return Err(FailedRead::Failed(error.to_string())),
            Ok(Ok(body)) => body.map_err(FailedRead::Failed)?,
        };
        let adapter = self.ctx.services.platforms.get(self.platform).adapter.clone();
        let key = cpu::run(move || adapter.page_key().and_then(|page_key| page_key.read_key(&body))).await;
        key.ok_or_else(|| FailedRead::Failed("the page shows none".to_owned()))
    }

    /// Keeps the result of a read, and takes its key.
    async fn end_read(&mut self, read: Result<Secret, FailedRead>) -> Result<(), FetchError> {
        let key = match read {
            Ok(key) => key,
            Err(FailedRead::NotSent(error)) => {
                self.give_back(&error).await.map_err(|error| self.unknown(error))?;
                return Err(error);
            }
            Err(FailedRead::Failed(why)) => {
                self.write_read(Err(&why)).await.map_err(|error| self.unknown(error))?;
                return Err(self.not_due().await);
            }
        };
        let services = &self.ctx.services;
        services.platform_keys.keep(self.platform, key.clone());
        let digest = digest(self.platform, &key);
        let sealed = sealed(self.platform, &key, &services.keys);
        self.write_read(Ok((&digest, sealed.as_deref()))).await.map_err(|error| self.unknown(error))?;
        if self.refused.contains(&digest) {
            return Err(self.not_due().await);
        }
        self.current = Some(KnownKey { key, digest, is_refused: false });
        Ok(())
    }

    async fn give_back(&self, error: &FetchError) -> Result<(), DbError> {
        let client = self.ctx.services.db.client().await?;
        key_reads::give_back(&client, self.platform, &error.to_string()).await
    }

    async fn write_read(&self, result: key_reads::KeyReadResult<'_>) -> Result<(), DbError> {
        let Context { services, dispensary_id: store, task_id, .. } = self.ctx;
        events::key_read(self.platform, *store, result.err());
        let detail = json!({ "store": store, "failure": result.err() });
        let entry = AuditEntry { action: "platforms.read_key", target: self.platform.to_string(), detail };
        key_reads::end(&services.db, self.platform, result, &format!("task {task_id}"), entry).await
    }

    /// The error where no read is due: another process may be at it, and shares its key where it can seal it.
    async fn not_due(&self) -> FetchError {
        let last = async { key_reads::get(&self.ctx.services.db.client().await?, self.platform).await };
        let last = match last.await {
            Ok(Some(last)) => last,
            Ok(None) => return self.wait("its last read was forgotten", DB_WAIT),
            Err(error) => return self.unknown(error),
        };
        let is_shared = self.ctx.services.keys.current_id().is_some();
        match last.is_under_way && is_shared {
            true => self.wait("another process reads it", READ_WAIT),
            false => self.refusal(&last_read(&last)),
        }
    }

    fn refusal(&self, why: &str) -> FetchError {
        let variable = format!("DROVER__PLATFORM__{}__KEY", self.platform.name().to_ascii_uppercase());
        let why = format!("{why}; or set platform.{}.key ({variable}) and restart", self.platform);
        FetchError::NoKey { host: self.host.clone(), why }
    }

    fn unknown(&self, error: DbError) -> FetchError {
        self.wait(&error.to_string(), DB_WAIT)
    }

    fn wait(&self, why: &str, wait: Duration) -> FetchError {
        let unknown = Box::new(NotYetKnown { reason: why.to_owned(), wait });
        FetchError::KeyUnknown { host: self.host.clone(), unknown }
    }
}

impl Keys for TaskKeys<'_> {
    fn current(&self) -> Option<Secret> {
        self.current.as_ref().map(|known| known.key.clone())
    }

    fn worked(&mut self) {
        self.has_worked = true;
    }

    fn renew<'s>(
        &'s mut self,
        session: &'s mut Session,
        page: Option<Request>,
    ) -> BoxFuture<'s, Result<(), FetchError>> {
        Box::pin(self.take_another(session, page))
    }
}

/// The result of the last read, and the time of the next one.
fn last_read(last: &KeyRead) -> String {
    let store = last.store.map_or_else(|| "a page".to_owned(), |store| format!("the page of store {store}"));
    let result = match (&last.failure, last.ended_at) {
        (Some(failure), _) => format!("gave none: {failure}"),
        (None, Some(_)) => "gave none that it takes".to_owned(),
        (None, None) => "gave none yet".to_owned(),
    };
    let at = |time: DateTime<Utc>| time.format("%H:%M").to_string();
    let (begun, next) = (at(last.begun_at), at(last.next_read_at));
    format!("{store}, read at {begun} UTC, {result}; a page is read again after {next} UTC")
}

/// The page behind its redirects, or the reason why its answer is none.
async fn fetch(session: &mut Session, mut page: Request) -> Result<Result<bytes::Bytes, String>, FetchError> {
    let limits = DocumentLimits { max_bytes: SMALL_BODY, timeout: MAX_FETCH };
    for _ in 0..=MAX_REDIRECTS {
        let document = session.document(&page, limits).await?;
        let status = document.status.as_u16();
        match document.redirect {
            Some(url) => page = page.redirected_to(url),
            None if status != 200 => return Ok(Err(format!("the page was answered with status {status}"))),
            // the key stands near the beginning, and may be there though the page is longer
            None => return Ok(Ok(document.body)),
        }
    }
    Ok(Err(format!("the page leads on more than {MAX_REDIRECTS} times")))
}

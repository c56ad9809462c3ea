//! `easynews_monitor`: runs the saved searches, or those of its arguments.
//!
//! In: searches, and the login of Easynews. Out: an item for each new file, and a `download_media` task for
//! those of saved searches that are downloaded. The first run of a search downloads nothing. A search that
//! fails keeps the reason in its row; where all fail, the job does. Where the service asks to wait, the job waits with
//! the rest of its searches, and that one comes last. The pages before a failure or a wait are kept.

use std::time::Duration;

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::future::BoxFuture;
use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::json;
use url::Url;

use super::item_download::ServiceAccess;
use super::report::{Poll, Report};
use super::wait::{AskError, Wait, ask};
use super::{CREDENTIAL_WORKS, download_media, fields, refused_credential, unless_stopped};
use crate::handlers::Context;
use ::media::clients::easynews::{self, File, MAX_PER_PAGE, Page};
use ::media::clients::{Odd, ReadError};
use ::media::http::{Get, HttpError, Secrets};
use db::credentials::{self, OpenCredential};
use db::saved_searches::{self, DueSearch};
use db::tasks::waits_since;
use db::{DbError, Tx, media_items};
use domain::kinds::easynews_monitor::Args;
use domain::media_item::{ItemKind, NewItem};
use domain::role::Role;
use queue::{Outcome, TaskError, WriteResults};

/// The source of its items, and the platform of its credential.
pub const SOURCE: &str = "easynews";
/// A row of a search has about 1,500 bytes.
const MAX_PAGE_BYTES: usize = 8 << 20;

pub async fn run(ctx: &Context, args: Args) -> Result<Outcome, TaskError> {
    let client = ctx.services.db.client().await?;
    let mut report = Report::new(Role::EasynewsMonitor, "searches", &["new"]);
    let searches: Vec<Search> = match args.search_queries {
        Some(queries) => queries.into_iter().map(Search::Asked).collect(),
        None => {
            let since = waits_since(&client, ctx.task_id).await?;
            let searches = saved_searches::enabled(&client, since).await?;
            let (done, searches): (Vec<_>, Vec<_>) = searches.into_iter().partition(|search| search.is_done);
            report.resume(done.into_iter().map(|search| search.last_error));
            searches.into_iter().map(Search::Saved).collect()
        }
    };
    if searches.is_empty() {
        return report.outcome();
    }
    let login = credentials::open_of_platform(&client, SOURCE, &ctx.services.media.keys).await?;
    drop(client);
    let total = searches.len();
    for (nth, search) in searches.into_iter().enumerate() {
        if !report.goes_on(ctx, nth, total).await {
            break;
        }
        let (found, error) = unless_stopped(ctx, search.run(ctx, &login)).await?;
        let (found, end) = SearchResult::of(search, &login, found, error);
        report.save(ctx, usize::from(end.is_none()), found).await?;
        match end {
            None => {}
            Some(JobEnd::Wait(wait)) => {
                report.wait(wait);
                break;
            }
            Some(JobEnd::Refusal(error @ SearchError::Login)) => {
                return Err(refused_credential(ctx, login.id, &error).await);
            }
            Some(JobEnd::Refusal(error)) => return Err(TaskError::permanent(error.to_string())),
        }
    }
    report.outcome()
}

/// How an address of the service is asked, with the login; None for one elsewhere.
pub async fn access(ctx: &Context, url: &Url) -> Result<Option<ServiceAccess>, TaskError> {
    let media = &ctx.services.media;
    if url.origin() != media.config.easynews_url.origin() {
        return Ok(None);
    }
    let client = ctx.services.db.client().await?;
    let login = credentials::open_of_platform(&client, SOURCE, &media.keys).await?;
    let secrets = basic(url, &login).map_err(|error| TaskError::permanent(error.to_string()))?;
    Ok(Some(ServiceAccess { secrets: Some(secrets), min_interval: Duration::ZERO }))
}

/// A saved search, or one of the job's arguments.
enum Search {
    Saved(DueSearch),
    Asked(String),
}

#[derive(Debug, thiserror::Error)]
enum SearchError {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("Easynews refuses the login: give another by `drover media set credentials ID --secret-file FILE`")]
    Login,
    #[error("Easynews answers 403 Forbidden: it refuses this search, or the login for all")]
    Forbidden,
    #[error("the login of Easynews has characters that no header can have")]
    NotSendable,
    #[error("Easynews answers {0}")]
    Status(StatusCode),
}

impl Search {
    fn query(&self) -> &str {
        match self {
            Search::Saved(saved) => &saved.query,
            Search::Asked(query) => query,
        }
    }

    fn saved(&self) -> Option<&DueSearch> {
        match self {
            Search::Saved(saved) => Some(saved),
            Search::Asked(_) => None,
        }
    }

    /// The files of its pages, and the error that ended them.
    async fn run(&self, ctx: &Context, login: &OpenCredential) -> (Found, Option<SearchError>) {
        let (mut found, mut seen) = (Found::default(), HashSet::new());
        for number in 1.. {
            let mut page = match self.page(ctx, login, number).await {
                Ok(page) => page,
                Err(error) => return (found, Some(error)),
            };
            found.odd.add(std::mem::take(&mut page.odd));
            let goes_on = page.goes_on(number, &seen);
            for file in page.files.iter().filter(|file| self.wants(file)) {
                if seen.insert(file.hash.clone()) {
                    found.items.push(self.item(&page, file));
                }
            }
            if !goes_on {
                break;
            }
        }
        (found, None)
    }

    async fn page(&self, ctx: &Context, login: &OpenCredential, page: u32) -> Result<Page, SearchError> {
        let media = &ctx.services.media;
        let extensions = self.saved().map_or(&[][..], |saved| &saved.extensions);
        let search = easynews::Search { query: self.query(), extensions, page, per_page: MAX_PER_PAGE };
        let url = easynews::search_url(&media.config.easynews_url, search);
        let secrets = Some(basic(&url, login)?);
        let answer = ask(media, &Get { secrets, ..Get::of(url) }).await?;
        match answer.status {
            StatusCode::OK => Ok(easynews::read(&answer.bytes(MAX_PAGE_BYTES).await?)?),
            StatusCode::UNAUTHORIZED => Err(SearchError::Login),
            StatusCode::FORBIDDEN => Err(SearchError::Forbidden),
            status => Err(SearchError::Status(status)),
        }
    }

    fn wants(&self, file: &File) -> bool {
        let min_bytes = self.saved().map_or(0, |saved| saved.min_bytes);
        !file.is_infected && i64::try_from(file.bytes).is_ok_and(|bytes| bytes >= min_bytes)
    }

    fn item(&self, page: &Page, file: &File) -> NewItem {
        let metadata = [
            ("query", json!(self.query())),
            ("extension", json!(file.extension)),
            ("bytes", json!(file.bytes)),
            ("duration", json!(file.duration)),
        ];
        NewItem {
            source: SOURCE.to_owned(),
            source_id: file.hash.clone(),
            kind: ItemKind::File,
            url: page.file_url(file).into(),
            referer: None,
            title: Some(file.title.clone()),
            posted_at: None,
            metadata: fields(metadata),
        }
    }
}

fn basic(url: &Url, login: &OpenCredential) -> Result<Secrets, SearchError> {
    let pair = format!("{}:{}", login.username.as_deref().unwrap_or_default(), login.secret);
    let value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair)));
    let mut value = value.map_err(|_| SearchError::NotSendable)?;
    value.set_sensitive(true);
    Ok(Secrets { origin: url.origin(), headers: HeaderMap::from_iter([(AUTHORIZATION, value)]) })
}

/// Files of a search, and rows that are none.
#[derive(Default)]
struct Found {
    items: Vec<NewItem>,
    odd: Odd,
}

/// Files of a search, and why no more came.
struct SearchResult {
    credential: i64,
    search: Search,
    found: Found,
    failure: Option<String>,
    is_forbidden: bool,
    /// It came to its end, well or not.
    is_over: bool,
    /// The service asked to wait.
    is_postponed: bool,
}

impl Poll for SearchResult {
    fn reasons(&self) -> Vec<String> {
        self.failure.iter().cloned().collect()
    }

    fn lasting(&self) -> usize {
        usize::from(self.is_forbidden)
    }

    fn odd(&self) -> Odd {
        self.found.odd.clone()
    }

    fn write<'a>(&'a self, tx: &'a Tx) -> BoxFuture<'a, Result<WriteResults, DbError>> {
        Box::pin(self.store(tx))
    }
}

/// The reason not to begin the next search.
enum JobEnd {
    Wait(Wait),
    /// The login is refused, or cannot be sent.
    Refusal(SearchError),
}

impl SearchResult {
    fn of(
        search: Search,
        login: &OpenCredential,
        found: Found,
        error: Option<SearchError>,
    ) -> (SearchResult, Option<JobEnd>) {
        let is_forbidden = matches!(error, Some(SearchError::Forbidden));
        let (end, failure) = match error {
            Some(SearchError::Ask(AskError::Wait(wait))) => (Some(JobEnd::Wait(wait)), None),
            Some(error @ (SearchError::Login | SearchError::NotSendable)) => (Some(JobEnd::Refusal(error)), None),
            error => (None, error.map(|error| error.to_string())),
        };
        let is_over = end.is_none();
        let is_postponed = matches!(&end, Some(JobEnd::Wait(wait)) if wait.is_answer);
        let credential = login.id;
        (SearchResult { credential, search, found, failure, is_forbidden, is_over, is_postponed }, end)
    }

    async fn store(&self, tx: &Tx) -> Result<WriteResults, DbError> {
        let ids = media_items::insert(tx, &self.found.items).await?;
        let mut wanted = &[][..];
        if let Some(saved) = self.search.saved() {
            if self.is_over {
                saved_searches::note_run(tx, saved.id, self.failure.as_deref()).await?;
            }
            if self.is_postponed {
                saved_searches::postpone(tx, saved.id).await?;
            }
            if saved.download && saved.has_run {
                wanted = &ids;
            }
        }
        if self.is_over && self.failure.is_none() {
            credentials::note_result(tx, self.credential, CREDENTIAL_WORKS).await?;
        }
        let result = fields([("new", json!(ids.len()))]);
        Ok(WriteResults { result, next: download_media::follow_ups(SOURCE, wanted), ..WriteResults::default() })
    }
}

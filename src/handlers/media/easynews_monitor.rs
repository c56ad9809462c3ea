//! `easynews_monitor`: runs the saved searches, or those of its arguments.
//!
//! In: searches, and the login of Easynews. Out: an item for each new file, and a `download_media` task for
//! those of saved searches that are downloaded. The first run of a search downloads nothing. A search that
//! fails keeps the reason in its row; where all fail, the job does. Where the service asks to wait, the job waits with
//! the rest of its searches, and that one comes last. The pages before a failure or a wait are kept.

use std::collections::HashSet;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use serde_json::json;
use url::Url;

use super::item_download::ServiceAccess;
use super::monitor::{Asked, Polled, Service, ServiceError, monitor};
use super::report::Report;
use super::wait::ask;
use super::{CREDENTIAL_WORKS, download_media, fields};
use crate::handlers::Context;
use ::media::clients::Odd;
use ::media::clients::easynews::{self, File, MAX_PER_PAGE, Page};
use db::access::credentials::OpenCredential;
use db::media::saved_searches::DueSearch;
use db::tasks::waits_since;
use db::{DbError, Tx, access};
use domain::media::item::{ItemKind, NewItem};
use domain::task::kinds::easynews_monitor::Args;
use domain::task::role::Role;
use public_http::{Get, Secrets};
use queue::{Outcome, TaskError, WriteResults};

/// The source of its items, and the platform of its credential.
pub const SOURCE: &str = "easynews";
/// A row of a search has about 1,500 bytes.
const MAX_PAGE_BYTES: usize = 8 << 20;
const NOT_SENDABLE: &str = "the login of Easynews contains characters that a header cannot have";

pub async fn run(ctx: &Context, args: Args) -> Result<Outcome, TaskError> {
    let client = ctx.services.db.client().await?;
    let mut report = Report::new(Role::EasynewsMonitor, "searches", &["new"]);
    let searches: Vec<Search> = match args.search_queries {
        Some(queries) => queries.into_iter().map(Search::Asked).collect(),
        None => {
            let since = waits_since(&client, ctx.task_id).await?;
            let searches = db::media::saved_searches::enabled(&client, since).await?;
            let (done, searches): (Vec<_>, Vec<_>) = searches.into_iter().partition(|search| search.is_done);
            report.resume(done.into_iter().map(|search| search.last_error));
            searches.into_iter().map(Search::Saved).collect()
        }
    };
    if searches.is_empty() {
        return report.outcome();
    }
    let login = access::credentials::open_of_platform(&client, SOURCE, &ctx.services.keys).await?;
    drop(client);
    monitor(ctx, &Easynews { login }, &searches, report).await
}

/// How an address of the service is asked, with the login; None for one elsewhere.
pub async fn access(ctx: &Context, url: &Url) -> Result<Option<ServiceAccess>, TaskError> {
    let media = &ctx.services.media;
    if url.origin() != media.config.easynews_url.origin() {
        return Ok(None);
    }
    let client = ctx.services.db.client().await?;
    let login = access::credentials::open_of_platform(&client, SOURCE, &ctx.services.keys).await?;
    let secrets = basic(url, &login).map_err(|error| TaskError::permanent(error.to_string()))?;
    Ok(Some(ServiceAccess { secrets: Some(secrets), min_interval: Duration::ZERO }))
}

/// A saved search, or one of the job's arguments.
#[derive(Clone)]
enum Search {
    Saved(DueSearch),
    Asked(String),
}

struct Easynews {
    login: OpenCredential,
}

/// Files of a search, and rows that are not files.
#[derive(Default)]
struct Found {
    items: Vec<NewItem>,
    odd: Odd,
}

impl Service for Easynews {
    type Thing = Search;
    type Answer = Found;

    const PER_SAVE: usize = 1;

    async fn ask(&self, ctx: &Context, search: &Search) -> Asked<Found> {
        search.run(ctx, &self.login).await
    }

    fn odd(found: &Found) -> Odd {
        found.odd.clone()
    }

    async fn store(&self, tx: &Tx, polled: &[Polled<Search, Found>]) -> Result<WriteResults, DbError> {
        let (mut new, mut wanted) = (0, Vec::new());
        for poll in polled {
            let items = poll.answer.as_ref().map_or(&[][..], |found| &found.items);
            let ids = db::media::items::insert(tx, items).await?;
            new += ids.len();
            let Some(saved) = poll.thing.saved() else { continue };
            if poll.is_over() {
                db::media::saved_searches::note_run(tx, saved.id, poll.failure().as_deref()).await?;
            }
            if saved.download && saved.has_run {
                wanted.extend(ids);
            }
        }
        if polled.iter().any(Polled::is_read) {
            access::credentials::note_result(tx, self.login.id, CREDENTIAL_WORKS).await?;
        }
        let result = fields([("new", json!(new))]);
        Ok(WriteResults { result, next: download_media::follow_ups(SOURCE, &wanted), ..WriteResults::default() })
    }

    async fn postpone(tx: &Tx, search: &Search) -> Result<(), DbError> {
        match search.saved() {
            Some(saved) => db::media::saved_searches::postpone(tx, saved.id).await,
            None => Ok(()),
        }
    }
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
    async fn run(&self, ctx: &Context, login: &OpenCredential) -> Asked<Found> {
        let (mut found, mut seen) = (Found::default(), HashSet::new());
        for number in 1.. {
            let mut page = match self.page(ctx, login, number).await {
                Ok(page) => page,
                Err(error) => return Err((Some(found), error)),
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
        Ok(found)
    }

    async fn page(&self, ctx: &Context, login: &OpenCredential, page: u32) -> Result<Page, ServiceError> {
        let media = &ctx.services.media;
        let extensions = self.saved().map_or(&[][..], |saved| &saved.extensions);
        let search = easynews::Search { query: self.query(), extensions, page, per_page: MAX_PER_PAGE };
        let url = easynews::search_url(&media.config.easynews_url, search);
        let secrets = Some(basic(&url, login)?);
        let answer = ask(&ctx.services, &Get { secrets, ..Get::of(url) }).await?;
        match answer.status {
            StatusCode::OK => Ok(easynews::read(&answer.bytes(MAX_PAGE_BYTES).await?)?),
            StatusCode::UNAUTHORIZED => Err(ServiceError::Credential(
                login.id,
                "Easynews refuses the login: give another one with `drover media set credentials ID --secret-file FILE`",
            )),
            StatusCode::FORBIDDEN => Err(ServiceError::Forbidden(
                "Easynews answers 403 Forbidden: it refuses this search, or the login altogether",
            )),
            status => Err(ServiceError::Other(format!("Easynews answers {status}"))),
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

fn basic(url: &Url, login: &OpenCredential) -> Result<Secrets, ServiceError> {
    let pair = format!("{}:{}", login.username.as_deref().unwrap_or_default(), login.secret);
    let value = HeaderValue::try_from(format!("Basic {}", STANDARD.encode(pair)));
    let mut value = value.map_err(|_| ServiceError::NotSendable(NOT_SENDABLE))?;
    value.set_sensitive(true);
    Ok(Secrets { origin: url.origin(), headers: HeaderMap::from_iter([(AUTHORIZATION, value)]) })
}

//! `forum_scrape`: reads the watched threads, or those of its arguments.
//!
//! In: threads, and the forums that they are of. Out: their new posts, an item for each media link of these,
//! and a `download_media` task for those of threads that are downloaded. A thread is read from where the last
//! run came to, and saved some pages at a time. One that fails keeps the reason in its row; where all fail,
//! the job does. A forum that asks to wait is left alone, and the job waits with its threads; the one at which
//! it asked comes last.

use std::collections::{HashMap, HashSet};

use futures_util::future::BoxFuture;
use serde_json::json;
use url::Url;

use super::forum_session::{self, ForumError, ForumSession, OpenError, Position, ThreadPage};
use super::item_download::ServiceAccess;
use super::report::{Poll, Report};
use super::wait::Wait;
use super::{CREDENTIAL_REFUSED, CREDENTIAL_WORKS, download_media, fields, unless_stopped};
use crate::handlers::{Context, TaskServices};
use ::media::clients::Odd;
use db::media::threads::WatchedThread;
use db::tasks::waits_since;
use db::{Client, DbError, Tx, access};
use domain::media::forum::{ForumPost, MediaLink};
use domain::media::item::{ItemKind, NewItem};
use domain::task::disposition::{Disposition, HasDisposition};
use domain::task::kinds::forum_scrape::Args;
use domain::task::role::Role;
use foundation::digest::sha256_hex;
use queue::{Outcome, TaskError, WriteResults};

/// Maximum number of pages of one save.
const PAGES_PER_SAVE: usize = 5;
/// A save ends at this number of links.
const LINKS_PER_SAVE: usize = 2_000;
/// Maximum number of pages of a thread that one run reads.
const MAX_PAGES: usize = 10_000;

pub async fn run(ctx: &Context, args: Args) -> Result<Outcome, TaskError> {
    let client = ctx.services.db.client().await?;
    let since = waits_since(&client, ctx.task_id).await?;
    let threads = db::media::threads::to_read(&client, args.thread_ids.as_deref(), since).await?;
    if threads.is_empty() && args.thread_ids.is_some_and(|ids| !ids.is_empty()) {
        return Err(TaskError::permanent("none of these threads exists: `drover media list threads`"));
    }
    let (done, threads): (Vec<_>, Vec<_>) = threads.into_iter().partition(|thread| thread.is_done);
    let mut forums = open_forums(&client, &threads, &ctx.services).await?;
    drop(client);
    let mut report = Report::new(Role::ForumScrape, "threads", &["posts", "items"]);
    report.resume(done.into_iter().map(|thread| thread.last_error));
    let mut waiting = HashSet::new();
    for (nth, thread) in threads.iter().enumerate() {
        if !report.goes_on(ctx, nth, threads.len()).await {
            break;
        }
        if waiting.contains(&thread.forum_id) {
            continue;
        }
        match forums.get_mut(&thread.forum_id) {
            Some(Ok(forum)) => {
                if let Some(later) = read_thread(ctx, forum, thread, &mut report, (nth, threads.len())).await? {
                    waiting.insert(thread.forum_id);
                    report.wait(later);
                }
            }
            Some(Err(reason)) => {
                report.save(ctx, 1, ThreadPosts::failed(thread, Failure::lasting(reason.clone()))).await?;
            }
            // it was removed, with its threads
            None => {}
        }
    }
    report.outcome()
}

/// Returns the login and the pace of the forum that an item comes from; None for an address that is not on that forum.
pub async fn access(ctx: &Context, source: &str, url: &Url) -> Result<Option<ServiceAccess>, TaskError> {
    let (client, services) = (ctx.services.db.client().await?, &ctx.services);
    let Some(forum) = db::media::forums::named(&client, source).await? else { return Ok(None) };
    let Some(base) = Url::parse(&forum.base_url).ok().filter(|base| base.origin() == url.origin()) else {
        return Ok(None);
    };
    let secrets = forum_session::secrets(&client, &forum, &base, services).await?;
    Ok(Some(ServiceAccess { secrets, min_interval: services.media.config.forum_interval }))
}

type Forums = HashMap<i64, Result<ForumSession, String>>;

/// The forums of these threads by their ids; one that cannot be asked is the reason.
async fn open_forums(client: &Client, threads: &[WatchedThread], services: &TaskServices) -> Result<Forums, DbError> {
    let ids: HashSet<i64> = threads.iter().map(|thread| thread.forum_id).collect();
    let ids: Vec<i64> = ids.into_iter().collect();
    let mut opened = HashMap::new();
    for forum in db::media::forums::by_ids(client, &ids).await? {
        let id = forum.id;
        let session = match ForumSession::open(client, forum, services).await {
            Err(OpenError::Db(error)) => return Err(error),
            Err(OpenError::Row(fault)) => Err(fault),
            Ok(session) => Ok(session),
        };
        opened.insert(id, session);
    }
    Ok(opened)
}

/// Reads a thread to its end, or to the end of the job's time; returns the wait that its forum asks for.
async fn read_thread(
    ctx: &Context,
    forum: &mut ForumSession,
    thread: &WatchedThread,
    report: &mut Report,
    (nth, total): (usize, usize),
) -> Result<Option<Wait>, TaskError> {
    let (mut position, mut seen) = (Position::Start, HashSet::new());
    loop {
        let part = unless_stopped(ctx, read_part(ctx, forum, thread, position, &mut seen)).await?;
        let (next, failure) = (part.next, part.failure);
        let (wait, failure) = match failure {
            Some(ForumError::Wait(wait)) => (Some(wait), None),
            other => (None, other),
        };
        let is_over = next.is_none() && wait.is_none();
        let is_postponed = wait.as_ref().is_some_and(|wait| wait.is_answer);
        let posts = ThreadPosts::new(ctx, forum, thread, part.pages, failure);
        let posts = ThreadPosts { is_over, is_postponed, ..posts };
        report.save(ctx, usize::from(is_over), posts).await?;
        match next {
            Some(next) if report.goes_on(ctx, nth, total).await => position = next,
            _ => return Ok(wait),
        }
    }
}

/// Some pages of a thread; where there is a failure, it ended them.
struct Part {
    pages: Vec<ThreadPage>,
    next: Option<Position>,
    failure: Option<ForumError>,
}

/// `seen` has the addresses of the pages before: a forum whose last page leads to itself has an end.
async fn read_part(
    ctx: &Context,
    forum: &mut ForumSession,
    thread: &WatchedThread,
    mut position: Position,
    seen: &mut HashSet<Url>,
) -> Part {
    let services = &ctx.services;
    let (mut pages, mut links) = (Vec::new(), 0);
    while pages.len() < PAGES_PER_SAVE && links < LINKS_PER_SAVE {
        let mut page = match forum.read(services, thread, position).await {
            Ok(page) => page,
            Err(error) => return Part { pages, next: None, failure: Some(error) },
        };
        let next = page.next.take();
        links += page.posts.iter().map(|post| post.media.len()).sum::<usize>();
        pages.push(page);
        match next {
            Some(Position::Page(url)) if seen.len() < MAX_PAGES && seen.insert(url.clone()) => {
                position = Position::Page(url);
            }
            Some(Position::Posts(ids)) => position = Position::Posts(ids),
            _ => return Part { pages, next: None, failure: None },
        }
    }
    Part { pages, next: Some(position), failure: None }
}

struct Failure {
    reason: String,
    is_lasting: bool,
    /// The credential is the reason.
    is_refusal: bool,
}

impl Failure {
    fn lasting(reason: String) -> Failure {
        Failure { reason, is_lasting: true, is_refusal: false }
    }

    fn of(error: &ForumError) -> Failure {
        Failure {
            reason: error.to_string(),
            is_lasting: matches!(error.disposition(), Disposition::Permanent),
            is_refusal: matches!(error, ForumError::Credential(_)),
        }
    }
}

/// Posts of a thread, and why no more came.
struct ThreadPosts {
    thread: WatchedThread,
    posts: Vec<ForumPost>,
    odd: Odd,
    /// The place of the last page that was read.
    last_page: Option<i32>,
    /// Media of the posts: what may be downloaded without asking, and the others.
    wanted: Vec<NewItem>,
    others: Vec<NewItem>,
    /// Source of the items.
    source: String,
    credential: Option<i64>,
    failure: Option<Failure>,
    /// Whether this job has nothing of it left to read.
    is_over: bool,
    /// Its forum asked to wait.
    is_postponed: bool,
}

impl Poll for ThreadPosts {
    fn reasons(&self) -> Vec<String> {
        self.failure.iter().map(|failure| failure.reason.clone()).collect()
    }

    fn lasting(&self) -> usize {
        self.failure.iter().filter(|failure| failure.is_lasting).count()
    }

    fn odd(&self) -> Odd {
        self.odd.clone()
    }

    fn write<'a>(&'a self, tx: &'a Tx) -> BoxFuture<'a, Result<WriteResults, DbError>> {
        Box::pin(self.store(tx))
    }
}

impl ThreadPosts {
    fn failed(thread: &WatchedThread, failure: Failure) -> ThreadPosts {
        ThreadPosts {
            thread: thread.clone(),
            posts: Vec::new(),
            odd: Odd::default(),
            last_page: None,
            wanted: Vec::new(),
            others: Vec::new(),
            source: String::new(),
            credential: None,
            failure: Some(failure),
            is_over: true,
            is_postponed: false,
        }
    }

    fn new(
        ctx: &Context,
        forum: &ForumSession,
        thread: &WatchedThread,
        pages: Vec<ThreadPage>,
        failure: Option<ForumError>,
    ) -> ThreadPosts {
        let last_page = pages.last().and_then(|page| page.place);
        let (mut posts, mut odd) = (Vec::new(), Odd::default());
        for page in pages {
            posts.extend(page.posts);
            odd.add(page.odd);
        }
        let referer = forum.thread_url(thread);
        let item = |(post, link): (&ForumPost, &MediaLink)| NewItem {
            source: forum.name.clone(),
            source_id: sha256_hex(link.url.as_str()),
            kind: link.kind,
            url: link.url.clone().into(),
            referer: Some(referer.clone().into()),
            title: None,
            posted_at: post.posted_at,
            metadata: fields([
                ("thread", json!(thread.external_id)),
                ("post", json!(post.external_id)),
                ("author", json!(post.author)),
            ]),
        };
        let links = posts.iter().flat_map(|post| post.media.iter().map(move |link| (post, link)));
        let is_wanted = |item: &NewItem| thread.download && may_be_downloaded(ctx, item);
        let (wanted, others) = links.map(item).partition(is_wanted);
        ThreadPosts {
            thread: thread.clone(),
            posts,
            odd,
            last_page,
            wanted,
            others,
            source: forum.name.clone(),
            credential: forum.credential,
            failure: failure.as_ref().map(Failure::of),
            is_over: false,
            is_postponed: false,
        }
    }

    async fn store(&self, tx: &Tx) -> Result<WriteResults, DbError> {
        let id = self.thread.id;
        if !db::media::threads::lock(tx, id).await? {
            return Ok(WriteResults::default());
        }
        let new = db::media::forum_posts::upsert(tx, id, &self.posts).await?;
        let wanted = db::media::items::insert(tx, &self.wanted).await?;
        let others = db::media::items::insert(tx, &self.others).await?;
        if let Some(newest) = self.posts.iter().filter_map(|post| post.external_id.parse().ok()).max() {
            db::media::threads::note_read(tx, id, self.last_page, newest).await?;
        }
        if self.is_over {
            let reason = self.failure.as_ref().map(|failure| failure.reason.as_str());
            db::media::threads::note_end(tx, id, reason).await?;
        }
        if self.is_postponed {
            db::media::threads::postpone(tx, id).await?;
        }
        self.note_credential(tx).await?;
        let result = fields([("posts", json!(new)), ("items", json!(wanted.len() + others.len()))]);
        Ok(WriteResults { result, next: download_media::follow_ups(&self.source, &wanted), ..WriteResults::default() })
    }

    async fn note_credential(&self, tx: &Tx) -> Result<(), DbError> {
        let Some(credential) = self.credential else { return Ok(()) };
        match &self.failure {
            Some(failure) if failure.is_refusal => {
                access::credentials::note_result(tx, credential, CREDENTIAL_REFUSED).await
            }
            None if !self.posts.is_empty() => access::credentials::note_result(tx, credential, CREDENTIAL_WORKS).await,
            _ => Ok(()),
        }
    }
}

/// A page of a stranger is downloaded only from the hosts that the configuration lists.
fn may_be_downloaded(ctx: &Context, item: &NewItem) -> bool {
    let host = Url::parse(&item.url).ok().and_then(|url| url.host_str().map(str::to_owned));
    let is_listed = |host: String| ctx.services.media.config.page_hosts.contains(&host);
    item.kind == ItemKind::File || host.is_some_and(is_listed)
}

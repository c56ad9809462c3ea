//! `ForumSession`: one forum with its login, asked at its pace.
//!
//! In: a forum's row; a thread and a position in it. Out: the posts there and the next position. It must not
//! know what is written of them.

use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{COOKIE, HeaderMap, HeaderName, HeaderValue};
use tokio::task::spawn_blocking;
use url::Url;

use super::wait::{AskError, Wait, ask};
use crate::handlers::TaskServices;
use ::media::clients::paged_forum::PagedForum;
use ::media::clients::selectors::Selectors;
use ::media::clients::{Odd, ReadError, Readable, discourse, forum_page};
use ::media::cookies;
use public_http::{Get, HttpError, Secrets};

use db::access::credentials::{CredentialError, OpenCredential};
use db::media::forums::ReadForum;
use db::media::threads::WatchedThread;
use db::{Client, access};
use domain::credential::CredentialKind;
use domain::media::forum::{ForumKind, ForumPost};
use domain::task::disposition::{Disposition, HasDisposition};
use domain::vocabulary::Word;

/// Maximum bytes of a page or an answer.
const MAX_PAGE_BYTES: usize = 8 << 20;

pub struct ForumSession {
    pub name: String,
    pub credential: Option<i64>,
    base: Url,
    software: Software,
    secrets: Option<Secrets>,
    min_interval: Duration,
}

enum Software {
    Discourse,
    Paged { forum: PagedForum, selectors: Arc<Selectors> },
}

/// Place at which a thread is read next.
pub enum Position {
    Start,
    Page(Url),
    /// Posts of Discourse, by their ids.
    Posts(Vec<i64>),
}

/// The posts of one answer.
pub struct ThreadPage {
    pub posts: Vec<ForumPost>,
    pub odd: Odd,
    /// Its place in the thread; None: the first, or it has none.
    pub place: Option<i32>,
    pub next: Option<Position>,
}

#[derive(Debug, thiserror::Error)]
pub enum ForumError {
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Db(#[from] db::DbError),
    #[error("the forum has no such thread")]
    NoThread,
    #[error("the forum refuses guests ({0}): give it a credential with `drover media set forums ID credential_id=…`")]
    Guest(StatusCode),
    #[error(
        "the forum refuses the credential ({0}): give another secret with `drover media set credentials ID --secret-file FILE`"
    )]
    Credential(StatusCode),
    /// The refusal may concern this thread alone.
    #[error("the forum does not show the thread to the user of its credential ({0})")]
    Forbidden(StatusCode),
    #[error("{}", .0.reason)]
    Wait(Wait),
    #[error("the forum answers {0}")]
    Status(StatusCode),
    #[error("the page was not read: {0}")]
    Lost(String),
}

impl From<AskError> for ForumError {
    fn from(error: AskError) -> Self {
        match error {
            AskError::Wait(wait) => ForumError::Wait(wait),
            AskError::Http(error) => ForumError::Http(error),
        }
    }
}

/// Why a forum cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The error says nothing about the forum.
    #[error(transparent)]
    Db(#[from] db::DbError),
    /// Its row or its credential is wrong, for people.
    #[error("{0}")]
    Row(String),
}

impl From<String> for OpenError {
    fn from(fault: String) -> Self {
        OpenError::Row(fault)
    }
}

impl From<CredentialError> for OpenError {
    fn from(error: CredentialError) -> Self {
        match error {
            CredentialError::Db(error) => OpenError::Db(error),
            other => OpenError::Row(other.to_string()),
        }
    }
}

impl HasDisposition for OpenError {
    fn disposition(&self) -> Disposition {
        match self {
            OpenError::Db(error) => error.disposition(),
            OpenError::Row(_) => Disposition::Permanent,
        }
    }
}

impl HasDisposition for ForumError {
    fn disposition(&self) -> Disposition {
        match self {
            ForumError::Http(error) => error.disposition(),
            ForumError::Read(error) => error.disposition(),
            ForumError::Db(error) => error.disposition(),
            ForumError::Wait(wait) => Disposition::Snooze { after: wait.after, host: wait.until_closed.clone() },
            ForumError::NoThread | ForumError::Guest(_) | ForumError::Credential(_) | ForumError::Forbidden(_) => {
                Disposition::Permanent
            }
            ForumError::Status(_) | ForumError::Lost(_) => Disposition::Retry,
        }
    }
}

impl ForumSession {
    pub async fn open(client: &Client, forum: ReadForum, services: &TaskServices) -> Result<ForumSession, OpenError> {
        let base = Url::parse(&forum.base_url).map_err(|error| format!("base_url of the forum: {error}"))?;
        let software = Software::of(&forum)?;
        let secrets = secrets(client, &forum, &base, services).await?;
        let min_interval = services.media.config.forum_interval;
        Ok(ForumSession { name: forum.name, credential: forum.credential_id, base, software, secrets, min_interval })
    }

    /// The address of a thread for people.
    pub fn thread_url(&self, thread: &WatchedThread) -> Url {
        match &self.software {
            Software::Discourse => discourse::page_url(&self.base, &thread.external_id),
            Software::Paged { forum, .. } => forum.page_url(&self.base, &thread.external_id, None),
        }
    }

    /// Reads a thread at a position.
    pub async fn read(
        &mut self,
        services: &TaskServices,
        thread: &WatchedThread,
        position: Position,
    ) -> Result<ThreadPage, ForumError> {
        match position {
            Position::Start => self.read_start(services, thread).await,
            Position::Page(url) => self.read_page(services, url).await,
            Position::Posts(ids) => self.read_posts(services, thread, &ids).await,
        }
    }

    /// A paged thread continues at the last page that was read, where posts may have come.
    async fn read_start(&mut self, services: &TaskServices, thread: &WatchedThread) -> Result<ThreadPage, ForumError> {
        let id = thread.external_id.as_str();
        let (forum, base) = match &self.software {
            Software::Discourse => return self.read_topic(services, thread).await,
            Software::Paged { forum, .. } => (*forum, self.base.clone()),
        };
        match self.read_page(services, forum.page_url(&base, id, thread.last_page)).await {
            // posts were deleted, and the page with them
            Err(ForumError::NoThread) if thread.last_page.is_some() => {
                self.read_page(services, forum.page_url(&base, id, None)).await
            }
            read => read,
        }
    }

    async fn read_topic(&mut self, services: &TaskServices, thread: &WatchedThread) -> Result<ThreadPage, ForumError> {
        let (body, _) = self.get(services, discourse::topic_url(&self.base, &thread.external_id)).await?;
        let discourse::Topic { posts: Readable { elements: posts, odd }, stream } =
            discourse::topic(&body, &self.base)?;
        let is_read = |id: &i64| posts.iter().any(|post| post.external_id == id.to_string());
        let others: Vec<i64> = stream.into_iter().filter(|id| !is_read(id)).collect();
        let unknown = db::media::forum_posts::unknown(&services.db.client().await?, thread.id, &others).await?;
        Ok(ThreadPage { posts, odd, place: None, next: rest_of(unknown) })
    }

    async fn read_posts(
        &mut self,
        services: &TaskServices,
        thread: &WatchedThread,
        ids: &[i64],
    ) -> Result<ThreadPage, ForumError> {
        let (now, later) = ids.split_at(ids.len().min(discourse::POSTS_A_REQUEST));
        let (body, _) = self.get(services, discourse::posts_url(&self.base, &thread.external_id, now)).await?;
        let Readable { elements: posts, odd } = discourse::posts(&body, &self.base)?;
        Ok(ThreadPage { posts, odd, place: None, next: rest_of(later.to_vec()) })
    }

    async fn read_page(&mut self, services: &TaskServices, url: Url) -> Result<ThreadPage, ForumError> {
        let (body, address) = self.get(services, url).await?;
        let Software::Paged { forum, selectors } = &self.software else { return Err(ForumError::NoThread) };
        let (place, selectors) = (forum.place(&address), Arc::clone(selectors));
        let read = move || forum_page::read(&String::from_utf8_lossy(&body), &address, &selectors);
        let page = spawn_blocking(read).await.map_err(|lost| ForumError::Lost(lost.to_string()))??;
        Ok(ThreadPage { posts: page.posts, odd: page.odd, place, next: page.next.map(Position::Page) })
    }

    /// The body, and the address that it has after redirects.
    async fn get(&mut self, services: &TaskServices, url: Url) -> Result<(bytes::Bytes, Url), ForumError> {
        let (secrets, min_interval) = (self.secrets.clone(), self.min_interval);
        let answer = ask(services, &Get { secrets, min_interval, ..Get::of(url) }).await?;
        match answer.status {
            StatusCode::OK => {}
            StatusCode::NOT_FOUND | StatusCode::GONE => return Err(ForumError::NoThread),
            status @ StatusCode::UNAUTHORIZED if self.secrets.is_some() => return Err(ForumError::Credential(status)),
            status @ StatusCode::FORBIDDEN if self.secrets.is_some() => return Err(ForumError::Forbidden(status)),
            status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => return Err(ForumError::Guest(status)),
            status => return Err(ForumError::Status(status)),
        }
        let address = answer.url.clone();
        Ok((answer.bytes(MAX_PAGE_BYTES).await?, address))
    }
}

impl Software {
    fn of(forum: &ReadForum) -> Result<Software, String> {
        let paged = match forum.kind {
            ForumKind::Discourse => return Ok(Software::Discourse),
            ForumKind::Xenforo => PagedForum::Xenforo,
            ForumKind::Phpbb => PagedForum::Phpbb,
        };
        let overrides = serde_json::from_value(forum.selectors.clone());
        let overrides = overrides.map_err(|error| format!("selectors of the forum: {error}"))?;
        let selectors = Selectors::of(paged, &overrides).map_err(|bad| format!("selectors of the forum: {bad}"))?;
        Ok(Software::Paged { forum: paged, selectors: Arc::new(selectors) })
    }
}

fn rest_of(ids: Vec<i64>) -> Option<Position> {
    (!ids.is_empty()).then_some(Position::Posts(ids))
}

/// The headers of a forum's login; None: it has none.
pub async fn secrets(
    client: &Client,
    forum: &ReadForum,
    base: &Url,
    services: &TaskServices,
) -> Result<Option<Secrets>, OpenError> {
    let Some(id) = forum.credential_id else { return Ok(None) };
    let credential = access::credentials::open_for(client, id, &forum.name, &services.keys).await?;
    let headers = headers(forum.kind, &credential, base)?;
    Ok(Some(Secrets { origin: base.origin(), headers }))
}

fn headers(kind: ForumKind, credential: &OpenCredential, base: &Url) -> Result<HeaderMap, String> {
    let secret = credential.secret.as_str();
    let username = credential.username.as_deref();
    let pairs = match (kind, &credential.kind, username) {
        (ForumKind::Discourse, Word::Known(CredentialKind::ApiKey), Some(name)) => {
            vec![("api-key", secret), ("api-username", name)]
        }
        (ForumKind::Discourse, Word::Known(CredentialKind::Token), _) => vec![("user-api-key", secret)],
        (ForumKind::Discourse, ..) => {
            return Err(
                "a Discourse forum needs a credential of kind api_key with a user name, or of kind token".to_owned()
            );
        }
        (ForumKind::Xenforo | ForumKind::Phpbb, Word::Known(CredentialKind::Cookies), _) => {
            let cookies = cookies::read(secret).map_err(|error| error.to_string())?;
            let cookies =
                cookies::header(&cookies, &below(base)).ok_or("no cookie of the credential is for this forum")?;
            return Ok(HeaderMap::from_iter([(COOKIE, value(&cookies)?)]));
        }
        _ => return Err(format!("a {kind} forum needs a credential of kind cookies")),
    };
    let header = |(name, text)| Ok((HeaderName::from_static(name), value(text)?));
    pairs.into_iter().map(header).collect()
}

/// The address that begins those of all pages: a cookie for `/board/` is not for `/board`.
fn below(base: &Url) -> Url {
    let mut below = base.clone();
    if let Ok(mut path) = below.path_segments_mut() {
        path.pop_if_empty().push("");
    }
    below
}

fn value(text: &str) -> Result<HeaderValue, String> {
    let value = HeaderValue::from_str(text);
    let mut value = value.map_err(|_| "the credential contains characters that a header cannot have".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

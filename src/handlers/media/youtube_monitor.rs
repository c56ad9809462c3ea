//! `youtube_monitor`: looks for new videos of the watched channels.
//!
//! In: the enabled channels. Out: an item for each new video, and a `download_media` task for those of
//! channels that are downloaded. The first poll of a channel downloads nothing. A channel that fails keeps
//! the reason in its row; where all fail, the job does. Where the service asks to wait, the job waits with the
//! channels that it did not answer, and those at which it asked come last. `gaps` of the result counts channels of whose newest
//! videos none was known: some may have been missed. Some channels are saved at a time, and the next run begins with
//! the others.

use hyper::StatusCode;
use hyper::header::{ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use serde_json::json;
use url::Url;

use super::monitor::{Asked, Polled, Service, ServiceError, monitor};
use super::report::Report;
use super::wait::ask;
use super::{download_media, fields};
use crate::handlers::Context;
use ::media::clients::youtube::{self, Video};
use ::media::clients::{Odd, Readable};
use db::media::channels::PolledChannel;
use db::tasks::waits_since;
use db::{DbError, Tx};
use domain::media::item::{ItemId, ItemKind, NewItem};
use domain::task::kinds::youtube_monitor::Args;
use domain::task::role::Role;
use public_http::Get;
use queue::{Outcome, TaskError, WriteResults};

const SOURCE: &str = "youtube";
const MAX_FEED_BYTES: usize = 1 << 20;

pub async fn run(ctx: &Context, _: Args) -> Result<Outcome, TaskError> {
    let client = ctx.services.db.client().await?;
    let since = waits_since(&client, ctx.task_id).await?;
    let channels = db::media::channels::enabled(&client, since).await?;
    drop(client);
    let (done, channels): (Vec<_>, Vec<_>) = channels.into_iter().partition(|channel| channel.is_done);
    let mut report = Report::new(Role::YoutubeMonitor, "channels", &["new", "gaps"]);
    report.resume(done.into_iter().map(|channel| channel.last_error));
    let youtube = Youtube { base: ctx.services.media.config.youtube_url.clone() };
    monitor(ctx, &youtube, &channels, report).await
}

struct Youtube {
    base: Url,
}

/// The answer to a poll of one channel.
enum Feed {
    Unchanged,
    Read { videos: Readable<Video>, etag: Option<String>, last_modified: Option<String> },
}

impl Service for Youtube {
    type Thing = PolledChannel;
    type Answer = Feed;

    const PER_SAVE: usize = 20;
    const CONCURRENCY: usize = 4;

    async fn ask(&self, ctx: &Context, channel: &PolledChannel) -> Asked<Feed> {
        self.feed(ctx, channel).await.map_err(|error| (None, error))
    }

    fn odd(feed: &Feed) -> Odd {
        match feed {
            Feed::Read { videos, .. } => videos.odd.clone(),
            Feed::Unchanged => Odd::default(),
        }
    }

    async fn store(&self, tx: &Tx, polled: &[Polled<PolledChannel, Feed>]) -> Result<WriteResults, DbError> {
        let (mut found, mut gaps, mut wanted) = (0, 0, Vec::new());
        for poll in polled {
            let channel = &poll.thing;
            if let Some(reason) = poll.failure() {
                db::media::channels::note_failure(tx, channel.id, &reason).await?;
            }
            let Some(feed) = &poll.answer else { continue };
            let new = self.store_feed(tx, channel, feed).await?;
            found += new.ids.len();
            gaps += usize::from(new.has_gap);
            if channel.download && channel.was_polled {
                wanted.extend(new.ids);
            }
        }
        let result = fields([("new", json!(found)), ("gaps", json!(gaps))]);
        Ok(WriteResults { result, next: download_media::follow_ups(SOURCE, &wanted), ..WriteResults::default() })
    }

    async fn postpone(tx: &Tx, channel: &PolledChannel) -> Result<(), DbError> {
        db::media::channels::postpone(tx, channel.id).await
    }
}

impl Youtube {
    async fn feed(&self, ctx: &Context, channel: &PolledChannel) -> Result<Feed, ServiceError> {
        let get = Get::of(youtube::feed_url(&self.base, &channel.channel_id));
        let get = with(get, IF_NONE_MATCH, channel.etag.as_deref());
        let get = with(get, IF_MODIFIED_SINCE, channel.last_modified.as_deref());
        let answer = ask(&ctx.services, &get).await?;
        match answer.status {
            StatusCode::OK => {}
            StatusCode::NOT_MODIFIED => return Ok(Feed::Unchanged),
            StatusCode::NOT_FOUND => {
                return Err(ServiceError::Other("the service does not know this channel".to_owned()));
            }
            status => return Err(ServiceError::Other(format!("the service answers {status}"))),
        }
        let (etag, last_modified) = (text(&answer.headers, ETAG), text(&answer.headers, LAST_MODIFIED));
        let body = answer.bytes(MAX_FEED_BYTES).await?;
        Ok(Feed::Read { videos: youtube::read(&body, &channel.channel_id)?, etag, last_modified })
    }

    async fn store_feed(&self, tx: &Tx, channel: &PolledChannel, feed: &Feed) -> Result<NewVideos, DbError> {
        let (videos, etag, last_modified) = match feed {
            Feed::Unchanged => (None, &channel.etag, &channel.last_modified),
            Feed::Read { videos, etag, last_modified } => (Some(videos), etag, last_modified),
        };
        let elements = videos.map(|videos| videos.elements.as_slice()).unwrap_or_default();
        let items: Vec<NewItem> = elements.iter().map(|video| self.item(channel, video)).collect();
        let ids = db::media::items::insert(tx, &items).await?;
        db::media::channels::note_poll(tx, channel.id, etag.as_deref(), last_modified.as_deref()).await?;
        let has_gap = channel.was_polled && videos.is_some_and(|videos| youtube::has_gap(videos, ids.len()));
        Ok(NewVideos { ids, has_gap })
    }

    fn item(&self, channel: &PolledChannel, video: &Video) -> NewItem {
        let metadata = [("channel_id", json!(channel.channel_id)), ("author", json!(video.author))];
        NewItem {
            source: SOURCE.to_owned(),
            source_id: video.id.clone(),
            kind: ItemKind::Page,
            url: youtube::watch_url(&self.base, &video.id).into(),
            referer: None,
            title: Some(video.title.clone()),
            posted_at: Some(video.published_at),
            metadata: fields(metadata),
        }
    }
}

fn with(get: Get, name: HeaderName, value: Option<&str>) -> Get {
    match value.and_then(|value| HeaderValue::from_str(value).ok()) {
        Some(value) => get.header(name, value),
        None => get,
    }
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// Videos of a channel that were not known.
struct NewVideos {
    ids: Vec<ItemId>,
    has_gap: bool,
}

//! `youtube_monitor`: looks for new videos of the watched channels.
//!
//! In: the enabled channels. Out: an item for each new video, and a `download_media` task for those of
//! channels that are downloaded. The first poll of a channel downloads nothing. A channel that fails keeps
//! the reason in its row; where all fail, the job does. Where the service asks to wait, the job waits with the
//! channels that it did not answer, and those at which it asked come last. `gaps` of the result counts channels of whose newest
//! videos none was known: some may have been missed. Some channels are saved at a time, and the next run begins with
//! the others.

use futures_util::future::BoxFuture;
use futures_util::stream::{self, StreamExt};
use hyper::StatusCode;
use hyper::header::{ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED};
use serde_json::json;
use url::Url;

use super::report::{Poll, Report};
use super::wait::{AskError, Wait, ask};
use super::{download_media, fields, unless_stopped};
use crate::handlers::Context;
use ::media::clients::youtube::{self, Video};
use ::media::clients::{Odd, ReadError, Readable};
use ::media::http::{Get, HttpError};
use db::tasks::waits_since;
use db::watched_channels::{self, PolledChannel};
use db::{DbError, Tx, media_items};
use domain::kinds::youtube_monitor::Args;
use domain::media_item::{ItemId, ItemKind, NewItem};
use domain::role::Role;
use queue::{Outcome, TaskError, WriteResults};

const SOURCE: &str = "youtube";
/// Maximum number of channels that are polled at a time.
const CONCURRENCY: usize = 4;
const MAX_FEED_BYTES: usize = 1 << 20;
/// Maximum number of channels of one save.
const CHANNELS_PER_SAVE: usize = 20;

pub async fn run(ctx: &Context, _: Args) -> Result<Outcome, TaskError> {
    let client = ctx.services.db.client().await?;
    let since = waits_since(&client, ctx.task_id).await?;
    let channels = watched_channels::enabled(&client, since).await?;
    drop(client);
    let (done, channels): (Vec<_>, Vec<_>) = channels.into_iter().partition(|channel| channel.is_done);
    let mut report = Report::new(Role::YoutubeMonitor, "channels", &["new", "gaps"]);
    report.resume(done.into_iter().map(|channel| channel.last_error));
    for (nth, batch) in channels.chunks(CHANNELS_PER_SAVE).enumerate() {
        if !report.goes_on(ctx, nth * CHANNELS_PER_SAVE, channels.len()).await {
            break;
        }
        let mut poll = unless_stopped(ctx, ChannelPoll::run(ctx, batch)).await?;
        let wait = poll.wait.take();
        report.save(ctx, poll.results.len(), poll).await?;
        if let Some(wait) = wait {
            report.wait(wait);
            break;
        }
    }
    report.outcome()
}

/// The answer to a poll of one channel.
enum Feed {
    Unchanged,
    Read { videos: Readable<Video>, etag: Option<String>, last_modified: Option<String> },
    Failed(String),
}

#[derive(Debug, thiserror::Error)]
enum PollError {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("the service knows no such channel")]
    NoChannel,
    #[error("the service answers {0}")]
    Status(StatusCode),
}

async fn feed(ctx: &Context, base: &Url, channel: &PolledChannel) -> Result<Feed, PollError> {
    let get = Get::of(youtube::feed_url(base, &channel.channel_id));
    let get = with(get, IF_NONE_MATCH, channel.etag.as_deref());
    let get = with(get, IF_MODIFIED_SINCE, channel.last_modified.as_deref());
    let answer = ask(&ctx.services.media, &get).await?;
    match answer.status {
        StatusCode::OK => {}
        StatusCode::NOT_MODIFIED => return Ok(Feed::Unchanged),
        StatusCode::NOT_FOUND => return Err(PollError::NoChannel),
        status => return Err(PollError::Status(status)),
    }
    let (etag, last_modified) = (text(&answer.headers, ETAG), text(&answer.headers, LAST_MODIFIED));
    let body = answer.bytes(MAX_FEED_BYTES).await?;
    Ok(Feed::Read { videos: youtube::read(&body, &channel.channel_id)?, etag, last_modified })
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

/// Some channels, each with the answer to its poll; where there is a wait, some had none.
struct ChannelPoll {
    base: Url,
    results: Vec<(PolledChannel, Feed)>,
    /// Channels at which the service asked to wait.
    postponed: Vec<i64>,
    wait: Option<Wait>,
}

impl Poll for ChannelPoll {
    fn reasons(&self) -> Vec<String> {
        let reason = |(_, feed): &(PolledChannel, Feed)| match feed {
            Feed::Failed(reason) => Some(reason.clone()),
            _ => None,
        };
        self.results.iter().filter_map(reason).collect()
    }

    fn odd(&self) -> Odd {
        let mut all = Odd::default();
        for (_, feed) in &self.results {
            if let Feed::Read { videos, .. } = feed {
                all.add(videos.odd.clone());
            }
        }
        all
    }

    fn write<'a>(&'a self, tx: &'a Tx) -> BoxFuture<'a, Result<WriteResults, DbError>> {
        Box::pin(self.store(tx))
    }
}

impl ChannelPoll {
    async fn run(ctx: &Context, channels: &[PolledChannel]) -> ChannelPoll {
        let base = ctx.services.media.config.youtube_url.clone();
        let polls = stream::iter(channels.to_vec()).map(async |channel| {
            let feed = feed(ctx, &base, &channel).await;
            (channel, feed)
        });
        let answers: Vec<_> = polls.buffer_unordered(CONCURRENCY).collect().await;
        let mut poll =
            ChannelPoll { base, results: Vec::with_capacity(answers.len()), postponed: Vec::new(), wait: None };
        for (channel, feed) in answers {
            match feed {
                Ok(feed) => poll.results.push((channel, feed)),
                Err(PollError::Ask(AskError::Wait(wait))) => {
                    poll.postponed.extend(wait.is_answer.then_some(channel.id));
                    poll.wait = Some(wait.min(poll.wait.take()));
                }
                Err(error) => poll.results.push((channel, Feed::Failed(error.to_string()))),
            }
        }
        poll
    }

    async fn store(&self, tx: &Tx) -> Result<WriteResults, DbError> {
        let (mut found, mut gaps, mut wanted) = (0, 0, Vec::new());
        for (channel, feed) in &self.results {
            let new = self.store_channel(tx, channel, feed).await?;
            found += new.ids.len();
            gaps += usize::from(new.has_gap);
            if channel.download && channel.was_polled {
                wanted.extend(new.ids);
            }
        }
        for channel in &self.postponed {
            watched_channels::postpone(tx, *channel).await?;
        }
        let result = fields([("new", json!(found)), ("gaps", json!(gaps))]);
        Ok(WriteResults { result, next: download_media::follow_ups(SOURCE, &wanted), ..WriteResults::default() })
    }

    async fn store_channel(&self, tx: &Tx, channel: &PolledChannel, feed: &Feed) -> Result<NewVideos, DbError> {
        let (videos, etag, last_modified) = match feed {
            Feed::Failed(reason) => {
                watched_channels::note_failure(tx, channel.id, reason).await?;
                return Ok(NewVideos::default());
            }
            Feed::Unchanged => (None, &channel.etag, &channel.last_modified),
            Feed::Read { videos, etag, last_modified } => (Some(videos), etag, last_modified),
        };
        let elements = videos.map(|videos| videos.elements.as_slice()).unwrap_or_default();
        let items: Vec<NewItem> = elements.iter().map(|video| self.item(channel, video)).collect();
        let ids = media_items::insert(tx, &items).await?;
        watched_channels::note_poll(tx, channel.id, etag.as_deref(), last_modified.as_deref()).await?;
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

/// Videos of a channel that were not known.
#[derive(Default)]
struct NewVideos {
    ids: Vec<ItemId>,
    has_gap: bool,
}

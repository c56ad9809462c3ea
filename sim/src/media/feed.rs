//! YouTube's feed of a channel: the newest 15 videos as Atom, with ETag, date and 304.

use http::header::{ETAG, LAST_MODIFIED};
use http::{Response, StatusCode};

use super::answer::{self, Answer, Request, parameter, with};
use super::content::{FileKind, MediaFile, key, sha256};
use super::markup::escape;
use super::oracle::{Channel, Video};
use super::plan::ChannelPlan;
use super::world::World;
use super::{dates, files};
use crate::draw::{Draw, Topic};
use crate::words;

const VIDEOS_SHOWN: usize = 15;
/// Hours between two videos.
const INTERVAL: usize = 6;
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const ID_LENGTH: usize = 11;

pub(super) fn channel(seed: u64, plan: &ChannelPlan) -> Channel {
    let mut channel = Channel { id: plan.id.clone(), author: plan.author.clone(), videos: Vec::new() };
    for _ in 0..plan.videos {
        add_video(seed, &mut channel);
    }
    channel
}

/// The next video of the channel, which is its newest now.
pub(super) fn add_video(seed: u64, channel: &mut Channel) -> Video {
    let number = channel.videos.len();
    let mut draw = Draw::of(seed, Topic::Video, &[key(&channel.id), number as u64]);
    let id: String = (0..ID_LENGTH).map(|_| *draw.pick(LETTERS) as char).collect();
    let published_at = dates::at(INTERVAL * (number + 1));
    let video = Video {
        title: format!("{} & {}: part {number}", words::company(&mut draw), words::strain(&mut draw)),
        published_at,
        updated_at: published_at + chrono::TimeDelta::minutes(90),
        file: MediaFile::make(seed, &id, format!("/files/{id}.mp4"), FileKind::Mp4),
        id,
    };
    channel.videos.insert(0, video.clone());
    video
}

/// `/feeds/videos.xml?channel_id=…`
pub(super) fn respond(world: &World, request: &Request) -> Answer {
    let Some(channel) = parameter(request, "channel_id").and_then(|id| world.channel(&id)) else {
        return answer::text(StatusCode::NOT_FOUND, "no such channel");
    };
    let feed = feed(world, &channel);
    let etag = format!("\"{}\"", &sha256(feed.as_bytes())[..16]);
    let newest = channel.videos.first().map_or(dates::at(0), |video| video.updated_at);
    let date = dates::http(newest);
    let answer = match files::is_known(request.headers(), &etag, &date) {
        true => {
            let mut answer = Response::default();
            *answer.status_mut() = StatusCode::NOT_MODIFIED;
            answer
        }
        false => answer::typed(StatusCode::OK, "text/xml; charset=UTF-8", feed),
    };
    with(with(answer, ETAG, &etag), LAST_MODIFIED, &date)
}

fn feed(world: &World, channel: &Channel) -> String {
    let entries: String = channel.videos.iter().take(VIDEOS_SHOWN).map(|video| entry(world, channel, video)).collect();
    let (id, author) = (&channel.id, escape(&channel.author));
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns:yt="http://www.youtube.com/xml/schemas/2015" xmlns:media="http://search.yahoo.com/mrss/" xmlns="http://www.w3.org/2005/Atom">
<id>yt:channel:{id}</id><yt:channelId>{id}</yt:channelId><title>{author}</title><author><name>{author}</name></author>
{entries}</feed>
"#
    )
}

fn entry(world: &World, channel: &Channel, video: &Video) -> String {
    let Video { id, published_at, updated_at, .. } = video;
    let (title, author, address) =
        (escape(&video.title), escape(&channel.author), world.address(&format!("/watch?v={id}")));
    let (published, updated) = (published_at.to_rfc3339(), updated_at.to_rfc3339());
    format!(
        r#"<entry><id>yt:video:{id}</id><yt:videoId>{id}</yt:videoId><yt:channelId>{of}</yt:channelId>
<title>{title}</title><link rel="alternate" href="{address}"/><author><name>{author}</name></author>
<published>{published}</published><updated>{updated}</updated>
<media:group><media:title>{title}</media:title><media:description>A video.</media:description></media:group></entry>
"#,
        of = channel.id
    )
}

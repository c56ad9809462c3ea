//! YouTube's feed of a channel: the newest 15 videos as Atom.
//!
//! The feed has no pages: a poll that knows none of its videos may have missed some.

use chrono::{DateTime, Datelike, Utc};
use roxmltree::{Document, Node, ParsingOptions};
use url::Url;

use super::{MAX_ID, ReadError, below, is_usual, name};

const ATOM: &str = "http://www.w3.org/2005/Atom";
const YT: &str = "http://www.youtube.com/xml/schemas/2015";
/// Videos of a whole feed.
const FEED_LENGTH: usize = 15;
/// Maximum bytes of a feed; a whole one has about 30,000.
const MAX_FEED: usize = 1 << 20;
/// Maximum number of elements and texts of a feed; a whole one has about 500.
const MAX_NODES: u32 = 50_000;
/// Maximum number of declared namespaces, and of attributes of an element: the parser compares each with all.
const MAX_NAMESPACES: usize = 50;
const MAX_ATTRIBUTES: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Video {
    pub id: String,
    pub title: String,
    pub author: Option<String>,
    pub published_at: DateTime<Utc>,
    pub updated_at: Option<DateTime<Utc>>,
}

pub fn feed_url(base: &Url, channel_id: &str) -> Url {
    let mut url = below(base, &["feeds", "videos.xml"]);
    url.query_pairs_mut().append_pair("channel_id", channel_id);
    url
}

pub fn watch_url(base: &Url, video_id: &str) -> Url {
    let mut url = below(base, &["watch"]);
    url.query_pairs_mut().append_pair("v", video_id);
    url
}

/// The videos of the channel, in the order of the feed: newest first.
pub fn read(body: &[u8], channel_id: &str) -> Result<Vec<Video>, ReadError> {
    let unreadable = |fault: String| ReadError::NotReadable { expected: "a feed", fault };
    let text = std::str::from_utf8(body).map_err(|error| unreadable(error.to_string()))?;
    if text.len() > MAX_FEED || text.matches("xmlns").count() > MAX_NAMESPACES || has_long_tag(text) {
        return Err(unreadable("it is far larger than a feed".to_owned()));
    }
    let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| unreadable(error.to_string()))?;
    let feed = document.root_element();
    if !feed.has_tag_name((ATOM, "feed")) {
        return Err(ReadError::strange(feed.tag_name().name(), "is not a feed"));
    }
    feed.children().filter(|node| node.has_tag_name((ATOM, "entry"))).map(|entry| video(entry, channel_id)).collect()
}

/// Whether videos may have been missed since the last poll: `new` of them were not known.
pub fn has_gap(videos: &[Video], new: usize) -> bool {
    videos.len() >= FEED_LENGTH && new == videos.len()
}

fn video(entry: Node<'_, '_>, channel_id: &str) -> Result<Video, ReadError> {
    let of_channel = required(entry, YT, "channelId")?;
    if of_channel != channel_id {
        return Err(ReadError::strange("yt:channelId", format!("is {of_channel}, and not {channel_id}")));
    }
    let id = required(entry, YT, "videoId")?;
    if id.len() > MAX_ID {
        return Err(ReadError::strange("yt:videoId", "is longer than an id"));
    }
    let author = entry.children().find(|node| node.has_tag_name((ATOM, "author")));
    Ok(Video {
        id: id.to_owned(),
        title: name(required(entry, ATOM, "title")?),
        author: author.and_then(|author| child(author, ATOM, "name")).map(name),
        published_at: time("published", required(entry, ATOM, "published")?)?,
        updated_at: child(entry, ATOM, "updated").map(|text| time("updated", text)).transpose()?,
    })
}

fn has_long_tag(text: &str) -> bool {
    text.split('<').any(|tag| tag.split('>').next().unwrap_or_default().matches('=').count() > MAX_ATTRIBUTES)
}

fn time(field: &str, text: &str) -> Result<DateTime<Utc>, ReadError> {
    let time: Option<DateTime<Utc>> = text.parse().ok();
    time.filter(|time| is_usual(time.year()))
        .ok_or_else(|| ReadError::strange(field, format!("{text:?} is not a time")))
}

fn required<'a>(node: Node<'a, '_>, namespace: &str, name: &str) -> Result<&'a str, ReadError> {
    child(node, namespace, name).ok_or_else(|| ReadError::strange(name, "is missing in an entry"))
}

fn child<'a>(node: Node<'a, '_>, namespace: &str, name: &str) -> Option<&'a str> {
    let child = node.children().find(|child| child.has_tag_name((namespace, name)))?;
    child.text().map(str::trim).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const CHANNEL: &str = "UCabcdefghijklmnopqrstuv";

    fn feed(entries: &str) -> String {
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?>
            <feed xmlns:yt="http://www.youtube.com/xml/schemas/2015" xmlns:media="http://search.yahoo.com/mrss/" xmlns="http://www.w3.org/2005/Atom">
              <title>A channel</title>{entries}</feed>"#
        )
    }

    fn entry(id: &str, channel: &str) -> String {
        format!(
            r#"<entry><id>yt:video:{id}</id><yt:videoId>{id}</yt:videoId><yt:channelId>{channel}</yt:channelId>
              <title>Salt &amp; pepper</title><author><name>Ann</name></author>
              <published>2026-11-01T10:00:00+00:00</published><updated>2026-11-02T11:30:00+00:00</updated>
              <media:group><media:title>other</media:title></media:group></entry>"#
        )
    }

    #[test]
    fn videos_are_read_newest_first() {
        let body = feed(&[entry("b", CHANNEL), entry("a", CHANNEL)].concat());
        let videos = read(body.as_bytes(), CHANNEL).unwrap();
        let ids: Vec<&str> = videos.iter().map(|video| video.id.as_str()).collect();
        assert_eq!(ids, ["b", "a"]);
        assert_eq!((videos[0].title.as_str(), videos[0].author.as_deref()), ("Salt & pepper", Some("Ann")));
        assert_eq!(videos[0].published_at.to_rfc3339(), "2026-11-01T10:00:00+00:00");
    }

    #[rstest]
    #[case::a_page("<html><title>Before you continue</title></html>", "html is not a feed")]
    #[case::cut("<feed xmlns=\"http://www.w3.org/2005/Atom\"><entry>", "not a feed")]
    #[case::another_channel(&feed(&entry("a", "UCother")), "yt:channelId is UCother")]
    #[case::no_id(&feed("<entry><yt:channelId>UCabcdefghijklmnopqrstuv</yt:channelId></entry>"), "videoId is missing")]
    #[case::no_time(&feed(&entry("a", CHANNEL).replace("2026-11-01T10:00:00+00:00", "today")), "published \"today\"")]
    fn another_answer_is_named(#[case] body: &str, #[case] says: &str) {
        let error = read(body.as_bytes(), CHANNEL).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }

    #[rstest]
    #[case::attributes(format!("<feed xmlns=\"{ATOM}\" {}/>", (0..101).map(|n| format!("a{n}=\"\" ")).collect::<String>()))]
    #[case::namespaces(format!("<feed {}/>", (0..51).map(|n| format!("xmlns:a{n}=\"u{n}\" ")).collect::<String>()))]
    #[case::size(" ".repeat(MAX_FEED + 1))]
    fn a_feed_that_its_parser_would_take_minutes_for_is_refused(#[case] body: String) {
        let error = read(body.as_bytes(), CHANNEL).unwrap_err().to_string();
        assert!(error.contains("far larger"), "{error}");
    }

    #[test]
    fn entities_that_grow_are_refused() {
        let bomb =
            (1..20).map(|n| format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(20))).collect::<String>();
        let body = format!("<!DOCTYPE f [<!ENTITY e0 \"ha\">{bomb}]><feed xmlns=\"{ATOM}\">&e19;</feed>");
        assert!(read(body.as_bytes(), CHANNEL).is_err());
    }

    #[test]
    fn a_whole_feed_of_unknown_videos_has_a_gap() {
        let ids = (0..FEED_LENGTH).map(|number| entry(&format!("v{number}"), CHANNEL)).collect::<String>();
        let videos = read(feed(&ids).as_bytes(), CHANNEL).unwrap();
        assert!(has_gap(&videos, FEED_LENGTH) && !has_gap(&videos, FEED_LENGTH - 1));
        // a channel with few videos shows all of them
        assert!(!has_gap(&videos[1..], FEED_LENGTH - 1) && !has_gap(&[], 0));
    }

    #[test]
    fn the_address_has_the_channel() {
        let url = feed_url(&"https://www.youtube.com".parse().unwrap(), CHANNEL);
        assert_eq!(url.as_str(), "https://www.youtube.com/feeds/videos.xml?channel_id=UCabcdefghijklmnopqrstuv");
    }
}

//! YouTube's feed of a channel: the newest 15 videos as Atom.
//!
//! The feed has no pages: a poll that knows none of its videos may have missed some.

use std::cell::OnceCell;

use chrono::{DateTime, Datelike, Utc};
use roxmltree::{Document, Node, ParsingOptions};
use url::Url;

use super::{MAX_ID, Odd, ReadError, Readable, below, bounded, is_usual, name};

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
/// Begin of a section of bare text, in which a `&` is itself.
const CDATA: &str = "<![CDATA[";
const END_OF_CDATA: &str = "]]>";
/// Maximum bytes of the name of a reference.
const MAX_REFERENCE: usize = 12;

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
pub fn read(body: &[u8], channel_id: &str) -> Result<Readable<Video>, ReadError> {
    let unreadable = |fault: String| ReadError::NotReadable { expected: "a feed", fault };
    let text = readable_text(body);
    if text.len() > MAX_FEED || text.matches("xmlns").count() > MAX_NAMESPACES || has_long_tag(&text) {
        return Err(unreadable("it is far larger than a feed".to_owned()));
    }
    let parse = |text| {
        let options = ParsingOptions { nodes_limit: MAX_NODES, ..ParsingOptions::default() };
        Document::parse_with_options(text, options)
    };
    let repaired = OnceCell::new();
    let document = parse(&text).or_else(|_| parse(repaired.get_or_init(|| with_known_references(&text))));
    let document = document.map_err(|error| unreadable(error.to_string()))?;
    let feed = document.root_element();
    if !feed.has_tag_name((ATOM, "feed")) {
        return Err(ReadError::strange(feed.tag_name().name(), "is not a feed"));
    }
    let entries = feed.children().filter(|node| node.has_tag_name((ATOM, "entry")));
    Readable::of(entries, |entry, odd| video(entry, channel_id, odd).map(Some))
}

/// Whether videos may have been missed since the last poll: `new` of them were not known.
pub fn has_gap(videos: &Readable<Video>, new: usize) -> bool {
    let known = videos.elements.len();
    known + videos.odd.count >= FEED_LENGTH && known > 0 && new == known
}

fn video(entry: Node<'_, '_>, channel_id: &str, odd: &mut Odd) -> Result<Video, ReadError> {
    let id = required(entry, YT, "videoId", "an entry")?;
    let name_of = format!("video {}", bounded(id, MAX_ID));
    if id.len() > MAX_ID {
        return Err(ReadError::strange(format!("yt:videoId of {name_of}"), "is longer than an id"));
    }
    let of_channel = required(entry, YT, "channelId", &name_of)?;
    if of_channel != channel_id {
        let fault = format!("is {}, and not {channel_id}", bounded(of_channel, MAX_ID));
        return Err(ReadError::strange(format!("yt:channelId of {name_of}"), fault));
    }
    let author = entry.children().find(|node| node.has_tag_name((ATOM, "author")));
    let updated_at = child(entry, ATOM, "updated").map(|text| time("updated", &name_of, text));
    let video = Video {
        title: name(required(entry, ATOM, "title", &name_of)?),
        author: author.and_then(|author| child(author, ATOM, "name")).map(name),
        published_at: time("published", &name_of, required(entry, ATOM, "published", &name_of)?)?,
        updated_at: None,
        id: id.to_owned(),
    };
    // the video is more than the time of its last change
    let updated_at = updated_at.and_then(|time| time.inspect_err(|fault| odd.note(fault)).ok());
    Ok(Video { updated_at, ..video })
}

/// UTF-8 of characters that XML may have; the others are U+FFFD.
fn readable_text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.chars().map(|char| if is_of_xml(char) { char } else { '\u{fffd}' }).collect()
}

fn is_of_xml(char: char) -> bool {
    matches!(char, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

/// The text with each reference that no feed defines written out: `&nbsp;`, `&#0;`, or a bare `&`. A feed cannot define any,
/// since one with a DTD is not read.
fn with_known_references(text: &str) -> String {
    let mut sections = text.split(CDATA);
    let mut known = with_known_references_outside(sections.next().unwrap_or_default());
    for section in sections {
        let (data, rest) = section.split_once(END_OF_CDATA).unwrap_or((section, ""));
        known.extend([CDATA, data, END_OF_CDATA, &with_known_references_outside(rest)]);
    }
    known
}

/// The same for a text without a section of bare text.
fn with_known_references_outside(text: &str) -> String {
    let mut parts = text.split('&');
    let mut known = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        known.extend([if begins_with_reference(part) { "&" } else { "&amp;" }, part]);
    }
    known
}

/// Whether this text after a `&` ends a reference of XML itself.
fn begins_with_reference(text: &str) -> bool {
    let Some((name, _)) = text.split_once(';').filter(|(name, _)| name.len() <= MAX_REFERENCE) else { return false };
    let code = match (name.strip_prefix("#x"), name.strip_prefix('#')) {
        (Some(hex), _) if hex.bytes().all(|digit| digit.is_ascii_hexdigit()) => u32::from_str_radix(hex, 16),
        (None, Some(number)) if number.bytes().all(|digit| digit.is_ascii_digit()) => number.parse(),
        (None, None) => return matches!(name, "amp" | "lt" | "gt" | "quot" | "apos"),
        _ => return false,
    };
    code.ok().and_then(char::from_u32).is_some_and(is_of_xml)
}

fn has_long_tag(text: &str) -> bool {
    text.split('<').any(|tag| tag.split('>').next().unwrap_or_default().matches('=').count() > MAX_ATTRIBUTES)
}

fn time(field: &str, of: &str, text: &str) -> Result<DateTime<Utc>, ReadError> {
    let time: Option<DateTime<Utc>> = text.parse().ok();
    time.filter(|time| is_usual(time.year())).ok_or_else(|| {
        let text = bounded(text, MAX_ID);
        ReadError::strange(format!("{field} of {of}"), format!("{text:?} is not a time"))
    })
}

/// `of`: how faults name the entry.
fn required<'a>(node: Node<'a, '_>, namespace: &str, name: &str, of: &str) -> Result<&'a str, ReadError> {
    child(node, namespace, name).ok_or_else(|| ReadError::strange(format!("{name} of {of}"), "is missing"))
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
        let videos = read(body.as_bytes(), CHANNEL).unwrap().elements;
        let ids: Vec<&str> = videos.iter().map(|video| video.id.as_str()).collect();
        assert_eq!(ids, ["b", "a"]);
        assert_eq!((videos[0].title.as_str(), videos[0].author.as_deref()), ("Salt & pepper", Some("Ann")));
        assert_eq!(videos[0].published_at.to_rfc3339(), "2026-11-01T10:00:00+00:00");
    }

    #[rstest]
    #[case::a_page("<html><title>Before you continue</title></html>", "html is not a feed")]
    #[case::cut("<feed xmlns=\"http://www.w3.org/2005/Atom\"><entry>", "not a feed")]
    #[case::another_channel(&feed(&entry("a", "UCother")), "yt:channelId of video a is UCother")]
    #[case::no_id(&feed("<entry><yt:channelId>UCabcdefghijklmnopqrstuv</yt:channelId></entry>"), "videoId of an entry is missing")]
    #[case::no_time(&feed(&entry("a", CHANNEL).replace("2026-11-01T10:00:00+00:00", "today")), "published of video a \"today\"")]
    fn another_answer_is_named(#[case] body: &str, #[case] says: &str) {
        let error = read(body.as_bytes(), CHANNEL).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }

    const PUBLISHED: &str = "2026-11-01T10:00:00+00:00";
    const UPDATED: &str = "2026-11-02T11:30:00+00:00";
    const TITLE: &str = "<title>Salt &amp; pepper</title>";

    #[rstest]
    #[case::no_title(TITLE, "", false, "title of video b is missing")]
    #[case::an_empty_title(TITLE, "<title> </title>", false, "title of video b is missing")]
    #[case::no_id("<yt:videoId>b</yt:videoId>", "", false, "videoId of an entry is missing")]
    #[case::a_long_id(
        "<yt:videoId>b",
        "<yt:videoId>bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
        false,
        "longer than an id"
    )]
    #[case::another_channel(CHANNEL, "UCother", false, "yt:channelId of video b is UCother")]
    #[case::no_time(PUBLISHED, "", false, "published of video b is missing")]
    #[case::zeros(PUBLISHED, "0000-00-00T00:00:00Z", false, "published of video b")]
    #[case::a_far_time(PUBLISHED, "+12026-11-01T10:00:00Z", false, "published of video b")]
    #[case::another_change(UPDATED, "soon", true, "updated of video b \"soon\"")]
    fn an_odd_entry_costs_itself_alone(
        #[case] usual: &str,
        #[case] odd: &str,
        #[case] is_kept: bool,
        #[case] name: &str,
    ) {
        let body = feed(&[entry("a", CHANNEL), entry("b", CHANNEL).replace(usual, odd), entry("c", CHANNEL)].concat());
        let read = read(body.as_bytes(), CHANNEL).unwrap();
        assert_eq!((read.elements.len(), read.odd.count), (2 + usize::from(is_kept), 1));
        assert!(read.odd.names[0].contains(name), "{:?}", read.odd.names);
    }

    #[rstest]
    #[case::a_zero_byte(b"a\0b")]
    #[case::a_control_byte(b"a\x0bb")]
    #[case::latin_1(b"a\xfcb")]
    fn an_odd_character_costs_itself_alone(#[case] title: &[u8]) {
        let body = feed(&[entry("a", CHANNEL), entry("b", CHANNEL)].concat()).into_bytes();
        let at = body.windows(4).position(|window| window == b"Salt").unwrap();
        let body = [&body[..at], title, &body[at + 4..]].concat();
        let read = read(&body, CHANNEL).unwrap();
        assert_eq!((read.elements.len(), read.elements[0].title.as_str()), (2, "a\u{fffd}b & pepper"));
    }

    #[rstest]
    #[case::of_html("Salt&nbsp;pepper", "Salt&nbsp;pepper")]
    #[case::unknown("A &b; c", "A &b; c")]
    #[case::bare("Q&A & more", "Q&A & more")]
    #[case::at_the_end("A &", "A &")]
    #[case::of_xml("&lt;b&gt; &amp;nbsp; &#65;&#x42;", "<b> &nbsp; AB")]
    #[case::no_character("a&#0;b&#xb;c&#x110000;&#xd800;", "a&#0;b&#xb;c&#x110000;&#xd800;")]
    #[case::in_bare_text("&nbsp;<![CDATA[Q&A &amp; ]]>&b;", "&nbsp;Q&A &amp; &b;")]
    #[case::no_number("&#;&#x;&#+65;&#1a;", "&#;&#x;&#+65;&#1a;")]
    fn a_reference_that_no_feed_defines_is_read_as_it_is_written(#[case] title: &str, #[case] expected: &str) {
        let body = feed(&[entry("a", CHANNEL).replace("Salt &amp; pepper", title), entry("b", CHANNEL)].concat());
        let read = read(body.as_bytes(), CHANNEL).unwrap();
        assert_eq!((read.elements.len(), read.elements[0].title.as_str()), (2, expected));
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
        let odd = feed(&ids).replacen("<title>Salt &amp; pepper</title>", "", 1);
        assert!(has_gap(&read(odd.as_bytes(), CHANNEL).unwrap(), FEED_LENGTH - 1));
        // a channel with few videos shows all of them
        let few = read(feed(&entry("v1", CHANNEL)).as_bytes(), CHANNEL).unwrap();
        assert!(!has_gap(&few, 1) && !has_gap(&read(feed("").as_bytes(), CHANNEL).unwrap(), 0));
    }

    #[test]
    fn the_address_has_the_channel() {
        let url = feed_url(&"https://www.youtube.com".parse().unwrap(), CHANNEL);
        assert_eq!(url.as_str(), "https://www.youtube.com/feeds/videos.xml?channel_id=UCabcdefghijklmnopqrstuv");
    }
}

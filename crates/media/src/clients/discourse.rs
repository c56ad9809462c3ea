//! Discourse's topics: the first posts with the ids of all, and further posts by their ids.

use std::sync::LazyLock;

use chrono::{DateTime, Datelike, Utc};
use scraper::Html;
use serde::Deserialize;
use url::Url;

use super::media_links::links;
use super::selectors::Part;
use super::{MAX_TEXT, ReadError, below, bounded, is_usual, json, markup, name};
use domain::forum::ForumPost;

/// Maximum number of posts of one request.
pub const POSTS_A_REQUEST: usize = 20;

/// Where a post has media: a picture that was made smaller has a link to the whole one.
const MEDIA: [&str; 6] = [
    "a.lightbox@href",
    "a.attachment@href",
    ":not(a.lightbox) > img:not(.emoji):not(.avatar)@src",
    "video source[src]@src",
    "audio source[src]@src",
    "iframe[src]@src",
];
static PLACES: LazyLock<Vec<Part>> =
    LazyLock::new(|| MEDIA.iter().filter_map(|place| Part::read("media", place).ok()).collect());

/// The first page of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    pub posts: Vec<ForumPost>,
    /// Ids of all posts, oldest first.
    pub stream: Vec<i64>,
}

/// The address of a topic for people.
pub fn page_url(base: &Url, topic: &str) -> Url {
    below(base, &["t", topic])
}

pub fn topic_url(base: &Url, topic: &str) -> Url {
    below(base, &["t", &format!("{topic}.json")])
}

/// The address of at most [`POSTS_A_REQUEST`] posts.
pub fn posts_url(base: &Url, topic: &str, posts: &[i64]) -> Url {
    let mut url = below(base, &["t", topic, "posts.json"]);
    url.query_pairs_mut().extend_pairs(posts.iter().take(POSTS_A_REQUEST).map(|id| ("post_ids[]", id.to_string())));
    url
}

/// `base`: of the forum, for relative links.
pub fn topic(body: &[u8], base: &Url) -> Result<Topic, ReadError> {
    let Answer { post_stream } = json(body)?;
    let stream = post_stream.stream.ok_or_else(|| ReadError::strange("post_stream.stream", "is missing"))?;
    Ok(Topic { posts: read_all(post_stream.posts, base)?, stream })
}

pub fn posts(body: &[u8], base: &Url) -> Result<Vec<ForumPost>, ReadError> {
    let Answer { post_stream } = json(body)?;
    read_all(post_stream.posts, base)
}

#[derive(Deserialize)]
struct Answer {
    post_stream: PostStream,
}

#[derive(Deserialize)]
struct PostStream {
    posts: Vec<PostAnswer>,
    stream: Option<Vec<i64>>,
}

#[derive(Deserialize)]
struct PostAnswer {
    id: i64,
    post_number: i32,
    username: String,
    created_at: DateTime<Utc>,
    cooked: String,
}

fn read_all(posts: Vec<PostAnswer>, base: &Url) -> Result<Vec<ForumPost>, ReadError> {
    posts.into_iter().map(|answer| post(answer, base)).collect()
}

fn post(answer: PostAnswer, base: &Url) -> Result<ForumPost, ReadError> {
    markup::check(&answer.cooked)?;
    if !is_usual(answer.created_at.year()) {
        return Err(ReadError::strange("created_at", format!("of post {} is {}", answer.id, answer.created_at)));
    }
    let cooked = Html::parse_fragment(&answer.cooked);
    Ok(ForumPost {
        external_id: answer.id.to_string(),
        number: Some(answer.post_number),
        author: name(&answer.username),
        posted_at: Some(answer.created_at),
        text: bounded(&markup::text_of(cooked.root_element()), MAX_TEXT),
        media: links(cooked.root_element(), base, &PLACES),
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use domain::media_item::ItemKind;

    const COOKED: &str = r#"<p>Salt <b>&amp;</b> pepper <img class="emoji" src="/e.png"></p>
        <a class="lightbox" href="/whole.jpg"><img src="/small.jpg"></a><p><img src="//cdn.example/b.png"></p>
        <a class="attachment" href="/uploads/c.zip">c.zip</a><iframe src="https://player.example/1"></iframe>"#;

    fn base() -> Url {
        "https://talk.example/forum".parse().unwrap()
    }

    fn post(id: i64) -> Value {
        json!({"id": id, "post_number": 3, "username": "ann", "created_at": "2026-11-01T10:00:00.123Z", "cooked": COOKED})
    }

    #[test]
    fn a_topic_has_its_first_posts_and_the_ids_of_all() {
        let body = json!({"post_stream": {"posts": [post(7)], "stream": [7, 8, 9]}, "title": "x"});
        let topic = topic(body.to_string().as_bytes(), &base()).unwrap();
        assert_eq!(topic.stream, [7, 8, 9]);
        let first = &topic.posts[0];
        assert!(first.text.starts_with("Salt & pepper"), "{}", first.text);
        assert_eq!((first.external_id.as_str(), first.author.as_str()), ("7", "ann"));
        let further = json!({"post_stream": {"posts": [post(8), post(9)]}});
        assert_eq!(posts(further.to_string().as_bytes(), &base()).unwrap().len(), 2);
    }

    #[test]
    fn a_post_has_its_whole_pictures_its_attachments_and_its_players() {
        let body = json!({"post_stream": {"posts": [post(7)], "stream": [7]}});
        let topic = topic(body.to_string().as_bytes(), &base()).unwrap();
        let media: Vec<(&str, ItemKind)> =
            topic.posts[0].media.iter().map(|link| (link.url.as_str(), link.kind)).collect();
        let expected = [
            ("https://talk.example/whole.jpg", ItemKind::File),
            ("https://talk.example/uploads/c.zip", ItemKind::File),
            ("https://cdn.example/b.png", ItemKind::File),
            ("https://player.example/1", ItemKind::Page),
        ];
        assert_eq!((media.as_slice(), PLACES.len()), (&expected[..], MEDIA.len()));
    }

    #[rstest]
    #[case::an_error(json!({"errors": ["not found"]}), "missing field `post_stream`")]
    #[case::no_ids(json!({"post_stream": {"posts": []}}), "post_stream.stream is missing")]
    #[case::no_time(json!({"post_stream": {"posts": [{"id": 1, "post_number": 1, "username": "a", "created_at": "x", "cooked": ""}]}}), "invalid")]
    fn a_new_shape_is_named(#[case] body: Value, #[case] says: &str) {
        let error = topic(body.to_string().as_bytes(), &base()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }

    #[test]
    fn a_page_for_people_is_not_json() {
        let error = topic(b"<!DOCTYPE html>", &base()).unwrap_err();
        assert!(matches!(error, ReadError::NotReadable { expected: "JSON", .. }), "{error}");
    }

    #[test]
    fn addresses_have_at_most_twenty_posts() {
        let base = base();
        assert_eq!(topic_url(&base, "12").as_str(), "https://talk.example/forum/t/12.json");
        let ids: Vec<i64> = (1..=30).collect();
        let url = posts_url(&base, "12", &ids);
        assert_eq!(url.path(), "/forum/t/12/posts.json");
        assert_eq!(url.query_pairs().count(), POSTS_A_REQUEST);
    }
}

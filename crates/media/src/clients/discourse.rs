//! Discourse's topics: the first posts with the ids of all, and further posts by their ids.

use chrono::{DateTime, Datelike, Utc};
use scraper::Html;
use serde::Deserialize;
use url::Url;

use super::{MAX_TEXT, ReadError, below, bounded, is_usual, json, markup, name};

/// Maximum number of posts of one request.
pub const POSTS_A_REQUEST: usize = 20;

/// The first page of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    pub posts: Vec<Post>,
    /// Ids of all posts, oldest first.
    pub stream: Vec<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    pub id: i64,
    pub number: i32,
    pub author: String,
    pub posted_at: DateTime<Utc>,
    /// Without its markup.
    pub text: String,
    /// As the forum shows it, for its links.
    pub cooked: String,
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

pub fn topic(body: &[u8]) -> Result<Topic, ReadError> {
    let Answer { post_stream } = json(body)?;
    let stream = post_stream.stream.ok_or_else(|| ReadError::strange("post_stream.stream", "is missing"))?;
    Ok(Topic { posts: read_all(post_stream.posts)?, stream })
}

pub fn posts(body: &[u8]) -> Result<Vec<Post>, ReadError> {
    let Answer { post_stream } = json(body)?;
    read_all(post_stream.posts)
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

fn read_all(posts: Vec<PostAnswer>) -> Result<Vec<Post>, ReadError> {
    posts.into_iter().map(post).collect()
}

fn post(answer: PostAnswer) -> Result<Post, ReadError> {
    markup::check(&answer.cooked)?;
    if !is_usual(answer.created_at.year()) {
        return Err(ReadError::strange("created_at", format!("of post {} is {}", answer.id, answer.created_at)));
    }
    let text = markup::text_of(Html::parse_fragment(&answer.cooked).root_element());
    Ok(Post {
        id: answer.id,
        number: answer.post_number,
        author: name(&answer.username),
        posted_at: answer.created_at,
        text: bounded(&text, MAX_TEXT),
        cooked: bounded(&answer.cooked, markup::MAX_PAGE),
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn post(id: i64) -> Value {
        json!({"id": id, "post_number": 3, "username": "ann", "created_at": "2026-11-01T10:00:00.123Z", "cooked": "<p>Salt <b>&amp;</b> pepper\u{0}</p>\n"})
    }

    #[test]
    fn a_topic_has_its_first_posts_and_the_ids_of_all() {
        let body = json!({"post_stream": {"posts": [post(7)], "stream": [7, 8, 9]}, "title": "x"});
        let topic = topic(body.to_string().as_bytes()).unwrap();
        assert_eq!(topic.stream, [7, 8, 9]);
        assert_eq!((topic.posts[0].text.as_str(), topic.posts[0].author.as_str()), ("Salt & pepper", "ann"));
        let further = json!({"post_stream": {"posts": [post(8), post(9)]}});
        assert_eq!(posts(further.to_string().as_bytes()).unwrap().len(), 2);
    }

    #[rstest]
    #[case::an_error(json!({"errors": ["not found"]}), "missing field `post_stream`")]
    #[case::no_ids(json!({"post_stream": {"posts": []}}), "post_stream.stream is missing")]
    #[case::no_time(json!({"post_stream": {"posts": [{"id": 1, "post_number": 1, "username": "a", "created_at": "x", "cooked": ""}]}}), "invalid")]
    fn a_new_shape_is_named(#[case] body: Value, #[case] says: &str) {
        let error = topic(body.to_string().as_bytes()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }

    #[test]
    fn a_page_for_people_is_not_json() {
        let error = topic(b"<!DOCTYPE html>").unwrap_err();
        assert!(matches!(error, ReadError::NotReadable { expected: "JSON", .. }), "{error}");
    }

    #[test]
    fn addresses_have_at_most_twenty_posts() {
        let base: Url = "https://talk.example/forum".parse().unwrap();
        assert_eq!(topic_url(&base, "12").as_str(), "https://talk.example/forum/t/12.json");
        let ids: Vec<i64> = (1..=30).collect();
        let url = posts_url(&base, "12", &ids);
        assert_eq!(url.path(), "/forum/t/12/posts.json");
        assert_eq!(url.query_pairs().count(), POSTS_A_REQUEST);
    }
}

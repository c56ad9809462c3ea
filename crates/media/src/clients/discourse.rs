//! Discourse's topics: the first posts with the ids of all, and further posts by their ids.

use std::sync::LazyLock;

use chrono::{DateTime, Datelike, Utc};
use scraper::Html;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::media_links::links;
use super::selectors::Part;
use super::{MAX_TEXT, Odd, ReadError, Readable, below, bounded, element, is_usual, json, markup, name, named};
use domain::media::forum::ForumPost;

/// Maximum number of posts of one request.
pub const POSTS_A_REQUEST: usize = 20;

/// Maximum bytes of a value in a fault.
const MAX_FAULT: usize = 100;

/// Selectors of a post's media: a picture that was made smaller has a link to the whole one.
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
    pub posts: Readable<ForumPost>,
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
    let stream = Readable::of(&stream, |id, _| match id.as_i64() {
        Some(id) => Ok(Some(id)),
        None => Err(ReadError::strange("post_stream.stream", format!("has {id}, which is not an id"))),
    })?;
    let mut posts = read_all(&post_stream.posts, base)?;
    posts.odd.add(stream.odd);
    Ok(Topic { posts, stream: stream.elements })
}

pub fn posts(body: &[u8], base: &Url) -> Result<Readable<ForumPost>, ReadError> {
    let Answer { post_stream } = json(body)?;
    read_all(&post_stream.posts, base)
}

#[derive(Deserialize)]
struct Answer {
    post_stream: PostStream,
}

#[derive(Deserialize)]
struct PostStream {
    posts: Vec<Value>,
    stream: Option<Vec<Value>>,
}

/// A post of a deleted user has no name.
#[derive(Deserialize)]
struct PostAnswer {
    id: i64,
    #[serde(default)]
    post_number: Value,
    #[serde(default)]
    username: Value,
    created_at: Value,
    cooked: String,
}

fn read_all(posts: &[Value], base: &Url) -> Result<Readable<ForumPost>, ReadError> {
    Readable::of(posts, |value, odd| post(value, base, odd).map(Some))
}

fn post(value: &Value, base: &Url, odd: &mut Odd) -> Result<ForumPost, ReadError> {
    let post = named("post", value, "id");
    let answer: PostAnswer = element(value, &post)?;
    let strange = |field: &str, value: &Value| {
        let fault = format!("is {}", bounded(&value.to_string(), MAX_FAULT));
        ReadError::strange(format!("{field} of {post}"), fault)
    };
    markup::check(&answer.cooked)?;
    let number = answer.post_number.as_i64().and_then(|number| i32::try_from(number).ok());
    let posted_at = answer.created_at.as_str().and_then(time);
    let faults = [
        (number.is_none(), "post_number", &answer.post_number),
        (posted_at.is_none(), "created_at", &answer.created_at),
        (!answer.username.is_string(), "username", &answer.username),
    ];
    if let Some((_, field, value)) = faults.into_iter().find(|(is_odd, ..)| *is_odd) {
        odd.note(&strange(field, value));
    }
    let cooked = Html::parse_fragment(&answer.cooked);
    Ok(ForumPost {
        external_id: answer.id.to_string(),
        number,
        author: name(answer.username.as_str().unwrap_or_default()),
        posted_at,
        text: bounded(&markup::text_of(cooked.root_element()), MAX_TEXT),
        media: links(cooked.root_element(), base, &PLACES),
    })
}

fn time(text: &str) -> Option<DateTime<Utc>> {
    text.parse().ok().filter(|time: &DateTime<Utc>| is_usual(time.year()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use domain::media::item::ItemKind;

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
        let first = &topic.posts.elements[0];
        assert!(first.text.starts_with("Salt & pepper"), "{}", first.text);
        assert_eq!((first.external_id.as_str(), first.author.as_str()), ("7", "ann"));
        let further = json!({"post_stream": {"posts": [post(8), post(9)]}});
        assert_eq!(posts(further.to_string().as_bytes(), &base()).unwrap().elements.len(), 2);
    }

    #[test]
    fn a_post_has_its_whole_pictures_its_attachments_and_its_players() {
        let body = json!({"post_stream": {"posts": [post(7)], "stream": [7]}});
        let topic = topic(body.to_string().as_bytes(), &base()).unwrap();
        let media: Vec<(&str, ItemKind)> =
            topic.posts.elements[0].media.iter().map(|link| (link.url.as_str(), link.kind)).collect();
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
    #[case::no_text(json!({"post_stream": {"posts": [{"id": 1, "post_number": 1, "username": "a", "created_at": "x"}], "stream": [1]}}), "cooked")]
    #[case::all_without_ids(json!({"post_stream": {"posts": [{"cooked": ""}, null], "stream": [1]}}), "without id")]
    #[case::no_id_is_one(json!({"post_stream": {"posts": [post(7)], "stream": ["x", null]}}), "stream has \"x\"")]
    fn a_new_shape_is_named(#[case] body: Value, #[case] says: &str) {
        let error = topic(body.to_string().as_bytes(), &base()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }

    /// The post 7 without a field.
    fn without(field: &str) -> Value {
        let mut post = post(7);
        post.as_object_mut().unwrap().remove(field);
        post
    }

    /// The post 7 with these fields in place of its own.
    fn changed(changes: Value) -> Value {
        let mut post = post(7);
        for (name, value) in changes.as_object().unwrap() {
            post[name] = value.clone();
        }
        post
    }

    #[rstest]
    #[case::a_deleted_user(changed(json!({"username": null})), true, "username of post 7 is null")]
    #[case::no_name(without("username"), true, "username of post 7 is null")]
    #[case::no_time_at_all(without("created_at"), false, "post 7")]
    #[case::a_name_that_is_a_number(changed(json!({"username": 5})), true, "username of post 7 is 5")]
    #[case::no_number(changed(json!({"post_number": null})), true, "post_number of post 7")]
    #[case::a_huge_number(changed(json!({"post_number": 99_999_999_999_i64})), true, "post_number of post 7 is 99999999999")]
    #[case::no_time(changed(json!({"created_at": "0000-00-00"})), true, "created_at of post 7")]
    #[case::a_far_time(changed(json!({"created_at": "99999-01-01T00:00:00Z"})), true, "created_at of post 7")]
    #[case::a_negative_id(changed(json!({"id": -7, "username": null})), true, "post -7")]
    #[case::no_id(changed(json!({"id": null})), false, "without id")]
    #[case::an_id_that_is_a_text(changed(json!({"id": "x"})), false, "post \"x\"")]
    #[case::no_text(changed(json!({"cooked": null})), false, "post 7")]
    #[case::nothing(Value::Null, false, "without id")]
    #[case::a_text(json!("removed"), false, "without id")]
    fn an_odd_post_costs_itself_alone(#[case] odd: Value, #[case] is_kept: bool, #[case] name: &str) {
        let body = json!({"post_stream": {"posts": [post(6), odd, post(8)], "stream": [6, 7, 8]}});
        let topic = topic(body.to_string().as_bytes(), &base()).unwrap();
        assert_eq!((topic.posts.elements.len(), topic.posts.odd.count), (2 + usize::from(is_kept), 1));
        assert!(topic.posts.odd.names[0].contains(name), "{:?}", topic.posts.odd.names);
    }

    #[test]
    fn an_odd_id_of_the_stream_is_left_out() {
        let body = json!({"post_stream": {"posts": [post(6)], "stream": [6, null, "7", 8]}});
        let topic = topic(body.to_string().as_bytes(), &base()).unwrap();
        assert_eq!((topic.stream, topic.posts.odd.count), (vec![6, 8], 2));
    }

    #[test]
    fn zero_bytes_and_half_an_emoji_cost_themselves_alone() {
        let body = json!({"post_stream": {"posts": [changed(json!({"username": "a\0b", "cooked": "x\0y HALF"}))]}});
        let body = body.to_string().replace("HALF", r"\ud83c");
        let posts = posts(body.as_bytes(), &base()).unwrap();
        let post = &posts.elements[0];
        assert_eq!(post.author, "ab");
        assert!(post.text.ends_with('\u{fffd}') && !post.text.contains('\0'), "{:?}", post.text);
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

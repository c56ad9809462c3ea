//! Discourse's topics: `/t/{id}.json` with the first posts and the ids of all, and further posts by id.

use http::StatusCode;
use serde_json::{Value, json};

use super::answer::{self, Answer, Request, header, json_of, parameters};
use super::dates;
use super::forum_pages::challenge;
use super::markup::escape;
use super::plan::{ThreadAccess, ThreadKind};
use super::threads::{self, ForumPost, Thread};
use super::world::World;

/// Maximum number of posts of an answer.
const MAX_POSTS: usize = 20;

/// Paths below `/t/`.
pub(super) fn respond(world: &World, request: &Request, rest: &[&str]) -> Answer {
    if !may_read(world, request) {
        let errors = json!({"errors": ["You need to be logged in to do that."], "error_type": "not_logged_in"});
        return json_of(StatusCode::UNAUTHORIZED, &errors);
    }
    let id = match rest {
        [topic] => topic.strip_suffix(".json"),
        [topic, "posts.json"] => Some(*topic),
        _ => None,
    };
    let topic = id.and_then(|id| threads::find(world, ThreadKind::Discourse, id.parse().ok()?));
    match topic {
        None => answer::not_found(),
        Some(topic) if topic.access == ThreadAccess::Challenge => challenge(),
        Some(topic) if rest.len() == 1 => json_of(StatusCode::OK, &first_page(world, &topic)),
        Some(topic) => json_of(StatusCode::OK, &posts(world, request, &topic)),
    }
}

fn may_read(world: &World, request: &Request) -> bool {
    let Some(key) = &world.plan.discourse_key else { return true };
    let is_administrator =
        header(request, "api-key") == Some(&key.key) && header(request, "api-username") == Some(&key.username);
    is_administrator || header(request, "user-api-key") == Some(&key.key)
}

fn first_page(world: &World, topic: &Thread) -> Value {
    let stream: Vec<u64> = topic.posts.iter().map(|post| post.id).collect();
    let posts: Vec<Value> = topic.on_page(1).iter().map(|of| post(world, of)).collect();
    json!({
        "id": topic.id,
        "title": topic.title,
        "posts_count": topic.posts.len(),
        "post_stream": {"posts": posts, "stream": stream},
    })
}

fn posts(world: &World, request: &Request, topic: &Thread) -> Value {
    let wanted: Vec<u64> =
        parameters(request).filter(|(name, _)| name == "post_ids[]").filter_map(|(_, id)| id.parse().ok()).collect();
    let found = topic.posts.iter().filter(|post| wanted.contains(&post.id)).take(MAX_POSTS);
    let posts: Vec<Value> = found.map(|of| post(world, of)).collect();
    json!({"id": topic.id, "post_stream": {"posts": posts}})
}

fn post(world: &World, post: &ForumPost) -> Value {
    let image = |path: &str| format!("<p><img src=\"{}\"></p>", escape(&world.address(path)));
    let images: String = post.links.iter().map(|link| image(&link.path)).collect();
    json!({
        "id": post.id,
        "post_number": post.number,
        "username": post.author,
        "created_at": dates::json(post.posted_at),
        "cooked": format!("{}\n{images}", post.paragraph()),
    })
}

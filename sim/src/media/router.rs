//! Which service answers a request, and which faults take its place.

use http::header::{LOCATION, RETRY_AFTER};
use http::{Method, StatusCode};

use super::answer::{self, Answer, Request, with};
use super::faults::MediaFaultKind;
use super::requests::Origin;
use super::world::World;
use super::{accounts, discourse, easynews, feed, files, forum_pages, hooks, markup, tmdb, watch};

/// The answer before its body's faults.
pub(super) async fn respond(world: &World, origin: Origin, request: &Request, faults: &[MediaFaultKind]) -> Answer {
    match faults.iter().find_map(|fault| instead(world, request, fault)) {
        Some(answer) => answer,
        None if origin == Origin::Elsewhere => elsewhere(world, request, faults),
        None => service(world, request, faults).await,
    }
}

/// The other origin has the files, and nothing else.
fn elsewhere(world: &World, request: &Request, faults: &[MediaFaultKind]) -> Answer {
    match request.uri().path().starts_with(easynews::FILES) {
        true => easynews::file(world, request, faults),
        false => file(world, request, faults),
    }
}

async fn service(world: &World, request: &Request, faults: &[MediaFaultKind]) -> Answer {
    let path = request.uri().path();
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    match parts.as_slice() {
        ["hooks", name] => return hooks::respond(world, request, name).await,
        ["ntfy", topic] => return hooks::respond_topic(world, request, topic),
        _ if request.method() != Method::GET && request.method() != Method::HEAD => return answer::not_allowed(),
        _ => {}
    }
    match parts.as_slice() {
        ["api", "v1", "accounts", rest @ ..] => accounts::respond(world, request, rest),
        ["post.json"] => accounts::respond_board(world, request),
        ["feeds", "videos.xml"] => feed::respond(world, request),
        ["watch"] => watch::respond(world, request),
        ["t", rest @ ..] => discourse::respond(world, request, rest),
        ["threads", rest @ ..] => forum_pages::respond_xenforo(world, request, rest),
        ["viewtopic.php"] => forum_pages::respond_phpbb(world, request),
        ["2.0", "search", "solr-search", "advanced"] => easynews::respond(world, request),
        ["3", "person", id, "combined_credits"] => tmdb::respond(world, request, id),
        _ if path.starts_with(easynews::FILES) => easynews::file(world, request, faults),
        _ => file(world, request, faults),
    }
}

fn file(world: &World, request: &Request, faults: &[MediaFaultKind]) -> Answer {
    match world.file(whole_path(request)) {
        Some(file) => files::respond(request, &file, faults),
        None => answer::text(StatusCode::NOT_FOUND, "not found"),
    }
}

/// Path with its query.
pub(super) fn whole_path(request: &Request) -> &str {
    request.uri().path_and_query().map(|path| path.as_str()).unwrap_or_default()
}

/// The answer of a fault that needs no service.
fn instead(world: &World, request: &Request, fault: &MediaFaultKind) -> Option<Answer> {
    let path = whole_path(request);
    match fault {
        MediaFaultKind::Status(416) => Some(match world.file(path) {
            Some(file) => files::unsatisfiable(&file),
            None => answer::text(StatusCode::RANGE_NOT_SATISFIABLE, "no such range"),
        }),
        MediaFaultKind::Status(status) => Some(answer::text(code(*status), "it fails on purpose")),
        MediaFaultKind::Later { status, retry_after } => {
            let answer = answer::text(code(*status), "later");
            Some(match retry_after {
                // rounded up, so that no client comes back too soon
                Some(after) => with(answer, RETRY_AFTER, &(after.as_secs_f64().ceil() as u64).to_string()),
                None => answer,
            })
        }
        MediaFaultKind::Html => Some(answer::html(StatusCode::OK, markup::page("Log in", "<p>Please log in.</p>"))),
        MediaFaultKind::Challenge => Some(forum_pages::challenge()),
        MediaFaultKind::RedirectElsewhere => {
            let answer = answer::text(StatusCode::FOUND, "elsewhere");
            Some(with(answer, LOCATION, &format!("{}{path}", world.elsewhere)))
        }
        _ => None,
    }
}

fn code(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

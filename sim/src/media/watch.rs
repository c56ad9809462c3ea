//! `/watch?v=ID`: a page with a player, as a generic reader of pages understands it.

use http::StatusCode;

use super::answer::{self, Answer, Request, parameter};
use super::markup;
use super::world::World;

pub(super) fn respond(world: &World, request: &Request) -> Answer {
    let Some(video) = parameter(request, "v").and_then(|id| world.video(&id)) else {
        return answer::html(StatusCode::NOT_FOUND, markup::page("No such video", "<p>It is gone.</p>"));
    };
    let source = markup::escape(&world.address(&video.file.path));
    let title = markup::escape(&video.title);
    let player = format!("<h1>{title}</h1>\n<video src=\"{source}\" controls></video>");
    answer::html(StatusCode::OK, markup::page(&video.title, &player))
}

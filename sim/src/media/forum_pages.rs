//! Pages of threads for people: markup of our own that has the elements of XenForo's and phpBB's.

use http::{HeaderName, StatusCode};

use super::answer::{self, Answer, Request, cookie, number, with};
use super::markup::{self, escape};
use super::plan::{ThreadAccess, ThreadKind};
use super::threads::{self, ForumLink, ForumPost, Place, Thread};
use super::world::World;

const COOKIE: &str = "xf_user";
/// Form of dates that phpBB shows to guests.
const PHPBB_DATE: &str = "%a %b %d, %Y %-I:%M %P";

/// Paths below `/threads/`: `{title}.{id}/page-{page}`, or without the title and the page.
pub(super) fn respond_xenforo(world: &World, request: &Request, rest: &[&str]) -> Answer {
    let (thread, page) = match rest {
        [thread] => (*thread, Some(1)),
        [thread, page] => (*thread, page.strip_prefix("page-").and_then(|page| page.parse().ok())),
        _ => return no_thread(),
    };
    let id = thread.rsplit('.').next().and_then(|id| id.parse().ok());
    respond(world, request, ThreadKind::Xenforo, (id, page))
}

/// `/viewtopic.php?t={id}&start={number of the first post}`
pub(super) fn respond_phpbb(world: &World, request: &Request) -> Answer {
    let id = number(request, "t");
    let start: usize = number(request, "start").unwrap_or(0);
    let per_page = id.and_then(|id| threads::find(world, ThreadKind::Phpbb, id)).map_or(1, |thread| thread.per_page);
    respond(world, request, ThreadKind::Phpbb, (id, Some(start / per_page + 1)))
}

fn respond(world: &World, request: &Request, kind: ThreadKind, place: (Option<u64>, Option<usize>)) -> Answer {
    let (Some(id), Some(page)) = place else { return no_thread() };
    let Some(thread) = threads::find(world, kind, id).filter(|thread| (1..=thread.pages()).contains(&page)) else {
        return no_thread();
    };
    match &thread.access {
        ThreadAccess::Challenge => challenge(),
        ThreadAccess::Cookie(value) if cookie(request, COOKIE) != Some(value) => log_in(),
        ThreadAccess::Open | ThreadAccess::Cookie(_) => {
            let body = match kind {
                ThreadKind::Phpbb => phpbb(&thread, page),
                _ => xenforo(world, &thread, page),
            };
            answer::html(StatusCode::OK, markup::page(&thread.title, &body))
        }
    }
}

/// Answers as a guard before a site does.
pub(super) fn challenge() -> Answer {
    let form = "<form id=\"challenge-form\" action=\"/challenge\" method=\"POST\"></form>";
    let answer = answer::html(StatusCode::FORBIDDEN, markup::page("Just a moment...", form));
    let answer = with(answer, http::header::SERVER, "cloudflare");
    with(answer, HeaderName::from_static("cf-mitigated"), "challenge")
}

fn log_in() -> Answer {
    let form = "<form action=\"/login/login\" method=\"post\"><input name=\"login\"><input name=\"password\"></form>";
    answer::html(StatusCode::FORBIDDEN, markup::page("Log in", form))
}

fn no_thread() -> Answer {
    answer::html(StatusCode::NOT_FOUND, markup::page("Oops", "<p>The requested thread could not be found.</p>"))
}

fn xenforo(world: &World, thread: &Thread, page: usize) -> String {
    let posts: String = thread.on_page(page).iter().map(|post| xenforo_post(world, post)).collect();
    let previous = match page {
        1 => String::new(),
        page => jump("prev", &thread.page_path(page - 1)),
    };
    let next = match page < thread.pages() {
        true => jump("next", &thread.page_path(page + 1)),
        false => String::new(),
    };
    format!("<h1>{}</h1>\n{posts}<nav>{previous}{next}</nav>", escape(&thread.title))
}

fn jump(direction: &str, path: &str) -> String {
    format!("<a class=\"pageNav-jump pageNav-jump--{direction}\" href=\"{}\">{direction}</a>", escape(path))
}

fn xenforo_post(world: &World, post: &ForumPost) -> String {
    let ForumPost { id, posted_at, .. } = post;
    let (author, time) = (escape(&post.author), posted_at.to_rfc3339());
    let of_place = |place| post.links.iter().filter(move |link| link.place == place);
    let inside: String = post.links.iter().map(|link| xenforo_link(world, link)).collect();
    let attachments: String =
        of_place(Place::Attachment).map(|link| format!("<li><a href=\"{}\"></a></li>", escape(&link.path))).collect();
    format!(
        r#"<article class="message" data-author="{author}" data-content="post-{id}">
<header><time datetime="{time}">some time ago</time></header>
<div class="message-body"><div class="bbWrapper">{text}{inside}</div></div>
<ul class="attachmentList">{attachments}</ul>
</article>
"#,
        text = post.paragraph()
    )
}

/// A link in the body of a post. Images and players have whole addresses, as of other hosts.
fn xenforo_link(world: &World, link: &ForumLink) -> String {
    let (path, address) = (escape(&link.path), escape(&world.address(&link.path)));
    match link.place {
        Place::Attachment => String::new(),
        Place::Image => format!("<div class=\"bbImageWrapper\" data-src=\"{address}\"></div>"),
        Place::Video => format!("<video src=\"{path}\"></video>"),
        Place::Player => format!("<iframe src=\"{address}\"></iframe>"),
    }
}

fn phpbb(thread: &Thread, page: usize) -> String {
    let posts: String = thread.on_page(page).iter().map(phpbb_post).collect();
    let next = match page < thread.pages() {
        true => {
            let path = format!(".{}", thread.page_path(page + 1));
            format!("<ul><li class=\"arrow next\"><a rel=\"next\" href=\"{}\">Next</a></li></ul>", escape(&path))
        }
        false => String::new(),
    };
    format!("<h2>{}</h2>\n{posts}{next}", escape(&thread.title))
}

fn phpbb_post(post: &ForumPost) -> String {
    let (author, time) = (escape(&post.author), post.posted_at.format(PHPBB_DATE));
    let attachments: String = post.links.iter().map(phpbb_attachment).collect();
    format!(
        r#"<div id="p{id}" class="post has-profile">
<p class="author">by <strong><a>{author}</a></strong> » {time}</p>
<div class="content">{text}</div>{attachments}
</div>
"#,
        id = post.id,
        text = escape(&post.text)
    )
}

fn phpbb_attachment(link: &ForumLink) -> String {
    format!("<dl class=\"attachbox\"><dt>Attachments</dt><dd><a href=\".{}\">a file</a></dd></dl>", escape(&link.path))
}

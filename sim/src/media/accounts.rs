//! Accounts with posts and files: in Mastodon's shape, and tags of a board in Moebooru's.

use http::StatusCode;
use http::header::LINK;
use serde_json::{Value, json};

use super::answer::{self, Answer, Request, bearer, json_of, number, parameter, with};
use super::content::{FileKind, MediaFile, key};
use super::dates;
use super::oracle::{Account, AccountKind, AccountPost};
use super::plan::{AccountPlan, MediaPlan};
use super::world::World;
use crate::draw::{Draw, Topic};
use crate::words;

/// Maximum number of posts of a page, whatever is asked for: few, so that accounts have several pages.
const MAX_STATUSES: usize = 20;
const MAX_BOARD_POSTS: usize = 1_000;
const FIRST_ID: u64 = 100;
/// Ids of posts are unique at the site: each account has this number of them.
const IDS_PER_ACCOUNT: u64 = 10_000;
const ACCOUNTS: u64 = 1_000_000_000;
const MAX_FILES: u64 = 3;
/// Hours between two posts.
const INTERVAL: usize = 12;
const PROSE: usize = 60;

pub(super) fn all(plan: &MediaPlan) -> Vec<Account> {
    let of_kind = |kind, plans: &[AccountPlan]| -> Vec<Account> {
        plans.iter().map(|account| account_of(plan.seed, kind, account)).collect()
    };
    [of_kind(AccountKind::Mastodon, &plan.accounts), of_kind(AccountKind::Moebooru, &plan.tags)].concat()
}

fn account_of(seed: u64, kind: AccountKind, plan: &AccountPlan) -> Account {
    let mut account = Account { kind, name: plan.name.clone(), token: plan.token.clone(), posts: Vec::new() };
    for _ in 0..plan.posts {
        add_post(seed, &mut account);
    }
    if plan.repeats_a_file {
        repeat_a_file(&mut account);
    }
    if plan.names_a_path {
        name_a_path(&mut account);
    }
    account
}

/// The next post of the account, which is its newest now.
pub(super) fn add_post(seed: u64, account: &mut Account) -> AccountPost {
    let number = account.posts.len();
    let mut draw = Draw::of(seed, Topic::AccountPost, &[account.kind as u64, key(&account.name), number as u64]);
    let nth = FIRST_ID + number as u64;
    let id = key(&account.name) % ACCOUNTS * IDS_PER_ACCOUNT + nth;
    let files = match account.kind {
        AccountKind::Mastodon => draw.between(1, MAX_FILES),
        AccountKind::Moebooru => 1,
    };
    let folder = match account.kind {
        AccountKind::Mastodon => "",
        AccountKind::Moebooru => "board-",
    };
    let mut file = |index: u64| {
        let kind = FileKind::pick(&mut draw);
        let stem = format!("{folder}{}-{nth}-{index}", words::slug(&account.name));
        MediaFile::make(seed, &stem, format!("/files/{stem}.{}", kind.extension()), kind)
    };
    let files = (1..=files).map(&mut file).collect();
    let text = words::prose(&mut draw, PROSE);
    let post = AccountPost { id, text, posted_at: dates::at(INTERVAL * (number + 1)), files };
    account.posts.insert(0, post.clone());
    post
}

/// The first file of the oldest post gets the bytes of the newest one's.
fn repeat_a_file(account: &mut Account) {
    let Some(newest) = account.posts.first().and_then(|post| post.files.first()).cloned() else { return };
    let oldest = account.posts.last_mut().and_then(|post| post.files.first_mut());
    if let Some(oldest) = oldest.filter(|oldest| oldest.path != newest.path) {
        let stem = oldest.path.rsplit_once('.').map_or(oldest.path.as_str(), |(stem, _)| stem);
        let extension = newest.path.rsplit_once('.').map_or("", |(_, extension)| extension);
        *oldest = newest.at(format!("{stem}.{extension}"));
    }
}

fn name_a_path(account: &mut Account) {
    if let Some(file) = account.posts.first_mut().and_then(|post| post.files.first_mut()) {
        *file = file.at(format!("/files/..%2F..%2F{}", file.name()));
    }
}

/// Paths below `/api/v1/accounts/`.
pub(super) fn respond(world: &World, request: &Request, rest: &[&str]) -> Answer {
    match rest {
        ["lookup"] => match parameter(request, "acct").and_then(|name| find(world, AccountKind::Mastodon, &name)) {
            Some(account) if !may_read(&account, request) => refused(),
            Some(account) => json_of(StatusCode::OK, &profile(world, &account)),
            None => unknown(),
        },
        ["search"] => json_of(StatusCode::OK, &json!([])),
        [name, "statuses"] => match find(world, AccountKind::Mastodon, name) {
            Some(account) if !may_read(&account, request) => refused(),
            Some(account) => statuses(world, request, &account),
            None => unknown(),
        },
        _ => answer::not_found(),
    }
}

/// `/post.json?tags=…&page=…&limit=…`
pub(super) fn respond_board(world: &World, request: &Request) -> Answer {
    let tags = parameter(request, "tags").unwrap_or_default();
    let account = find(world, AccountKind::Moebooru, tags.trim());
    let posts = account.as_ref().map_or(&[][..], |account| &account.posts);
    let limit: usize = number(request, "limit").unwrap_or(MAX_STATUSES).clamp(1, MAX_BOARD_POSTS);
    let page: usize = number(request, "page").unwrap_or(1).max(1);
    let page = posts.iter().skip(limit.saturating_mul(page - 1)).take(limit);
    json_of(StatusCode::OK, &page.map(|post| board_post(world, &tags, post)).collect())
}

fn find(world: &World, kind: AccountKind, name: &str) -> Option<Account> {
    world.inventory().accounts.iter().find(|account| account.kind == kind && account.name == name).cloned()
}

fn may_read(account: &Account, request: &Request) -> bool {
    account.token.is_none() || bearer(request) == account.token.as_deref()
}

fn refused() -> Answer {
    json_of(StatusCode::UNAUTHORIZED, &json!({"error": "The access token is invalid"}))
}

fn unknown() -> Answer {
    json_of(StatusCode::NOT_FOUND, &json!({"error": "Record not found"}))
}

/// The page of posts before `max_id`, with the address of the next one.
fn statuses(world: &World, request: &Request, account: &Account) -> Answer {
    let before: u64 = number(request, "max_id").unwrap_or(u64::MAX);
    let limit: usize = number(request, "limit").unwrap_or(MAX_STATUSES).clamp(1, MAX_STATUSES);
    let posts: Vec<&AccountPost> = account.posts.iter().filter(|post| post.id < before).collect();
    let shown = &posts[..posts.len().min(limit)];
    let answer = json_of(StatusCode::OK, &shown.iter().map(|post| status(world, account, post)).collect());
    match shown.last() {
        Some(last) if shown.len() < posts.len() => {
            let path = format!("{}?limit={limit}&max_id={}", request.uri().path(), last.id);
            with(answer, LINK, &format!("<{}>; rel=\"next\"", world.address(&path)))
        }
        _ => answer,
    }
}

fn profile(world: &World, account: &Account) -> Value {
    let Account { name, .. } = account;
    json!({"id": name, "acct": name, "username": name, "url": world.address(&format!("/@{name}"))})
}

fn status(world: &World, account: &Account, post: &AccountPost) -> Value {
    let file = |(number, file): (usize, &MediaFile)| {
        let kind = if file.media_type == "video/mp4" { "video" } else { "image" };
        json!({"id": format!("{}{number}", post.id), "type": kind, "url": world.address(&file.path)})
    };
    json!({
        "id": post.id.to_string(),
        "created_at": dates::json(post.posted_at),
        "url": world.address(&format!("/@{}/{}", account.name, post.id)),
        "account": profile(world, account),
        "reblog": null,
        "in_reply_to_id": null,
        "tags": [],
        "content": format!("<p>{}</p>", post.text),
        "media_attachments": post.files.iter().enumerate().map(file).collect::<Vec<_>>(),
    })
}

fn board_post(world: &World, tags: &str, post: &AccountPost) -> Value {
    let file = post.files.first();
    let extension = file.and_then(|file| file.path.rsplit_once('.')).map(|(_, extension)| extension);
    json!({
        "id": post.id,
        "tags": tags,
        "created_at": post.posted_at.timestamp(),
        "author": "curator",
        "source": "",
        "rating": "s",
        "md5": file.map(|file| &file.sha256[..32]),
        "file_size": file.map(MediaFile::size),
        "file_ext": extension,
        "file_url": file.map(|file| world.address(&file.path)),
    })
}

//! `Thread`: a thread of a forum with its posts and their links, whatever software serves it.

use chrono::{DateTime, Utc};

use super::content::{FileKind, MediaFile};
use super::dates;
use super::markup::escape;
use super::plan::{ThreadAccess, ThreadKind, ThreadPlan};
use super::world::World;
use crate::draw::{Draw, Topic};
use crate::words;

/// Number of posts in a page of Discourse.
const DISCOURSE_PER_PAGE: usize = 20;
const AUTHORS: [&str; 4] = ["ann", "bob", "carol", "d'Arcy & Sons"];
const PROSE: usize = 80;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    pub kind: ThreadKind,
    pub id: u64,
    pub title: String,
    pub access: ThreadAccess,
    pub per_page: usize,
    /// Oldest first.
    pub posts: Vec<ForumPost>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForumPost {
    pub id: u64,
    /// Number in its thread, from 1.
    pub number: u32,
    pub author: String,
    pub posted_at: DateTime<Utc>,
    /// Text as it is read: one paragraph.
    pub text: String,
    pub links: Vec<ForumLink>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForumLink {
    /// Path below the site's address.
    pub path: String,
    /// None: a page with a player, which only a tool can download.
    pub file: Option<MediaFile>,
    pub(super) place: Place,
}

/// Place of a link in a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Attachment,
    Image,
    Video,
    Player,
}

pub(super) fn thread(seed: u64, plan: &ThreadPlan) -> Thread {
    let per_page = if plan.kind == ThreadKind::Discourse { DISCOURSE_PER_PAGE } else { plan.per_page.max(1) };
    let mut draw = Draw::of(seed, Topic::ForumPost, &[plan.kind as u64, plan.id]);
    let title = format!("{} & {}", words::company(&mut draw), words::strain(&mut draw));
    let mut thread =
        Thread { kind: plan.kind, id: plan.id, title, access: plan.access.clone(), per_page, posts: Vec::new() };
    for _ in 0..plan.posts {
        add_post(seed, &mut thread);
    }
    thread
}

/// The next post of the thread, at its end.
pub(super) fn add_post(seed: u64, thread: &mut Thread) -> ForumPost {
    let number = thread.posts.len() + 1;
    let mut draw = Draw::of(seed, Topic::ForumPost, &[thread.kind as u64, thread.id, number as u64]);
    // ids of a forum are its own, and those of two threads never meet
    let id = thread.id * 10_000 + 3 * number as u64;
    let links = if draw.percent(60) { links(seed, &mut draw, thread.kind, id) } else { Vec::new() };
    let post = ForumPost {
        id,
        number: number as u32,
        author: (*draw.pick(&AUTHORS)).to_owned(),
        posted_at: dates::at(number),
        text: format!("Salt & pepper < {}", words::prose(&mut draw, PROSE).trim()),
        links,
    };
    thread.posts.push(post.clone());
    post
}

fn links(seed: u64, draw: &mut Draw, kind: ThreadKind, post: u64) -> Vec<ForumLink> {
    let places: &[Place] = match kind {
        ThreadKind::Discourse => &[Place::Image],
        ThreadKind::Xenforo => &[Place::Attachment, Place::Image, Place::Video, Place::Player],
        ThreadKind::Phpbb => &[Place::Attachment],
    };
    let count = draw.between(1, places.len() as u64) as usize;
    places[..count].iter().map(|place| link(seed, kind, post, *place)).collect()
}

fn link(seed: u64, kind: ThreadKind, post: u64, place: Place) -> ForumLink {
    let file_kind = match place {
        Place::Attachment => FileKind::Png,
        Place::Image => FileKind::Jpeg,
        Place::Video => FileKind::Mp4,
        Place::Player => return ForumLink { path: format!("/embed/{post}"), file: None, place },
    };
    let stem = format!("{kind:?}-{post}-{place:?}").to_lowercase();
    let path = match (kind, place) {
        (ThreadKind::Xenforo, Place::Attachment) => format!("/attachments/{stem}-png.{post}/"),
        (ThreadKind::Phpbb, _) => format!("/download/file.php?id={post}"),
        _ => format!("/files/{stem}.{}", file_kind.extension()),
    };
    ForumLink { file: Some(MediaFile::make(seed, &stem, path.clone(), file_kind)), path, place }
}

impl Thread {
    /// Number of its pages; a thread without posts has one.
    pub fn pages(&self) -> usize {
        self.posts.len().div_ceil(self.per_page).max(1)
    }

    /// Path of its first page.
    pub fn path(&self) -> String {
        self.page_path(1)
    }

    /// Path of a page, from 1. Discourse gives later posts by their ids.
    pub fn page_path(&self, page: usize) -> String {
        match (self.kind, page) {
            (ThreadKind::Discourse, _) => format!("/t/{}.json", self.id),
            (ThreadKind::Xenforo, 1) => format!("/threads/{}/", self.id),
            (ThreadKind::Xenforo, page) => format!("/threads/{}/page-{page}", self.id),
            (ThreadKind::Phpbb, 1) => format!("/viewtopic.php?t={}", self.id),
            (ThreadKind::Phpbb, page) => format!("/viewtopic.php?t={}&start={}", self.id, (page - 1) * self.per_page),
        }
    }

    pub(super) fn on_page(&self, page: usize) -> &[ForumPost] {
        let begin = (page.max(1) - 1).saturating_mul(self.per_page).min(self.posts.len());
        &self.posts[begin..self.posts.len().min(begin + self.per_page)]
    }
}

impl ForumPost {
    /// Its text as a paragraph of markup.
    pub(super) fn paragraph(&self) -> String {
        format!("<p>{}</p>", escape(&self.text))
    }
}

pub(super) fn find(world: &World, kind: ThreadKind, id: u64) -> Option<Thread> {
    world.inventory().threads.iter().find(|thread| thread.kind == kind && thread.id == id).cloned()
}

//! Forums: their kinds, where their pages have posts, and the posts of its threads.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use url::Url;
use utoipa::ToSchema;

use crate::media::item::ItemKind;
use crate::vocabulary::vocabulary;

vocabulary! {
    pub enum ForumKind {
        Discourse,
        Xenforo,
        Phpbb,
    }
}

/// Selectors of the posts in a forum's pages, where they differ from those of its kind. Each is `CSS` (the
/// element's text), `CSS@ATTRIBUTE`, or `@ATTRIBUTE` of the post itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SelectorOverrides {
    /// CSS of the element of a post.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500)]
    pub post: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500)]
    pub post_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500)]
    pub author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500)]
    pub time: Option<String>,
    /// Format of a time that is text, in the letters of strftime; a time without a zone is UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500)]
    pub date_format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500)]
    pub body: Option<String>,
    /// The link to the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 500)]
    pub next: Option<String>,
    /// Addresses of media in a post.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_items = 20)]
    pub media: Option<Vec<String>>,
}

/// A post of a thread, as a reader has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForumPost {
    /// Unique within its forum.
    pub external_id: String,
    /// Number of the post in its thread, from 1, where the forum shows it.
    pub number: Option<i32>,
    pub author: String,
    /// Time of the post; none if it cannot be read: forums write it in the language of the reader.
    pub posted_at: Option<DateTime<Utc>>,
    /// Text of the post, without markup.
    pub text: String,
    /// Each once, in the order of the post.
    #[serde(skip)]
    pub media: Vec<MediaLink>,
}

/// A link of a post to media; a page has a player, and only a tool can download it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaLink {
    pub url: Url,
    pub kind: ItemKind,
}

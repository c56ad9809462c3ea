//! Media items: what a source has, whether we have it, and how an attempt to download it ended.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::vocabulary::vocabulary;

pub type ItemId = i64;

vocabulary! {
    pub enum ItemKind {
        /// Its address is that of the file.
        File,
        /// A tool finds its file.
        Page,
    }
}

vocabulary! {
    pub enum ItemState {
        Known,
        Downloaded,
        /// The file will never come.
        Gone,
        /// The server does not give the file without a login, or not to us.
        Refused,
        Failed,
    }
}

/// An item as its source lists it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NewItem {
    pub source: String,
    /// Unique within the source.
    pub source_id: String,
    pub kind: ItemKind,
    pub url: String,
    pub referer: Option<String>,
    pub title: Option<String>,
    pub posted_at: Option<DateTime<Utc>>,
    pub metadata: Map<String, Value>,
}

/// An item to download.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    pub id: ItemId,
    pub source: String,
    pub kind: ItemKind,
    pub url: String,
    pub referer: Option<String>,
    /// Platform and credential of its account.
    pub platform: Option<String>,
    pub credential_id: Option<i64>,
    /// The task has nothing to do for it.
    pub is_over: bool,
}

/// A file that is stored. Items of the same content share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredFile {
    /// Digest in lower-case hex.
    pub sha256: String,
    /// Path relative to the storage root.
    pub path: String,
    pub bytes: i64,
    pub media_type: String,
    pub width: Option<i32>,
    pub height: Option<i32>,
    pub duration_ms: Option<i64>,
}

/// How an attempt to download an item ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemEnd {
    Downloaded(StoredFile),
    Gone { reason: String },
    Refused { reason: String },
    Failed { reason: String },
}

impl ItemEnd {
    pub fn state(&self) -> ItemState {
        match self {
            ItemEnd::Downloaded(_) => ItemState::Downloaded,
            ItemEnd::Gone { .. } => ItemState::Gone,
            ItemEnd::Refused { .. } => ItemState::Refused,
            ItemEnd::Failed { .. } => ItemState::Failed,
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            ItemEnd::Downloaded(_) => None,
            ItemEnd::Gone { reason } | ItemEnd::Refused { reason } | ItemEnd::Failed { reason } => Some(reason),
        }
    }
}

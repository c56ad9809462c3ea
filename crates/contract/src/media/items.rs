//! Media items, as jobs find and download them, each with its file.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::age_sort::AgeSort;
use crate::cursor::Cursor;
use domain::media::item::{ItemId, ItemKind, ItemState};
use domain::vocabulary::Word;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ItemView {
    pub id: ItemId,
    /// `youtube`, the name of a forum, or that of a site in the tool that found it.
    pub source: String,
    /// Unique within the source.
    pub source_id: String,
    pub account_id: Option<i64>,
    #[schema(value_type = ItemKind)]
    pub kind: Word<ItemKind>,
    pub url: String,
    pub title: Option<String>,
    pub posted_at: Option<DateTime<Utc>>,
    #[schema(value_type = ItemState)]
    pub state: Word<ItemState>,
    /// Attempts to download it.
    pub attempts: i32,
    /// Why the last attempt did not produce a file.
    pub last_error: Option<String>,
    /// The digest of its file, in lower-case hex.
    pub sha256: Option<String>,
    /// Path of the file, relative to the storage root.
    pub path: Option<String>,
    /// Path of its picture, which `/img/` and this path show in any size; null if its file is no JPEG, PNG, WebP or
    /// GIF, or is larger than 20 MiB.
    pub local_image_path: Option<String>,
    pub bytes: Option<i64>,
    pub media_type: Option<String>,
    pub width: Option<i32>,
    pub height: Option<i32>,
    pub duration_ms: Option<i64>,
    /// Everything that its source says about it.
    #[schema(value_type = Object)]
    pub metadata: Value,
    pub created_at: DateTime<Utc>,
    pub downloaded_at: Option<DateTime<Utc>>,
}

/// Filter of items; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ItemFilter {
    /// Just this item.
    #[serde(skip)]
    pub id: Option<ItemId>,
    pub source: Option<String>,
    pub state: Option<ItemState>,
    /// Only items of this account.
    pub account_id: Option<i64>,
    /// Order by the time when the item was found.
    #[param(inline)]
    pub sort: AgeSort,
    /// The last item of the page before, in the same sort.
    #[serde(skip)]
    pub after: Option<ItemId>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ItemPage {
    pub items: Vec<ItemView>,
    /// Cursor of the next page; null on the last page.
    #[schema(inline)]
    pub next_cursor: Option<Cursor>,
}

//! `download_media`: downloads media that are known.
//!
//! In: the column `payload` of a task. Out: facts about such tasks, and their typed arguments. It must not know how they run.

use serde::{Deserialize, Deserializer, Serialize};

use super::within_limit;
use crate::task::kind::{Key, Kind};

pub const KIND: Kind = Kind {
    key: Key { argument: Some("media_ids"), ..Key::NONE },
    title: "Download Media",
    description: "Downloads media items that are already listed",
    ..Kind::MEDIA
};

/// Items to download, by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Args {
    #[serde(deserialize_with = "media_ids")]
    pub media_ids: Vec<i64>,
    /// Items of another source are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

fn media_ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i64>, D::Error> {
    within_limit("media_ids", Vec::deserialize(deserializer)?)
}

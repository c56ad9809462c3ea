//! Watched channels, whose new videos `youtube_monitor` looks for.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Fields, NO_CHANGE, Record, RecordKind, yes};
use crate::checks::{BadField, bad};

const PREFIX: &str = "UC";
const ID_CHARS: usize = 24;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Channel {
    pub id: i64,
    pub channel_id: String,
    /// Its new videos are downloaded.
    pub download: bool,
    pub enabled: bool,
    pub last_polled_at: Option<DateTime<Utc>>,
    /// Why the last poll failed; null: it did not.
    pub last_error: Option<String>,
    pub created_at: DateTime<Utc>,
}

#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChannelDraft {
    /// The id that the channel's address has: `UC` and 22 letters, digits, hyphens and underscores.
    #[schema(pattern = "^UC[A-Za-z0-9_-]{22}$", example = "UCabcdefghijklmnopqrstuv")]
    pub channel_id: String,
    /// Download its new videos. The videos of its first poll are not new.
    #[serde(default)]
    pub download: bool,
    #[serde(default = "yes")]
    #[schema(default = true)]
    pub enabled: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
#[schema(min_properties = 1)]
pub struct ChannelChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub download: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

impl Record for Channel {
    const KIND: RecordKind = RecordKind::Channels;
    type Draft = ChannelDraft;
    type Change = ChannelChange;

    fn id(&self) -> i64 {
        self.id
    }
}

impl Fields for ChannelDraft {
    fn check(&self) -> Result<(), BadField> {
        let is_id = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
        let id = self.channel_id.as_str();
        match id.len() == ID_CHARS && id.starts_with(PREFIX) && id.chars().all(is_id) {
            true => Ok(()),
            false => Err(bad(
                "channel_id",
                "must be UC and 22 letters, digits, hyphens or underscores, as in youtube.com/channel/UC…",
            )),
        }
    }
}

impl Fields for ChannelChange {
    fn check(&self) -> Result<(), BadField> {
        match (self.download, self.enabled) {
            (None, None) => Err(bad("enabled", NO_CHANGE)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::an_id("UCabcdefghijklmnopqrst-_", true)]
    #[case::short("UCabcdefghijklmnopqrst", false)]
    #[case::another_prefix("UUabcdefghijklmnopqrstuv", false)]
    #[case::a_handle("@someone", false)]
    #[case::a_path("UC../../../../etc/passwd", false)]
    #[case::beyond_ascii("UCabcdefghijklmnopqrstéé", false)]
    fn a_channel_has_an_id_of_its_service(#[case] channel_id: &str, #[case] is_taken: bool) {
        let draft = ChannelDraft { channel_id: channel_id.to_owned(), download: false, enabled: true };
        assert_eq!(draft.check().map_err(|bad| bad.field), if is_taken { Ok(()) } else { Err("channel_id") });
    }
}

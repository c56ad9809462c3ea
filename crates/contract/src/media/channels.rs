//! Watched channels, whose new videos `youtube_monitor` looks for.

use chrono::{DateTime, Utc};

use super::record::record;
use super::{Fields, yes};
use crate::checks::{BadField, bad};

const PREFIX: &str = "UC";
const ID_CHARS: usize = 24;

record! {
    Channels: Channel {
        channel_id: String,
        /// Its new videos are downloaded.
        download: bool,
        enabled: bool,
        last_polled_at: Option<DateTime<Utc>>,
        /// Why the last poll failed; null: it did not.
        last_error: Option<String>,
        created_at: DateTime<Utc>,
    }
    draft ChannelDraft {
        /// The id in the channel's address: `UC` and 22 letters, digits, hyphens and underscores.
        #[schema(pattern = "^UC[A-Za-z0-9_-]{22}$", example = "UCabcdefghijklmnopqrstuv")]
        channel_id: String,
        /// Download its new videos. The videos of its first poll are not new.
        #[serde(default)]
        download: bool,
        #[serde(default = "yes")]
        #[schema(default = true)]
        enabled: bool,
    }
    change ChannelChange {
        download: bool,
        enabled: bool,
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
        self.check_not_empty("enabled")
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

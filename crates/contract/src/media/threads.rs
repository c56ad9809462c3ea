//! Watched threads of forums, which `forum_scrape` reads.

use chrono::{DateTime, Utc};

use super::record::record;
use super::{Fields, yes};
use crate::checks::{BadField, bad};

const MAX_DIGITS: usize = 18;

record! {
    Threads: Thread {
        forum_id: i64,
        /// The number of the thread in its forum.
        external_id: String,
        /// Media of its posts are downloaded.
        download: bool,
        enabled: bool,
        /// The id of its newest post, as its forum has it; null: none was read.
        last_post_id: Option<String>,
        /// Why the last reading failed; null: it did not.
        last_error: Option<String>,
        created_at: DateTime<Utc>,
        updated_at: DateTime<Utc>,
    }
    draft ThreadDraft {
        /// Id of the forum, as `media list forums` shows it.
        #[schema(minimum = 1)]
        forum_id: i64,
        /// The number in the thread's address: 123 of `/threads/title.123/`, `/t/title/123` or `viewtopic.php?t=123`.
        #[schema(pattern = "^[1-9][0-9]{0,17}$", example = "123")]
        external_id: String,
        /// Download media of its posts.
        #[serde(default)]
        download: bool,
        #[serde(default = "yes")]
        #[schema(default = true)]
        enabled: bool,
    }
    change ThreadChange {
        download: bool,
        enabled: bool,
    }
}

impl Fields for ThreadDraft {
    fn check(&self) -> Result<(), BadField> {
        let id = self.external_id.as_str();
        let is_number = (1..=MAX_DIGITS).contains(&id.len())
            && !id.starts_with('0')
            && id.bytes().all(|byte| byte.is_ascii_digit());
        match is_number {
            true => Ok(()),
            false => Err(bad(
                "external_id",
                "must be the number in the thread's address: 123 of /threads/title.123/, /t/title/123 or viewtopic.php?t=123",
            )),
        }
    }
}

impl Fields for ThreadChange {
    fn check(&self) -> Result<(), BadField> {
        self.check_not_empty("enabled")
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::a_number("123", true)]
    #[case::with_a_title("title.123", false)]
    #[case::a_path("../1", false)]
    #[case::zero("0", false)]
    #[case::empty("", false)]
    #[case::long("1234567890123456789", false)]
    #[case::other_digits("١٢", false)]
    fn a_thread_is_named_by_its_number(#[case] external_id: &str, #[case] is_taken: bool) {
        let draft = ThreadDraft { forum_id: 1, external_id: external_id.to_owned(), download: false, enabled: true };
        assert_eq!(draft.check().map_err(|bad| bad.field), if is_taken { Ok(()) } else { Err("external_id") });
    }
}

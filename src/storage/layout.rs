//! Where files lie under the storage root. Pure: names in, relative paths out, and nothing that climbs out of the root.

use std::path::{Component, Path, PathBuf};

use chrono::{DateTime, Utc};

use crate::domain::dispensary::DispensaryId;

/// The directory of all payloads, and the first part of each one's path.
pub const PAYLOADS: &str = "payloads";

/// Names the database that knows the payloads.
pub const OWNER: &str = "payloads/.database";

/// `payloads/2025/11/07/store_123_20251107T093000123Z.json.gz`, all in UTC.
pub fn payload(store: DispensaryId, at: DateTime<Utc>) -> String {
    format!("{PAYLOADS}/{}/store_{store}_{}.json.gz", at.format("%Y/%m/%d"), at.format("%Y%m%dT%H%M%S%3fZ"))
}

/// The file that `path` means under `root`; none when it is no path of a payload: not below [`PAYLOADS`], absolute, or climbing.
pub fn resolve(root: &Path, path: &str) -> Option<PathBuf> {
    let plain = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    // `./` and `//` vanish in components, but would give one file two names
    let spelt_out = path.split('/').all(|part| !part.is_empty() && part != "." && part != "..");
    let below = path.strip_prefix(PAYLOADS).is_some_and(|rest| rest.starts_with('/'));
    (plain && spelt_out && below && !path.contains(['\0', '\\'])).then(|| root.join(path))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_payload_lies_in_its_day_in_utc() {
        let at = "2025-01-09T23:05:07.008-07:00".parse::<DateTime<Utc>>().unwrap();
        assert_eq!(payload(123, at), "payloads/2025/01/10/store_123_20250110T060507008Z.json.gz");
    }

    #[rstest]
    #[case::a_payload("payloads/2025/01/10/store_1_x.json.gz", true)]
    #[case::another_place("images/a.webp", false)]
    #[case::a_longer_name("payloads2/a", false)]
    #[case::the_directory("payloads", false)]
    #[case::nothing_below("payloads/", false)]
    #[case::absolute("/payloads/a", false)]
    #[case::climbing("payloads/../../etc/passwd", false)]
    #[case::climbing_at_the_end("payloads/..", false)]
    #[case::two_names("payloads/./a", false)]
    #[case::empty_part("payloads//a", false)]
    #[case::nul("payloads/a\0b", false)]
    #[case::backslash("payloads/..\\a", false)]
    #[case::empty("", false)]
    fn only_paths_of_payloads_are_resolved(#[case] path: &str, #[case] fine: bool) {
        assert_eq!(resolve(Path::new("/data"), path).is_some(), fine);
    }

    proptest! {
        #[test]
        fn nothing_climbs_out(path in "(payloads/)?[a./\\\\]{0,12}") {
            if let Some(file) = resolve(Path::new("/data"), &path) {
                prop_assert!(file.starts_with("/data/payloads"));
                prop_assert!(file.components().all(|part| part != Component::ParentDir));
            }
        }
    }
}

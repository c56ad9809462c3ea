//! Paths under the storage root. Pure: names in, relative paths out, and none that leads out of the root.

use std::path::{Component, Path, PathBuf};

use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};

use domain::store::StoreId;

/// The directory of all payloads, and the first part of each one's path.
pub const PAYLOADS: &str = "payloads";

/// The file that names the database whose payloads are under the root.
pub const OWNER: &str = "payloads/.database";

/// An object that `drover doctor` makes and deletes.
pub const PROBE: &str = "payloads/.probe.tmp";

/// Payloads without a row that the sweep has moved away, in a directory for each day on which it did.
pub const ORPHANS: &str = "payloads/.orphans";

/// `payloads/2025/11/07/store_123_20251107T093000123Z.json.gz`, all in UTC.
pub fn payload(store: StoreId, at: DateTime<Utc>) -> String {
    format!("{PAYLOADS}/{}/store_{store}_{}.json.gz", at.format("%Y/%m/%d"), at.format("%Y%m%dT%H%M%S%3fZ"))
}

/// `payloads/.orphans/2025-11-14/store_123_20251107T093000123Z.json.gz` for the payload at `path`.
pub fn orphan(path: &str, today: NaiveDate) -> String {
    format!("{ORPHANS}/{today}/{}", name(path))
}

/// Time when the payload at `path` was fetched; none when `path` is not what [`payload`] gives.
pub fn fetched_at(path: &str) -> Option<DateTime<Utc>> {
    let (store, at) = store_and_time(name(path))?;
    (payload(store, at) == path).then_some(at)
}

/// Whether the file at `path` has the name of a payload, in any directory.
pub fn is_payload_name(path: &str) -> bool {
    store_and_time(name(path)).is_some_and(|(store, at)| name(&payload(store, at)) == name(path))
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn store_and_time(name: &str) -> Option<(StoreId, DateTime<Utc>)> {
    let (store, time) = name.strip_prefix("store_")?.strip_suffix(".json.gz")?.split_once('_')?;
    let at = NaiveDateTime::parse_from_str(time, "%Y%m%dT%H%M%S%3fZ").ok()?.and_utc();
    Some((store.parse().ok()?, at))
}

/// The day of the directory `payloads/{year}/{month}/{day}`; none for any other.
pub fn day(dir: &str) -> Option<NaiveDate> {
    let date = dir.strip_prefix(PAYLOADS)?.strip_prefix('/')?;
    let day = NaiveDate::parse_from_str(date, "%Y/%m/%d").ok()?;
    (day.format("%Y/%m/%d").to_string() == date).then_some(day)
}

/// Whether `dir` is the directory of a day, a month or a year of payloads.
pub fn is_date(dir: &str) -> bool {
    let parts = dir.strip_prefix(PAYLOADS).and_then(|rest| rest.strip_prefix('/'));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit());
    parts.is_some_and(|parts| parts.split('/').all(is_number) && parts.split('/').count() <= 3)
}

/// The day of the directory `payloads/.orphans/{day}`; none for any other.
pub fn orphan_day(dir: &str) -> Option<NaiveDate> {
    dir.strip_prefix(ORPHANS)?.strip_prefix('/')?.parse().ok()
}

/// The file at `path` under `root`; None when `path` is not below [`PAYLOADS`], is absolute, or has `..` in
/// it.
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
    #[case::ours("payloads/2025/01/10/store_123_20250110T060507008Z.json.gz", true)]
    #[case::of_another_day("payloads/2025/01/11/store_123_20250110T060507008Z.json.gz", false)]
    #[case::without_milliseconds("payloads/2025/01/10/store_123_20250110T060507Z.json.gz", false)]
    #[case::of_no_store("payloads/2025/01/10/store_x_20250110T060507008Z.json.gz", false)]
    #[case::renamed("payloads/2025/01/10/store_123_20250110T060507008Z.json.gz.bak", false)]
    #[case::of_a_person("payloads/2025/01/10/notes.txt", false)]
    fn only_our_own_names_have_a_time(#[case] path: &str, #[case] ours: bool) {
        assert_eq!(fetched_at(path).map(|at| at.timestamp_millis()), ours.then_some(1_736_489_107_008));
    }

    #[test]
    fn an_orphan_keeps_its_name() {
        let path = "payloads/2025/01/10/store_123_20250110T060507008Z.json.gz";
        let orphan = orphan(path, NaiveDate::from_ymd_opt(2025, 2, 1).unwrap());
        assert_eq!(orphan, "payloads/.orphans/2025-02-01/store_123_20250110T060507008Z.json.gz");
        assert!(is_payload_name(&orphan) && fetched_at(&orphan).is_none());
        assert_eq!(orphan_day("payloads/.orphans/2025-02-01"), NaiveDate::from_ymd_opt(2025, 2, 1));
    }

    #[rstest]
    #[case::a_day("payloads/2025/01/10", true)]
    #[case::one_digit("payloads/2025/1/10", false)]
    #[case::an_archive("payloads/2024-archive/01/05", false)]
    #[case::no_day("payloads/2025/02/30", false)]
    fn only_our_own_directories_are_days(#[case] dir: &str, #[case] ours: bool) {
        assert_eq!(day(dir).is_some(), ours);
    }

    #[rstest]
    #[case::a_day("payloads/2025/01/10", true)]
    #[case::a_month("payloads/2025/01", true)]
    #[case::all_of_them("payloads", false)]
    #[case::orphans("payloads/.orphans", false)]
    #[case::below_a_day("payloads/2025/01/10/1", false)]
    #[case::elsewhere("images/2025", false)]
    fn days_months_and_years_are_dates(#[case] dir: &str, #[case] date: bool) {
        assert_eq!(is_date(dir), date);
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

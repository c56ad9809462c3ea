//! What is known of a payload: a raw upstream answer kept gzipped, and its row in `raw_crawl_payloads`.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::dispensary::{DispensaryId, Platform};
use super::task::TaskId;

pub type PayloadId = i64;

/// A row to be written. The file at `storage_path` is durable before this exists.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPayload {
    pub task_id: TaskId,
    pub dispensary_id: DispensaryId,
    pub platform: Platform,
    /// Relative to the storage root, beginning `payloads/`.
    pub storage_path: String,
    pub sha256: String,
    pub bytes: i64,
    /// Distinct provider ids in it.
    pub product_count: i32,
    /// What upstream said there is.
    pub total_count: i32,
    /// product_count / total_count, 0…1.
    pub coverage: f64,
    pub fetched_at: DateTime<Utc>,
}

/// A row as read back.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Payload {
    pub id: PayloadId,
    pub task_id: Option<TaskId>,
    pub dispensary_id: DispensaryId,
    pub platform: Platform,
    pub storage_path: String,
    pub sha256: String,
    pub bytes: i64,
    pub product_count: i32,
    pub total_count: i32,
    pub coverage: f64,
    pub fetched_at: DateTime<Utc>,
}

impl Payload {
    pub fn is_complete(&self, min_coverage: f64) -> bool {
        is_complete(self.product_count, self.total_count, min_coverage)
    }
}

/// Whether a crawl's silence about a product counts as a miss: all but a tolerated few of the announced products are in it, and
/// it is not empty, which says nothing about anybody.
pub fn is_complete(seen: i32, total: i32, min_coverage: f64) -> bool {
    seen > 0 && is_whole(seen, total, min_coverage)
}

/// Whether `seen` products are the menu that was announced to hold `total`: totals drift while a store is being edited, so a
/// small share may be missing, and one product always.
pub fn is_whole(seen: i32, total: i32, min_coverage: f64) -> bool {
    total - seen <= 1 || f64::from(seen) / f64::from(total) >= min_coverage
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::all(200, 200, true)]
    #[case::more(201, 200, true)]
    #[case::one_is_forgiven(9, 10, true)]
    #[case::two_of_ten_are_not(8, 10, false)]
    #[case::at_the_tolerance(398, 400, true)]
    #[case::below_it(397, 400, false)]
    #[case::of_a_large_menu(1990, 2000, true)]
    #[case::below_it_in_a_large_menu(1989, 2000, false)]
    #[case::nothing_of_nothing(0, 0, true)]
    #[case::nothing_of_two(0, 2, false)]
    fn half_a_percent_may_be_missing(#[case] seen: i32, #[case] total: i32, #[case] whole: bool) {
        assert_eq!(is_whole(seen, total, 0.995), whole);
    }

    #[rstest]
    #[case::all(200, 200, true)]
    #[case::one_short_in_a_small_menu(9, 10, true)]
    #[case::two_short_in_a_small_menu(8, 10, false)]
    #[case::at_the_tolerance(995, 1000, true)]
    #[case::below_it(994, 1000, false)]
    #[case::empty(0, 0, false)]
    #[case::one_announced_and_none_there(0, 1, false)]
    fn only_a_whole_menu_counts_misses(#[case] product_count: i32, #[case] total_count: i32, #[case] complete: bool) {
        let payload = Payload {
            id: 1,
            task_id: None,
            dispensary_id: 1,
            platform: Platform::Dutchie,
            storage_path: String::new(),
            sha256: String::new(),
            bytes: 0,
            product_count,
            total_count,
            coverage: f64::from(product_count) / f64::from(total_count.max(1)),
            fetched_at: DateTime::UNIX_EPOCH,
        };
        assert_eq!(payload.is_complete(0.995), complete);
    }
}

//! A payload: a raw upstream answer kept gzipped, and its row in `raw_crawl_payloads`.

pub mod diff;

use std::ops::AddAssign;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::store::{Platform, StoreId};
use super::task::TaskId;

pub type PayloadId = i64;

/// Maximum size of all pages of a menu together, without any coding: a menu of ten thousand products. A
/// larger one is neither kept nor read.
pub const MAX_MENU_BYTES: usize = 64 << 20;

/// A row to be written. The file at `storage_path` is durable before this exists.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPayload {
    pub task_id: TaskId,
    pub dispensary_id: StoreId,
    pub platform: Platform,
    /// Relative to the storage root, beginning `payloads/`.
    pub storage_path: String,
    pub sha256: String,
    pub bytes: i64,
    /// Distinct provider ids in it.
    pub product_count: i32,
    /// Number of products, as upstream stated it.
    pub total_count: i32,
    /// product_count / total_count, 0…1.
    pub coverage: f64,
    /// Begin of its fetch in database time, which orders a store's payloads.
    pub fetched_at: DateTime<Utc>,
}

/// A row as read back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Payload {
    pub id: PayloadId,
    pub task_id: Option<TaskId>,
    pub dispensary_id: StoreId,
    pub platform: Platform,
    pub storage_path: String,
    pub sha256: String,
    pub bytes: i64,
    pub product_count: i32,
    pub total_count: i32,
    pub coverage: f64,
    pub fetched_at: DateTime<Utc>,
}

/// A store's state when a fetch of its menu begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchStart {
    /// Database time, in whole milliseconds.
    pub at: DateTime<Utc>,
    /// Products that its menu held before.
    pub products: usize,
    /// An operator has accepted that it sells nothing, or the menu before was empty.
    pub expects_empty: bool,
    /// Proxies through which the latest menus came that were too small to be believed.
    pub small_menu_proxies: Vec<i64>,
}

impl FetchStart {
    /// Whether a menu of this many products is too small to be believed at once: less than half of the
    /// products before, or none if some are expected.
    pub fn is_too_small(&self, products: usize) -> bool {
        match products {
            0 => !self.expects_empty,
            _ => products * 2 < self.products,
        }
    }
}

/// The request that a page of a payload answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PageQuestion {
    pub operation: String,
    /// The adapter's own note of where in the menu it asked.
    pub cursor: Value,
}

/// A page of a payload as it is read back.
#[derive(Clone, Copy, Debug)]
pub struct StoredPage<'a> {
    /// None in files that were written before questions were kept.
    pub question: Option<&'a PageQuestion>,
    /// The answer of upstream: a JSON text.
    pub body: &'a [u8],
}

/// Times that decide which files without a row may go, by the database's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepTimes {
    pub now: DateTime<Utc>,
    /// A file that was fetched before it and has no row never gets one.
    pub before: DateTime<Utc>,
}

/// Payload files that are, or would be, removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RemovedFiles {
    pub files: u64,
    pub bytes: u64,
}

impl AddAssign for RemovedFiles {
    fn add_assign(&mut self, other: RemovedFiles) {
        self.files += other.files;
        self.bytes += other.bytes;
    }
}

impl Payload {
    pub fn is_complete(&self, min_coverage: f64) -> bool {
        is_complete(self.product_count, self.total_count, min_coverage)
    }
}

/// Whether a crawl's silence about a product counts as a miss: all but a tolerated few of the announced
/// products are in it. An empty menu that was kept has been believed.
pub fn is_complete(seen: i32, total: i32, min_coverage: f64) -> bool {
    (seen > 0 || total == 0) && is_whole(seen, total, min_coverage)
}

/// Whether `seen` products are the menu that was announced to hold `total`: totals drift while a store is
/// being edited, so a small share may be missing, and one product always.
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
    #[case::empty(0, 0, true)]
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

    #[rstest]
    #[case::half_of_it(100, 50, false)]
    #[case::less_than_half(100, 49, true)]
    #[case::less_than_half_of_an_odd_number(5, 2, true)]
    #[case::more(100, 300, false)]
    #[case::the_first_menu(0, 1, false)]
    fn a_menu_with_less_than_half_of_the_products_is_not_believed_at_once(
        #[case] before: usize,
        #[case] products: usize,
        #[case] is_too_small: bool,
        #[values(false, true)] expects_empty: bool,
    ) {
        assert_eq!(start(before, expects_empty).is_too_small(products), is_too_small);
    }

    #[rstest]
    #[case::some_are_expected(false, true)]
    #[case::none_is_expected(true, false)]
    fn an_empty_menu_is_believed_where_it_is_expected(#[case] expects_empty: bool, #[case] is_too_small: bool) {
        assert_eq!(start(100, expects_empty).is_too_small(0), is_too_small);
    }

    fn start(products: usize, expects_empty: bool) -> FetchStart {
        FetchStart { at: DateTime::UNIX_EPOCH, products, expects_empty, small_menu_proxies: Vec::new() }
    }

    #[test]
    fn removed_files_are_added_up() {
        let mut removed = RemovedFiles { files: 2, bytes: 300 };
        removed += RemovedFiles { files: 3, bytes: 40 };
        assert_eq!(removed, RemovedFiles { files: 5, bytes: 340 });
    }
}

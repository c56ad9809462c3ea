//! A crawl's statement about a product that it did, or did not, contain; and which crawl may make it.
//!
//! The statements in `db/sql/products` do the same for a whole store at once; a test holds them to these
//! functions.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::product::StockStatus;
use crate::payload::PayloadId;
use crate::years;

/// Misses in a row after which a product is out of stock. One bad crawl must not do it.
pub const MISSES_TO_OUT_OF_STOCK: i16 = 3;

/// Whether a product is in stock, and how often in a row it was missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stock {
    pub is_in_stock: bool,
    pub status: StockStatus,
    /// Complete crawls in a row that did not contain it, 0…3.
    pub misses: i16,
}

impl Stock {
    /// Stock as the feed shows it.
    pub fn seen(is_in_stock: bool, status: StockStatus) -> Self {
        Stock { is_in_stock, status, misses: 0 }
    }

    /// Stock after one more complete crawl without the product. The counter stops at three.
    pub fn missed(self) -> Self {
        let misses = (self.misses + 1).min(MISSES_TO_OUT_OF_STOCK);
        if misses < MISSES_TO_OUT_OF_STOCK {
            return Stock { misses, ..self };
        }
        Stock { is_in_stock: false, status: StockStatus::Oos, misses }
    }
}

/// Returns when a product was last on the menu: the time in its row, and for a row without a miss its store's last
/// complete crawl.
pub fn last_seen(row: DateTime<Utc>, misses: i16, last_complete: Option<DateTime<Utc>>) -> DateTime<Utc> {
    match last_complete {
        Some(crawl) if misses == 0 => row.max(crawl),
        _ => row,
    }
}

/// A payload's place in the order of its store's payloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PayloadPosition {
    #[serde(deserialize_with = "years::within")]
    pub fetched_at: DateTime<Utc>,
    pub id: PayloadId,
}

/// Writes that a payload may make, given the newest one written before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PayloadOrder {
    /// Everything: products, snapshots, misses.
    Newest,
    /// Products and snapshots, but a second miss is not counted.
    Replay,
    /// Its snapshots, the times when products were seen first and last, and products that have no row.
    /// Current rows stay.
    Older,
}

impl PayloadOrder {
    pub fn of(payload: PayloadPosition, newest: Option<PayloadPosition>) -> PayloadOrder {
        match newest {
            None => PayloadOrder::Newest,
            Some(newest) if payload.id == newest.id => PayloadOrder::Replay,
            Some(newest) if payload > newest => PayloadOrder::Newest,
            Some(_) => PayloadOrder::Older,
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use rstest::rstest;

    use super::*;

    fn in_stock(misses: i16) -> Stock {
        Stock { is_in_stock: true, status: StockStatus::InStock, misses }
    }

    fn unknown(misses: i16) -> Stock {
        Stock { is_in_stock: true, status: StockStatus::Unknown, misses }
    }

    fn out_of_stock(misses: i16) -> Stock {
        Stock { is_in_stock: false, status: StockStatus::Oos, misses }
    }

    #[rstest]
    #[case::the_first_miss_changes_nothing(in_stock(0), in_stock(1))]
    #[case::nor_does_the_second(in_stock(1), in_stock(2))]
    #[case::the_third_puts_it_out_of_stock(in_stock(2), out_of_stock(3))]
    #[case::the_counter_stops_at_three(out_of_stock(3), out_of_stock(3))]
    #[case::unknown_stock_waits_too(unknown(1), unknown(2))]
    #[case::and_ends_out_of_stock(unknown(2), out_of_stock(3))]
    fn misses_add_up(#[case] before: Stock, #[case] after: Stock) {
        assert_eq!(before.missed(), after);
    }

    #[test]
    fn a_product_in_the_feed_is_back_at_once() {
        assert_eq!(Stock::seen(true, StockStatus::InStock), in_stock(0));
    }

    fn at(second: i64, id: PayloadId) -> PayloadPosition {
        PayloadPosition { fetched_at: DateTime::UNIX_EPOCH + TimeDelta::seconds(second), id }
    }

    #[rstest]
    #[case::the_first(at(5, 1), None, PayloadOrder::Newest)]
    #[case::a_later_one(at(6, 2), Some(at(5, 1)), PayloadOrder::Newest)]
    #[case::the_same(at(5, 1), Some(at(5, 1)), PayloadOrder::Replay)]
    #[case::an_earlier_one(at(4, 9), Some(at(5, 1)), PayloadOrder::Older)]
    #[case::of_two_at_one_instant_the_later_row(at(5, 2), Some(at(5, 1)), PayloadOrder::Newest)]
    fn payloads_have_an_order(
        #[case] payload: PayloadPosition,
        #[case] last: Option<PayloadPosition>,
        #[case] order: PayloadOrder,
    ) {
        assert_eq!(PayloadOrder::of(payload, last), order);
    }

    #[rstest]
    #[case::without_a_miss_the_crawl_counts(10, 0, Some(20), 20)]
    #[case::a_later_partial_crawl_counts_more(30, 0, Some(20), 30)]
    #[case::with_a_miss_the_row_counts(10, 1, Some(20), 10)]
    #[case::no_complete_crawl_yet(10, 0, None, 10)]
    fn the_last_sighting_is_known(
        #[case] row: i64,
        #[case] misses: i16,
        #[case] crawl: Option<i64>,
        #[case] expected: i64,
    ) {
        let time = |second| at(second, 0).fetched_at;
        assert_eq!(last_seen(time(row), misses, crawl.map(time)), time(expected));
    }
}

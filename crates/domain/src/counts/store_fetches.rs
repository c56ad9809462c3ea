//! `StoreFetchCounts`: counts of one process's requests for each store, by day, until they are written. Pure.
//!
//! In: requests that ended. Out: the totals that have grown since they were written. Totals only grow, so
//! that they may be written any number of times. Bounded: requests of further stores count for no store. It
//! must not know hosts, proxies or the table.

use std::collections::HashMap;

use chrono::{DateTime, NaiveDate, Utc};

use super::fetches::FetchTotal;
use crate::store::StoreId;

/// Maximum stores counted separately, over all days that are kept.
pub const MAX_TOTALS: usize = 20_000;

/// Key that requests are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoreDay {
    /// Day in UTC.
    pub day: NaiveDate,
    /// None: of no store, or of one that there was no room for.
    pub store: Option<StoreId>,
}

#[derive(Debug, Default)]
pub struct StoreFetchCounts {
    entries: HashMap<StoreDay, Entry>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    total: FetchTotal,
    /// Number of its requests that are written.
    written: i64,
}

impl StoreDay {
    /// Key of a request for `store` that ended `now`.
    pub fn new(now: DateTime<Utc>, store: Option<StoreId>) -> StoreDay {
        StoreDay { day: now.date_naive(), store }
    }
}

impl StoreFetchCounts {
    pub fn add(&mut self, key: StoreDay, request: FetchTotal) {
        let has_room = self.entries.len() < MAX_TOTALS || self.entries.contains_key(&key);
        let key = if has_room { key } else { StoreDay { store: None, ..key } };
        self.entries.entry(key).or_default().total += request;
    }

    /// The totals that have grown since they were written, the oldest day first.
    pub fn unwritten(&self) -> Vec<(StoreDay, FetchTotal)> {
        let unwritten = self.entries.iter().filter(|(_, entry)| entry.has_grown());
        let mut totals: Vec<_> = unwritten.map(|(key, entry)| (*key, entry.total)).collect();
        totals.sort_by_key(|(key, _)| *key);
        totals
    }

    /// Notes written totals, and forgets the ones that are written and grow no more: the days before that of
    /// `now`.
    pub fn written(&mut self, totals: &[(StoreDay, FetchTotal)], now: DateTime<Utc>) {
        for (key, total) in totals {
            if let Some(entry) = self.entries.get_mut(key) {
                entry.written = entry.written.max(total.requests);
            }
        }
        let today = now.date_naive();
        self.entries.retain(|key, entry| key.day >= today || entry.has_grown());
    }
}

impl Entry {
    fn has_grown(&self) -> bool {
        self.written < self.total.requests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        format!("2026-11-{text}Z").parse().unwrap()
    }

    fn request(bytes: i64) -> FetchTotal {
        FetchTotal { requests: 1, bytes_sent: 10, bytes_received: bytes, seconds: 0.5 }
    }

    fn unwritten(counts: &StoreFetchCounts) -> Vec<(String, Option<StoreId>, i64, i64)> {
        let totals = counts.unwritten().into_iter();
        totals.map(|(key, total)| (key.day.to_string(), key.store, total.requests, total.bytes_received)).collect()
    }

    #[test]
    fn requests_are_added_up_by_store_and_day() {
        let mut counts = StoreFetchCounts::default();
        let ended =
            [("23T00:00:00", Some(1)), ("23T23:59:59", Some(1)), ("23T08:00:00", None), ("24T00:00:00", Some(1))];
        for (time, store) in ended {
            counts.add(StoreDay::new(at(time), store), request(100));
        }
        let day = |day: &str, store, requests, bytes| (day.to_owned(), store, requests, bytes);
        let expected =
            [day("2026-11-23", None, 1, 100), day("2026-11-23", Some(1), 2, 200), day("2026-11-24", Some(1), 1, 100)];
        assert_eq!(unwritten(&counts), expected);
    }

    #[test]
    fn only_what_has_grown_is_written_again_and_with_its_whole_total() {
        let mut counts = StoreFetchCounts::default();
        let (one, other) = (StoreDay::new(at("23T08:00:00"), Some(1)), StoreDay::new(at("23T08:00:00"), Some(2)));
        counts.add(one, request(100));
        counts.add(other, request(100));
        let written = counts.unwritten();
        counts.add(one, request(50));
        counts.written(&written, at("23T09:00:00"));
        assert_eq!(unwritten(&counts), [("2026-11-23".to_owned(), Some(1), 2, 150)]);
    }

    #[test]
    fn a_day_is_forgotten_when_it_is_over_and_all_of_it_was_written() {
        let mut counts = StoreFetchCounts::default();
        let key = StoreDay::new(at("23T08:00:00"), Some(1));
        counts.add(key, request(1));
        let written = counts.unwritten();
        counts.add(key, request(1));
        counts.written(&written, at("24T00:00:00"));
        assert_eq!(unwritten(&counts).len(), 1, "it has grown since it was written");
        counts.written(&counts.unwritten(), at("24T00:00:00"));
        counts.add(key, request(7));
        assert_eq!(unwritten(&counts), [("2026-11-23".to_owned(), Some(1), 1, 7)], "what was before is forgotten");
    }

    #[test]
    fn stores_beyond_the_bound_count_for_none() {
        let mut counts = StoreFetchCounts::default();
        let add = |counts: &mut StoreFetchCounts, store| {
            counts.add(StoreDay::new(at("23T08:00:00"), Some(store)), request(1));
        };
        (0..=MAX_TOTALS as i64).for_each(|store| add(&mut counts, store));
        add(&mut counts, 7);
        let totals = counts.unwritten();
        assert_eq!(totals.len(), MAX_TOTALS + 1);
        let requests = |store| totals.iter().find(|(key, _)| key.store == store).map(|(_, total)| total.requests);
        assert_eq!((requests(None), requests(Some(7)), requests(Some(MAX_TOTALS as i64))), (Some(1), Some(2), None));
    }
}

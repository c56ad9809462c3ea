//! `FetchCounts`: counts of one process's requests to hosts through proxies, by minute, until they are
//! written. Pure.
//!
//! In: requests that ended. Out: the totals of each minute, which only grow, so that they may be written any
//! number of times. Bounded: where minutes cannot be written for long, new ones are not counted.

use std::collections::HashMap;
use std::ops::AddAssign;

use chrono::{DateTime, DurationRound, TimeDelta, Utc};

use crate::proxy::ProxyId;

/// Maximum totals kept: an hour's without the database, with some hundred proxies in use each minute.
pub const MAX_TOTALS: usize = 50_000;

/// Key that requests are counted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FetchKey {
    pub minute: DateTime<Utc>,
    pub host: String,
    pub proxy: ProxyId,
    /// Label in metrics: `ok`, `blocked`, `timeout`, …
    pub outcome: &'static str,
}

/// One request, or the total of many.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FetchTotal {
    pub requests: i64,
    /// Bytes sent on the connection to the proxy.
    pub bytes_sent: i64,
    pub bytes_received: i64,
    pub seconds: f64,
}

#[derive(Debug, Default)]
pub struct FetchCounts {
    totals: HashMap<FetchKey, FetchTotal>,
}

impl FetchKey {
    /// Key of a request that ended `now`.
    pub fn new(now: DateTime<Utc>, host: &str, proxy: ProxyId, outcome: &'static str) -> FetchKey {
        FetchKey { minute: minute(now), host: host.to_owned(), proxy, outcome }
    }
}

impl AddAssign for FetchTotal {
    fn add_assign(&mut self, other: FetchTotal) {
        self.requests += other.requests;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
        self.seconds += other.seconds;
    }
}

impl FetchCounts {
    /// Counts a request; false if the counts are full.
    pub fn add(&mut self, key: FetchKey, request: FetchTotal) -> bool {
        if self.totals.len() >= MAX_TOTALS && !self.totals.contains_key(&key) {
            return false;
        }
        *self.totals.entry(key).or_default() += request;
        true
    }

    /// All totals, the oldest minute first.
    pub fn totals(&self) -> Vec<(FetchKey, FetchTotal)> {
        let mut totals: Vec<_> = self.totals.iter().map(|(key, total)| (key.clone(), *total)).collect();
        totals.sort_by(|(one, _), (other, _)| one.cmp(other));
        totals
    }

    /// Forgets totals that are written and grow no more: the minutes before that of `now`, where they are
    /// equal in `written`.
    pub fn forget(&mut self, written: &[(FetchKey, FetchTotal)], now: DateTime<Utc>) {
        for (key, total) in written {
            if key.minute < minute(now) && self.totals.get(key) == Some(total) {
                self.totals.remove(key);
            }
        }
    }
}

fn minute(time: DateTime<Utc>) -> DateTime<Utc> {
    // only a time at the very end of what chrono can hold has no minute
    time.duration_trunc(TimeDelta::minutes(1)).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        format!("2026-11-23T{text}Z").parse().unwrap()
    }

    fn request(bytes: i64) -> FetchTotal {
        FetchTotal { requests: 1, bytes_sent: 10, bytes_received: bytes, seconds: 0.5 }
    }

    fn requests(counts: &FetchCounts) -> Vec<(String, i64, i64)> {
        let text = |key: &FetchKey| format!("{} {} {}", key.minute.format("%H:%M"), key.proxy, key.outcome);
        counts.totals().iter().map(|(key, total)| (text(key), total.requests, total.bytes_received)).collect()
    }

    #[test]
    fn requests_are_added_up_by_minute_proxy_and_outcome() {
        let mut counts = FetchCounts::default();
        for (time, proxy, outcome) in
            [("08:00:59", 1, "ok"), ("08:00:01", 1, "ok"), ("08:00:30", 2, "ok"), ("08:01:00", 1, "blocked")]
        {
            assert!(counts.add(FetchKey::new(at(time), "menu.test", proxy, outcome), request(100)));
        }
        let expected = [("08:00 1 ok", 2, 200), ("08:00 2 ok", 1, 100), ("08:01 1 blocked", 1, 100)];
        assert_eq!(requests(&counts), expected.map(|(key, count, bytes)| (key.to_owned(), count, bytes)));
        let both = FetchTotal { requests: 2, bytes_sent: 20, bytes_received: 200, seconds: 1.0 };
        assert_eq!(counts.totals()[0].1, both);
    }

    #[test]
    fn a_minute_is_forgotten_when_it_is_over_and_all_of_it_was_written() {
        let mut counts = FetchCounts::default();
        let key = |time| FetchKey::new(at(time), "menu.test", 1, "ok");
        counts.add(key("08:00:10"), request(1));
        let written = counts.totals();
        counts.forget(&written, at("08:00:59"));
        assert_eq!(counts.totals().len(), 1, "it may still grow");
        counts.add(key("08:00:59"), request(1));
        counts.forget(&written, at("08:01:00"));
        assert_eq!(counts.totals().len(), 1, "it has grown since it was written");
        counts.forget(&counts.totals(), at("08:01:00"));
        assert_eq!(counts.totals(), []);
    }

    #[test]
    fn a_process_that_cannot_write_keeps_a_bounded_number_of_totals() {
        let mut counts = FetchCounts::default();
        let key = |proxy| FetchKey::new(at("08:00:00"), "menu.test", proxy, "ok");
        for proxy in 0..=MAX_TOTALS as i64 {
            assert_eq!(counts.add(key(proxy), request(1)), proxy < MAX_TOTALS as i64);
        }
        assert!(counts.add(key(7), request(1)), "a total that is kept goes on growing");
        assert_eq!(counts.totals().len(), MAX_TOTALS);
    }
}

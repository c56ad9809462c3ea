//! `Visitors`: counts of consumers' requests, by country and region, for the public price site that they serve. No
//! address is kept.
//!
//! In: the headers and address of each request, and [`Geo`]. Out: rows of `visitor_hours`.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::{HeaderMap, HeaderName};

use db::counts::visitors::CountedPlace;
use db::{Db, DbError, counts};
use domain::store::place::Place;
use geo::Geo;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// Maximum distinct places per flush; requests from further ones are counted as unknown.
const MAX_PLACES: usize = 4_096;

/// Country and region; empty where they are not known.
type Key = (String, String);

/// The requests since the last flush.
#[derive(Default)]
pub struct Visitors(Mutex<BTreeMap<Key, i64>>);

impl Visitors {
    /// Counts a request. The site's server may name the visitor's address in `X-Forwarded-For`: it is only
    /// counted by it, so it need not be trusted.
    pub fn note(&self, geo: &Geo, headers: &HeaderMap, address: Option<IpAddr>) {
        let place = visitor(headers).or(address).and_then(|address| geo.look_up(address).ok().flatten());
        self.add(key(place), 1);
    }

    fn add(&self, key: Key, requests: i64) {
        let mut counts = self.counts();
        let is_full = counts.len() >= MAX_PLACES && !counts.contains_key(&key);
        let key = if is_full { Key::default() } else { key };
        let counted = counts.entry(key).or_default();
        *counted = counted.saturating_add(requests);
    }

    /// Writes the counts; on failure they are kept for the next time.
    pub async fn flush(&self, db: &Db) -> Result<(), DbError> {
        let taken = std::mem::take(&mut *self.counts());
        if taken.is_empty() {
            return Ok(());
        }
        let counted: Vec<CountedPlace> =
            taken.into_iter().map(|((country, region), requests)| CountedPlace { country, region, requests }).collect();
        let written = async { counts::visitors::add(&db.api_client().await?, &counted).await }.await;
        if written.is_err() {
            counted.into_iter().for_each(|place| self.add((place.country, place.region), place.requests));
        }
        written
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<Key, i64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(place: Option<Place>) -> Key {
    let Place { country, region, .. } = place.unwrap_or_default();
    // a text of the database holds no NUL
    let text = |text: Option<String>| text.filter(|text| !text.contains('\0')).unwrap_or_default();
    (text(country), text(region))
}

/// The first address, which is that of the visitor: each server on the way adds the one that it was asked
/// from.
fn visitor(headers: &HeaderMap) -> Option<IpAddr> {
    headers.get(FORWARDED_FOR)?.to_str().ok()?.split(',').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::none(None, None)]
    #[case::one(Some("203.0.113.7"), Some("203.0.113.7"))]
    #[case::of_several(Some("2001:db8::7, 10.0.0.1"), Some("2001:db8::7"))]
    #[case::no_address(Some("unknown, 203.0.113.7"), None)]
    fn the_visitor_is_the_first_that_was_forwarded(
        #[case] header: Option<&'static str>,
        #[case] address: Option<&str>,
    ) {
        let headers = header.map(|value| (FORWARDED_FOR, value.parse().unwrap())).into_iter().collect();
        assert_eq!(visitor(&headers).map(|address| address.to_string()).as_deref(), address);
    }

    #[test]
    fn places_are_bounded_and_requests_are_not() {
        let visitors = Visitors::default();
        for n in 0..MAX_PLACES + 500 {
            visitors.add(("US".to_owned(), n.to_string()), 2);
        }
        let counts = visitors.counts();
        assert_eq!(counts.len(), MAX_PLACES + 1);
        assert_eq!(counts.values().sum::<i64>(), 2 * (MAX_PLACES as i64 + 500));
    }
}

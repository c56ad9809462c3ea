//! `Crawler`: the one driver of all adapters. It asks, follows what an answer leads to, and holds the result against what upstream
//! announced.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use chrono::{DurationRound, TimeDelta};

use super::{Adapter, DiscoveryPoint, HashBook, Key, Menu, MenuPage, MenuPart, Query, StoreRef};
use crate::clock::Clock;
use crate::domain::dispensary::{Dispensary, FoundStore};
use crate::domain::payload::is_whole;
use crate::stealth::{FetchError, Request, Response, Session};

/// All pages of a menu together, inflated; the largest menus known have 7 MB.
const MAX_MENU_BYTES: usize = 128 << 20;

/// What one task crawls with.
pub struct Crawler<'a> {
    pub adapter: &'a dyn Adapter,
    pub session: &'a mut Session,
    pub hashes: &'a mut HashBook,
    pub limits: Limits,
    pub clock: &'a Clock,
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub max_pages: usize,
    /// Share of the announced items that a crawl must hold; one missing item is always forgiven.
    pub min_coverage: f64,
}

impl Crawler<'_> {
    /// Fetches a store's whole menu. `Empty` when a store that had products, or says it has, shows none; `Incomplete` when too
    /// few of the announced ones came.
    pub async fn fetch_menu(&mut self, store: &Dispensary, had_products: bool) -> Result<Menu, FetchError> {
        let adapter = self.adapter;
        let mut crawl = Crawl::default();
        let mut next = Some(adapter.menu(store)?);
        while let Some(query) = next.take().filter(|_| crawl.pages.len() < self.limits.max_pages) {
            let is_first = crawl.pages.is_empty();
            if !is_first {
                self.session.pause_between_pages().await;
            }
            let read = |response: &Response| {
                let part = adapter.read_menu(&query, response)?;
                if is_first { not_suspicious(part, had_products) } else { Ok(part) }
            };
            let (response, part) = self.ask(&query, read).await?;
            next = crawl.add(response, part)?;
        }
        crawl.check(self.limits)?;
        self.menu(store, crawl)
    }

    /// Finds out where a store without a platform id leads. `NotFound` when it leads nowhere.
    pub async fn resolve_store(&mut self, store: &Dispensary) -> Result<StoreRef, FetchError> {
        let query = self.adapter.entry(store)?;
        let found = self.stores(&query).await?.into_iter().next();
        let found = found.ok_or_else(|| FetchError::NotFound { what: format!("the store of {}", query.referer) })?;
        Ok(StoreRef { platform_dispensary_id: found.platform_dispensary_id, slug: found.slug, name: found.name })
    }

    /// The stores around a point, one of each id, those that must not be promoted among them.
    pub async fn discover(&mut self, point: &DiscoveryPoint) -> Result<Vec<FoundStore>, FetchError> {
        let query = self.adapter.around(point)?;
        let mut found = self.stores(&query).await?;
        let mut seen = HashSet::new();
        found.retain(|store| seen.insert(store.platform_dispensary_id.clone()));
        Ok(found)
    }

    async fn stores(&mut self, query: &Query) -> Result<Vec<FoundStore>, FetchError> {
        let adapter = self.adapter;
        let (_, found) = self.ask(query, |response| adapter.read_stores(query, response)).await?;
        Ok(found)
    }

    /// Asks by every hash that may work, then by the full text. A stale hash is nobody's fault, the proxy's least of all.
    async fn ask<T: Send>(
        &mut self,
        query: &Query,
        read: impl Fn(&Response) -> Result<T, FetchError> + Sync,
    ) -> Result<(Response, T), FetchError> {
        let candidates = self.hashes.candidates(query.operation);
        for hash in &candidates {
            let Some(request) = self.adapter.request(query, Key::Hash(&hash.hash)) else { break };
            match self.send(&request, &read).await {
                Err(FetchError::HashStale { .. }) => self.hashes.not_found(hash),
                Ok(answer) => {
                    self.hashes.worked(hash);
                    return Ok(answer);
                }
                Err(error) => return Err(error),
            }
        }
        if !candidates.is_empty() {
            self.hashes.exhaust(query.operation);
        }
        let answer = match self.adapter.request(query, Key::FullText) {
            Some(request) => self.send(&request, &read).await,
            None => Err(stale(query)),
        };
        match answer {
            // what refuses a full text as well leaves the hashes to be mended
            Err(FetchError::GraphQl { .. }) if !candidates.is_empty() => Err(stale(query)),
            answer => answer,
        }
    }

    /// Sends one request; the answer is read where it is judged, so that it is read once (a page takes a third of a
    /// millisecond).
    async fn send<T: Send>(
        &mut self,
        request: &Request,
        read: &(impl Fn(&Response) -> Result<T, FetchError> + Sync),
    ) -> Result<(Response, T), FetchError> {
        let kept = Mutex::new(None);
        let classify = |response: &Response| {
            let answer = read(response)?;
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
            Ok(())
        };
        let response = self.session.send(request, &classify).await?;
        match kept.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(answer) => Ok((response, answer)),
            None => Err(FetchError::Decode { host: response.host, why: "it was not judged".to_owned() }),
        }
    }

    fn menu(&self, store: &Dispensary, crawl: Crawl) -> Result<Menu, FetchError> {
        let now = self.clock.utc();
        let id = store.platform_dispensary_id.clone();
        Ok(Menu {
            platform: self.adapter.platform(),
            dispensary_id: store.id,
            platform_dispensary_id: id.ok_or_else(|| FetchError::NotFound { what: store.name.clone() })?,
            // the file's name and the database's row must say the same
            fetched_at: now.duration_trunc(TimeDelta::milliseconds(1)).unwrap_or(now),
            total_count: crawl.total_count,
            product_count: crawl.ids.len(),
            pages: crawl.pages,
        })
    }
}

fn stale(query: &Query) -> FetchError {
    let host = query.endpoint.host_str().unwrap_or_default().to_owned();
    FetchError::HashStale { operation: query.operation.to_owned(), host }
}

/// An empty first page of a store that has products is a fault of the platform's, and gone at the next try.
fn not_suspicious(part: MenuPart, had_products: bool) -> Result<MenuPart, FetchError> {
    let announced = part.total_count.unwrap_or(0) > 0;
    if part.items == 0 && part.next.is_none() && (had_products || announced) {
        return Err(FetchError::Empty);
    }
    Ok(part)
}

/// What has come so far.
#[derive(Default)]
struct Crawl {
    pages: Vec<MenuPage>,
    ids: HashSet<String>,
    /// The most that upstream ever announced: totals drift while a store is being edited.
    total_count: usize,
    bytes: usize,
}

impl Crawl {
    /// Keeps an answer and says what to ask next.
    fn add(&mut self, response: Response, part: MenuPart) -> Result<Option<Query>, FetchError> {
        self.bytes += response.body.len();
        if self.bytes > MAX_MENU_BYTES {
            return Err(FetchError::TooLarge { host: response.host, limit: MAX_MENU_BYTES });
        }
        let is_gzip = response.is_gzip();
        let bytes = if is_gzip { response.raw } else { response.body };
        self.pages.push(MenuPage { bytes, is_gzip });
        self.ids.extend(part.ids);
        self.total_count = self.total_count.max(part.total_count.unwrap_or(0));
        Ok(part.next)
    }

    fn check(&self, limits: Limits) -> Result<(), FetchError> {
        let (seen, total) = (self.ids.len(), self.total_count);
        let count = |items: usize| i32::try_from(items).unwrap_or(i32::MAX);
        // a menu with products of which no total was announced may be any part of one
        let is_announced = total > 0 || seen == 0;
        if is_announced && is_whole(count(seen), count(total), limits.min_coverage) {
            return Ok(());
        }
        Err(FetchError::Incomplete { seen, total, min_coverage: limits.min_coverage })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn part(items: usize, total_count: usize) -> MenuPart {
        MenuPart { items, total_count: Some(total_count), ..MenuPart::default() }
    }

    #[rstest]
    #[case::some(part(3, 3), true, true)]
    #[case::none_where_some_were(part(0, 0), true, false)]
    #[case::none_where_some_are_announced(part(0, 25), false, false)]
    #[case::none_of_a_new_store(part(0, 0), false, true)]
    fn an_empty_first_page_is_suspicious(#[case] first: MenuPart, #[case] had_products: bool, #[case] fine: bool) {
        assert_eq!(not_suspicious(first, had_products).is_ok(), fine);
    }
}

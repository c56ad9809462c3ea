//! `Crawler`: the one driver of all adapters. It sends an adapter's queries, follows an answer to the next
//! query, and compares the result with upstream's announcement and with the menu before.
//!
//! In: a store or a point. Out: a [`Menu`] or found stores, or a [`FetchError`] where less came than was
//! announced. It must not know tasks, tables or files.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use super::{
    Adapter, DiscoveryPoint, Keys, Menu, MenuPage, MenuPart, PageKey, Query, QueryHashes, StoreRef, StoresPart,
};
use crate::stealth::{FetchError, Request, Response, Session};
use domain::menu::MenuBuilder;
use domain::payload::{FetchStart, MAX_MENU_BYTES, PageQuestion, is_whole};
use domain::store::{FoundStore, RejectionReason, Store};
use foundation::memory::{MemoryPermit, SMALL_MENU};

/// Maximum number of keys that a query is asked with: a task knows a configured one, a kept one and a read one.
const MAX_KEYS: usize = 5;

/// Parts that one task crawls with.
pub struct Crawler<'a> {
    pub adapter: &'a Arc<dyn Adapter>,
    pub session: &'a mut Session,
    pub hashes: &'a mut QueryHashes,
    /// Keys of a platform whose pages show them; None = the configured key alone.
    pub keys: Option<&'a mut dyn Keys>,
    pub limits: CrawlLimits,
}

#[derive(Clone, Copy, Debug)]
pub struct CrawlLimits {
    pub max_pages: usize,
    /// Share of the announced items that a crawl must hold; one missing item is always forgiven.
    pub min_coverage: f64,
}

/// How much of a menu has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MenuProgress {
    pub products: usize,
    pub announced: Option<usize>,
}

/// Called for each page that has come.
pub type OnPage<'a> = &'a (dyn Fn(MenuProgress) + Send + Sync);

impl Crawler<'_> {
    /// Fetches a store's whole menu. One that is too small to be believed at once
    /// ([`FetchStart::is_too_small`]) is fetched once more, through another proxy; the caller decides whether
    /// the second is believed. `Empty` when products are announced and none come, `Incomplete` when too few
    /// come.
    pub async fn fetch_menu(
        &mut self,
        store: &Store,
        start: &FetchStart,
        on_page: OnPage<'_>,
    ) -> Result<Menu, FetchError> {
        self.session.avoid(&start.small_menu_proxies);
        let mut store = Cow::Borrowed(store);
        let mut menu = self.fetch_menu_once(&store, start, on_page).await;
        if let Err(FetchError::NotFound { .. }) = menu
            && let Some(elsewhere) = self.same_elsewhere(&store).await?
        {
            store = Cow::Owned(elsewhere);
            menu = self.fetch_menu_once(&store, start, on_page).await;
        }
        match menu {
            Ok(menu) if !start.is_too_small(menu.product_count) => return Ok(menu),
            Ok(_) | Err(FetchError::Empty) => {}
            Err(error) => return Err(error),
        }
        self.session.leave_proxy();
        self.fetch_menu_once(&store, start, on_page).await
    }

    async fn fetch_menu_once(
        &mut self,
        store: &Store,
        start: &FetchStart,
        on_page: OnPage<'_>,
    ) -> Result<Menu, FetchError> {
        let mut pages = PagesSoFar::default();
        let mut next = Some(self.adapter.menu_query(store)?);
        while let Some(query) = next.take_if(|_| pages.pages.len() < self.limits.max_pages) {
            if !pages.pages.is_empty() {
                self.session.pause_between_pages().await;
            }
            let read = |adapter: &dyn Adapter, query: &Query, response: &Response| adapter.read_menu(query, response);
            let (response, part) = self.ask(&query, read).await?;
            next = pages.add(&query, response, part)?;
            on_page(MenuProgress { products: pages.normal.len(), announced: pages.total_count });
            if pages.kept > SMALL_MENU {
                self.session.hold_large(query.endpoint.host_str().unwrap_or_default())?;
            }
        }
        if next.is_some() {
            return Err(FetchError::MorePages { seen: pages.normal.len(), max_pages: self.limits.max_pages });
        }
        check(pages.normal.len(), pages.announced(), self.limits, self.adapter.announces_total())?;
        pages.into_menu(self.adapter.as_ref(), store, start, self.session.memory())
    }

    /// Finds out where a store without a platform id leads. `NotFound` when it leads nowhere.
    pub async fn resolve_store(&mut self, store: &Store) -> Result<StoreRef, FetchError> {
        let query = self.adapter.resolve_query(store)?;
        let mut found = self.find(&query).await?;
        if let (None, Some(elsewhere)) = (&found, self.adapter.elsewhere(store)) {
            found = self.find(&self.adapter.resolve_query(&elsewhere)?).await?;
        }
        let flag = self.adapter.leading_field(store).flag();
        let nowhere = || FetchError::NotFound {
            what: format!("no store at {}: correct it with `drover stores edit {} {flag}`", query.referer, store.id),
        };
        let found = found.ok_or_else(nowhere)?;
        if let Some(reason @ (RejectionReason::NotOpen | RejectionReason::NotAStore)) = found.rejection_reason {
            return Err(FetchError::NotFound {
                what: format!("the store at {} must not be crawled: {reason}", query.referer),
            });
        }
        Ok(StoreRef { platform_dispensary_id: found.platform_dispensary_id, slug: found.slug })
    }

    /// The store at its other address, if it is the one there.
    async fn same_elsewhere(&mut self, store: &Store) -> Result<Option<Store>, FetchError> {
        let Some(elsewhere) = self.adapter.elsewhere(store) else { return Ok(None) };
        let found = self.find(&self.adapter.resolve_query(&elsewhere)?).await?;
        let is_same = |found: FoundStore| Some(found.platform_dispensary_id) == store.platform_dispensary_id;
        Ok(found.is_some_and(is_same).then_some(elsewhere))
    }

    /// The store that a query of it finds; none where it leads nowhere.
    async fn find(&mut self, query: &Query) -> Result<Option<FoundStore>, FetchError> {
        let read = |adapter: &dyn Adapter, query: &Query, response: &Response| adapter.read_store(query, response);
        match self.ask(query, read).await {
            Ok((_, found)) => Ok(found),
            Err(FetchError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The stores around a point, one of each id, including the ones that must not be promoted. `MorePages` when the platform's
    /// limit of pages does not hold them.
    pub async fn discover(&mut self, point: &DiscoveryPoint) -> Result<Vec<FoundStore>, FetchError> {
        let read = |adapter: &dyn Adapter, query: &Query, response: &Response| adapter.read_stores(query, response);
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        let mut next = Some(self.adapter.discovery_query(point)?);
        for page in 0..self.limits.max_pages {
            let Some(query) = next.take() else { break };
            if page > 0 {
                self.session.pause_between_pages().await;
            }
            let (_, part): (_, StoresPart) = self.ask(&query, read).await?;
            found.extend(part.found.into_iter().filter(|store| seen.insert(store.platform_dispensary_id.clone())));
            next = part.next;
        }
        match next {
            Some(_) => Err(FetchError::MorePages { seen: found.len(), max_pages: self.limits.max_pages }),
            None => Ok(found),
        }
    }

    /// Asks by every hash that may work, then by the full text. A stale hash is not counted against the
    /// proxy.
    async fn ask<T: Send + 'static>(&mut self, query: &Query, read: Read<T>) -> Result<(Response, T), FetchError> {
        let adapter = Arc::clone(self.adapter);
        let candidates = self.hashes.candidates(query.operation);
        for hash in &candidates {
            let Some(persisted) = adapter.persisted() else { break };
            match self.send(&persisted.request_by_hash(query, &hash.hash), query, read).await {
                Err(FetchError::UnknownQuery { .. }) => self.hashes.not_found(hash),
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
        let answer = self.ask_whole(query, read).await;
        match answer {
            // no hash works either: a new one would help, whatever is wrong with the text
            Err(FetchError::Rejected { operation, message }) if self.hashes.exhausted().contains(&query.operation) => {
                Err(FetchError::FullTextRejected { operation, message })
            }
            answer => answer,
        }
    }

    /// Sends the whole query, with a key where it needs one.
    async fn ask_whole<T: Send + 'static>(
        &mut self,
        query: &Query,
        read: Read<T>,
    ) -> Result<(Response, T), FetchError> {
        let adapter = Arc::clone(self.adapter);
        let page_key = adapter.page_key().filter(|key| self.keys.is_some() && key.needs_key(query));
        if let Some(page_key) = page_key {
            return self.ask_with_key(page_key, query, read).await;
        }
        match adapter.request(query) {
            Some(request) => self.send(&request, query, read).await,
            None => {
                let host = query.endpoint.host_str().unwrap_or_default().to_owned();
                Err(FetchError::UnknownQuery { operation: query.operation.to_owned(), host })
            }
        }
    }

    /// Asks with one key after the other, until the platform takes one.
    async fn ask_with_key<T: Send + 'static>(
        &mut self,
        page_key: &dyn PageKey,
        query: &Query,
        read: Read<T>,
    ) -> Result<(Response, T), FetchError> {
        let host = query.endpoint.host_str().unwrap_or_default().to_owned();
        for _ in 0..MAX_KEYS {
            if let Some(key) = self.keys.as_deref().and_then(Keys::current) {
                match self.send(&page_key.request_with_key(query, &key), query, read).await {
                    Err(FetchError::KeyRefused { .. }) => {}
                    Err(error) => return Err(error),
                    Ok(answer) => {
                        self.keys.as_deref_mut().into_iter().for_each(Keys::worked);
                        return Ok(answer);
                    }
                }
            }
            let Crawler { keys: Some(keys), session, .. } = self else { break };
            keys.renew(session, page_key.key_page(query)).await?;
        }
        Err(FetchError::KeyRefused { host })
    }

    /// Sends one request; `read` runs inside the session, which judges the answer by its result.
    async fn send<T: Send + 'static>(
        &mut self,
        request: &Request,
        query: &Query,
        read: Read<T>,
    ) -> Result<(Response, T), FetchError> {
        let (adapter, query) = (Arc::clone(self.adapter), query.clone());
        self.session.send(request, move |response: &Response| read(adapter.as_ref(), &query, response)).await
    }
}

/// How an adapter reads the answer to a query.
type Read<T> = fn(&dyn Adapter, &Query, &Response) -> Result<T, FetchError>;

#[derive(Default)]
struct PagesSoFar {
    pages: Vec<MenuPage>,
    normal: MenuBuilder,
    /// The most that upstream ever announced: totals drift while a store is being edited.
    total_count: Option<usize>,
    /// Whether upstream called any of them an estimate.
    is_estimate: bool,
    /// Bytes without any coding, as a payload's reader inflates them.
    bytes: usize,
    /// Bytes as they are kept.
    kept: usize,
}

impl PagesSoFar {
    /// Keeps an answer and returns the next query.
    fn add(&mut self, query: &Query, response: Response, part: MenuPart) -> Result<Option<Query>, FetchError> {
        self.bytes += response.body.len();
        if self.bytes > MAX_MENU_BYTES {
            return Err(FetchError::MenuTooLarge { limit: MAX_MENU_BYTES });
        }
        self.normal
            .add(part.page)
            .map_err(|error| FetchError::Decode { host: response.host.clone(), reason: error.to_string() })?;
        let is_gzip = response.is_gzip();
        let bytes = if is_gzip { response.raw } else { response.body };
        self.kept += bytes.len();
        let question = PageQuestion { operation: query.operation.to_owned(), cursor: query.cursor.clone() };
        self.pages.push(MenuPage { bytes, is_gzip, question });
        self.total_count = self.total_count.max(part.total_count);
        self.is_estimate |= part.is_estimate;
        Ok(part.next)
    }

    fn announced(&self) -> Announced {
        match (self.total_count, self.is_estimate) {
            (None, _) => Announced::Nothing,
            (Some(total), true) => Announced::About(total),
            (Some(total), false) => Announced::Total(total),
        }
    }

    fn into_menu(
        self,
        adapter: &dyn Adapter,
        store: &Store,
        start: &FetchStart,
        memory: MemoryPermit,
    ) -> Result<Menu, FetchError> {
        let id = store.platform_dispensary_id.clone();
        Ok(Menu {
            platform: adapter.platform(),
            dispensary_id: store.id,
            platform_dispensary_id: id
                .ok_or_else(|| FetchError::NotFound { what: format!("store '{}' has no platform id", store.name) })?,
            fetched_at: start.at,
            total_count: self.total_count.unwrap_or(self.normal.len()),
            product_count: self.normal.len(),
            normal: self.normal.build(),
            pages: self.pages,
            memory,
        })
    }
}

/// Size of a menu, as upstream states it.
#[derive(Clone, Copy, Debug)]
enum Announced {
    Nothing,
    Total(usize),
    /// An estimate: fewer may be the whole menu.
    About(usize),
}

/// Whether `seen` products may be the menu that was announced.
fn check(seen: usize, announced: Announced, limits: CrawlLimits, announces_total: bool) -> Result<(), FetchError> {
    let total = match announced {
        Announced::Total(total) | Announced::About(total) if seen == 0 && total > 0 => return Err(FetchError::Empty),
        Announced::About(_) => return Ok(()),
        Announced::Total(total) if total > 0 || seen == 0 => total,
        // without the total that this platform announces it may be any part of a menu
        _ if seen > 0 && announces_total => return Err(FetchError::Unannounced { seen }),
        _ => return Ok(()),
    };
    let count = |items: usize| i32::try_from(items).unwrap_or(i32::MAX);
    if is_whole(count(seen), count(total), limits.min_coverage) {
        // a total that is too low may have ended the crawl too early
        let is_plausible = is_whole(count(total), count(seen), limits.min_coverage);
        return if is_plausible { Ok(()) } else { Err(FetchError::MoreThanAnnounced { seen, total }) };
    }
    Err(FetchError::Incomplete { seen, total, min_coverage: limits.min_coverage })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::StatusCode;
    use http::header::{CONTENT_ENCODING, HeaderValue};
    use rstest::rstest;

    use super::*;

    /// A page that came gzipped.
    fn gzipped(body: &Bytes) -> Response {
        Response {
            host: "dutchie.com".to_owned(),
            status: StatusCode::OK,
            headers: [(CONTENT_ENCODING, HeaderValue::from_static("gzip"))].into_iter().collect(),
            raw: Bytes::from_static(b"small"),
            body: body.clone(),
            memory: MemoryPermit::default(),
        }
    }

    #[test]
    fn a_menu_is_as_large_inflated_as_its_payload_may_be() {
        let query = Query {
            operation: "FilteredProducts",
            endpoint: "https://dutchie.com/graphql".parse().unwrap(),
            referer: "https://dutchie.com/".parse().unwrap(),
            parameters: String::new(),
            cursor: serde_json::Value::Null,
        };
        let half = Bytes::from(vec![b' '; (64 << 20) / 2]);
        let mut pages = PagesSoFar::default();
        pages.add(&query, gzipped(&half), MenuPart::default()).unwrap();
        pages.add(&query, gzipped(&half), MenuPart::default()).unwrap();
        let error = pages.add(&query, gzipped(&Bytes::from_static(b" ")), MenuPart::default()).unwrap_err();
        assert_eq!(error.label(), "too_large");
    }

    #[rstest]
    #[case::all(3, Announced::Total(3), true, "whole")]
    #[case::nothing_announced_and_nothing_there(0, Announced::Total(0), true, "whole")]
    #[case::none_of_those_announced(0, Announced::Total(25), true, "empty")]
    #[case::too_few(20, Announced::Total(25), true, "incomplete")]
    #[case::without_a_total(20, Announced::Nothing, true, "unannounced")]
    #[case::more_than_a_total_of_nothing(20, Announced::Total(0), true, "unannounced")]
    #[case::one_more_than_announced(26, Announced::Total(25), true, "whole")]
    #[case::far_more_than_announced(100, Announced::Total(25), true, "unannounced")]
    #[case::fewer_than_estimated(20, Announced::About(25), true, "whole")]
    #[case::more_than_estimated(26, Announced::About(20), true, "whole")]
    #[case::none_of_an_estimate(0, Announced::About(25), true, "empty")]
    #[case::of_a_platform_that_announces_none(20, Announced::Nothing, false, "whole")]
    fn a_menu_is_whole_when_what_was_announced_is_there(
        #[case] seen: usize,
        #[case] announced: Announced,
        #[case] announces_total: bool,
        #[case] expected: &str,
    ) {
        let limits = CrawlLimits { max_pages: 40, min_coverage: 0.995 };
        let checked = check(seen, announced, limits, announces_total);
        assert_eq!(checked.map_or_else(|error| error.label(), |()| "whole"), expected);
    }
}

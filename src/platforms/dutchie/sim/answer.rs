//! The origin's answer to a well-formed request without a fault of the transport: the bytes of a JSON text.

use std::sync::PoisonError;

use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::faults::FaultKind;
use super::request::{Ask, GraphqlRequest, Operation};
use super::wire::answer::{Answer, Dispensaries, Menu};
use super::wire::dispensary::dispensary;
use super::wire::product::WireProduct;
use crate::captured::CapturedPage;
use crate::catalogue::StoreSeed;
use crate::menu;
use crate::product::Product;
use crate::reply::graphql_error;
use crate::world::World;

const PAGE_SIZES: [usize; 3] = [25, 50, 100];

/// Why the platform would answer the request with an error alone.
pub(crate) fn wrong_input(request: &GraphqlRequest) -> Option<&'static str> {
    match (request.operation, request.page(), request.per_page()) {
        (Operation::ConsumerDispensaries | Operation::DispensarySearch, ..) => None,
        (_, None, _) | (_, _, None) => Some("page and perPage are required"),
        (_, _, Some(size)) if !PAGE_SIZES.contains(&size) => Some("perPage must be 25, 50 or 100"),
        _ => None,
    }
}

/// Answers a request without `wrong_input`. `fault`: one that changes the data, or none.
pub(crate) fn answer(
    world: &World,
    request: &GraphqlRequest,
    fault: Option<&FaultKind>,
) -> serde_json::Result<Vec<u8>> {
    match request.operation {
        Operation::FilteredProducts => filtered_products(world, request, fault),
        Operation::ConsumerDispensaries | Operation::DispensarySearch => dispensaries(world, request, fault),
    }
}

fn filtered_products(
    world: &World,
    request: &GraphqlRequest,
    fault: Option<&FaultKind>,
) -> serde_json::Result<Vec<u8>> {
    let (number, size) = (request.page().unwrap_or(0), request.per_page().unwrap_or(PAGE_SIZES[0]));
    let page = Page { number, size, ask: &request.ask, fault };
    match request.store().and_then(|id| world.catalogue.of_id(id)) {
        _ if request.variables["productsFilter"]["Status"] != "All" => page.empty(),
        _ if fault == Some(&FaultKind::UnknownDispensary) => page.empty(),
        None => page.empty(),
        Some(asked) if fault == Some(&FaultKind::OtherStore) => page
            .of_store(world, world.catalogue.stores.iter().find(|store| store.index != asked.index).unwrap_or(asked)),
        Some(store) if store.captured => page.of_captured(world.captured.as_ref()),
        Some(store) => page.of_store(world, store),
    }
}

struct Page<'a> {
    number: usize,
    size: usize,
    ask: &'a Ask,
    fault: Option<&'a FaultKind>,
}

impl Page<'_> {
    fn empty(&self) -> serde_json::Result<Vec<u8>> {
        self.write::<()>(Vec::new(), 0)
    }

    /// The whole capture is one page, whatever size is asked for.
    fn of_captured(&self, captured: Option<&CapturedPage>) -> serde_json::Result<Vec<u8>> {
        let Some(captured) = captured else { return self.empty() };
        let products: Vec<&RawValue> =
            captured.products.iter().map(|raw| &**raw).filter(|_| self.number == 0).collect();
        let one_page = Page { size: captured.total_count.max(1), ..*self };
        one_page.write(products, captured.total_count)
    }

    fn of_store(&self, world: &World, store: &StoreSeed) -> serde_json::Result<Vec<u8>> {
        let crawl = world.crawl();
        let menu = menu::Menu::of(world.seed, store, crawl);
        let pages = menu.total().div_ceil(self.size).max(1);
        let rows = match self.fault {
            Some(FaultKind::LostToTies) => menu.page_of_lost_ties(self.number, self.size),
            Some(FaultKind::RepeatedPage) => menu.page(0, self.size),
            Some(FaultKind::EndlessPages) => menu.page(self.number % pages, self.size),
            Some(FaultKind::HalfMenu) if self.number >= less_than_half(pages) => Vec::new(),
            _ => menu.page(self.number, self.size),
        };
        let truth = |row: &menu::Row| {
            let product = world.product(store, row.product, crawl);
            if row.superseded { product.superseded() } else { product }
        };
        let products: Vec<Product<'_>> = rows.iter().map(truth).collect();
        let written =
            |(product, row): (_, &menu::Row)| WireProduct::of(product, &store.platform_dispensary_id, row.weight);
        self.write(products.iter().zip(&rows).map(written).collect(), menu.total())
    }

    fn write<P: Serialize>(&self, mut products: Vec<P>, total: usize) -> serde_json::Result<Vec<u8>> {
        let mut errors = Vec::new();
        let mut total = total;
        match self.fault {
            Some(FaultKind::EmptyPage) => products.clear(),
            Some(FaultKind::EmptyMenu) => {
                products.clear();
                total = 0;
            }
            Some(FaultKind::GrowingTotal) => total += self.number * self.size,
            Some(FaultKind::AnnouncedTotal(announced)) => total = *announced,
            Some(FaultKind::EndlessPages) => total = 1_000_000,
            Some(FaultKind::HalfMenu) => total = total.min(less_than_half(total.div_ceil(self.size)) * self.size),
            Some(FaultKind::DriftingTotal) => total = drifted(total, self.number),
            Some(FaultKind::GraphqlErrors { .. }) => {
                products.truncate(products.len() / 2);
                errors.push(graphql_error(
                    "Cannot return null for non-nullable field Products.Name",
                    "INTERNAL_SERVER_ERROR",
                ));
            }
            _ => {}
        }
        let answer = Answer { errors, data: Some(Menu::page(products, total, self.size)) };
        let text = written(&answer, self.ask, 6 * 1024 * self.size)?;
        Ok(match self.fault {
            Some(FaultKind::OddItems(items)) => with_items_first(text, items),
            _ => text,
        })
    }
}

/// Puts elements before the products, as they are: they need not be JSON.
fn with_items_first(text: Vec<u8>, items: &[String]) -> Vec<u8> {
    const LIST: &[u8] = br#""products":["#;
    let place = text.windows(LIST.len()).position(|window| window == LIST).map_or(0, |start| start + LIST.len());
    let (before, after) = text.split_at(place);
    let comma = if after.starts_with(b"]") || items.is_empty() { "" } else { "," };
    [before, items.join(",").as_bytes(), comma.as_bytes(), after].concat()
}

/// The whole answer to a hash; what a full text asks for to a full text.
fn written<T: Serialize>(answer: &Answer<T>, ask: &Ask, size: usize) -> serde_json::Result<Vec<u8>> {
    let mut body = Vec::with_capacity(size);
    match ask {
        Ask::Hash(_) => serde_json::to_writer(&mut body, answer)?,
        Ask::FullText(selection) => {
            let mut answer = serde_json::to_value(answer)?;
            selection.prune(&mut answer["data"]);
            serde_json::to_writer(&mut body, &answer)?;
        }
    }
    Ok(body)
}

fn less_than_half(pages: usize) -> usize {
    (pages.saturating_sub(1) / 2).max(1)
}

/// Page 0 announces the most, so that a client that relies on it asks for every page.
fn drifted(total: usize, page: usize) -> usize {
    let drift = (total / 200).max(1);
    match page {
        0 => total + drift,
        page if page.is_multiple_of(2) => total,
        _ => total.saturating_sub(drift),
    }
}

fn dispensaries(world: &World, request: &GraphqlRequest, fault: Option<&FaultKind>) -> serde_json::Result<Vec<u8>> {
    let mut found: Vec<Value> = match fault {
        Some(FaultKind::UnknownDispensary) => Vec::new(),
        _ => {
            let status = world.store_status.lock().unwrap_or_else(PoisonError::into_inner).clone();
            found(world, request).into_iter().map(|store| dispensary(store, status.as_ref())).collect()
        }
    };
    let mut errors = Vec::new();
    if let Some(FaultKind::GraphqlErrors { .. }) = fault {
        found.truncate(found.len() / 2);
        errors.push(graphql_error(
            "Cannot return null for non-nullable field Dispensaries.name",
            "INTERNAL_SERVER_ERROR",
        ));
    }
    let answer = Answer { errors, data: Some(Dispensaries { filtered_dispensaries: found }) };
    written(&answer, &request.ask, 1024)
}

fn found<'a>(world: &'a World, request: &GraphqlRequest) -> Vec<&'a StoreSeed> {
    let filter = request.filter();
    if let Some(name) = request.store() {
        return world.catalogue.named(name).into_iter().collect();
    }
    if let (Some(lat), Some(lng)) = (filter["nearLat"].as_f64(), filter["nearLng"].as_f64()) {
        return world.catalogue.near((lat, lng), filter["distance"].as_f64().unwrap_or(0.0)).collect();
    }
    let (city, state) = (filter["city"].as_str(), filter["state"].as_str());
    if city.is_none() && state.is_none() {
        return Vec::new();
    }
    let matches = |store: &&StoreSeed| {
        city.is_none_or(|city| city == store.city) && state.is_none_or(|state| state == store.state)
    };
    world.catalogue.all().filter(matches).collect()
}

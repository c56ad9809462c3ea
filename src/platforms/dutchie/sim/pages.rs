//! Whole menu pages, coded or kept from before.

use std::io;

use bytes::Bytes;
use serde_json::json;

use super::answer;
use super::faults::FaultKind;
use super::request::{Ask, GraphqlRequest, Operation};
use crate::catalogue::StoreSeed;
use crate::encoding::Coding;
use crate::world::World;

/// Inputs of a page.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) store: String,
    pub(crate) number: usize,
    pub(crate) size: usize,
    pub(crate) coding: Option<Coding>,
    pub(crate) crawl: u32,
    pub(crate) repriced: u64,
}

/// The answer's bytes in that coding, kept ones where there are some.
pub(crate) async fn coded(
    world: &World,
    request: &GraphqlRequest,
    coding: Option<Coding>,
    fault: Option<&FaultKind>,
) -> io::Result<Bytes> {
    let Some((pages, key)) =
        world.platforms.dutchie.pages.as_ref().filter(|_| fault.is_none()).zip(key(world, request, coding))
    else {
        return code(world, request, coding, fault).await;
    };
    if let Some(bytes) = pages.get(&key) {
        return Ok(bytes);
    }
    let bytes = code(world, request, coding, fault).await?;
    pages.keep(key, bytes.clone());
    Ok(bytes)
}

/// Keeps one page before it is asked for.
pub(crate) async fn render(
    world: &World,
    store: &StoreSeed,
    number: usize,
    size: usize,
    coding: Coding,
) -> io::Result<()> {
    let filter = json!({ "dispensaryId": store.platform_dispensary_id, "Status": "All" });
    let request = GraphqlRequest {
        operation: Operation::FilteredProducts,
        variables: json!({ "productsFilter": filter, "page": number, "perPage": size }),
        ask: Ask::Hash(String::new()),
    };
    coded(world, &request, Some(coding), None).await.map(|_| ())
}

/// None for anything but a page of a whole menu.
fn key(world: &World, request: &GraphqlRequest, coding: Option<Coding>) -> Option<Key> {
    let asks_for_all = request.variables["productsFilter"]["Status"] == "All";
    let is_menu = request.operation == Operation::FilteredProducts && matches!(request.ask, Ask::Hash(_));
    let (number, size) = (request.page()?, request.per_page()?);
    // only stores of the catalogue, so that no client can make the pages grow without end
    let store = world.catalogue.of_id(request.store()?)?;
    (asks_for_all && is_menu && number <= store.size as usize).then(|| Key {
        store: store.platform_dispensary_id.clone(),
        number,
        size,
        coding,
        crawl: world.crawl(),
        repriced: world.repriced(),
    })
}

async fn code(
    world: &World,
    request: &GraphqlRequest,
    coding: Option<Coding>,
    fault: Option<&FaultKind>,
) -> io::Result<Bytes> {
    let body = answer::answer(world, request, fault)?;
    match coding {
        Some(coding) => coding.encode(&body).await.map(Bytes::from),
        None => Ok(Bytes::from(body)),
    }
}

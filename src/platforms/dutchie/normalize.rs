//! Reads Dutchie's menu pages into products.
//!
//! Pure: no clock, no network, no database. In: the pages of one crawl, as JSON text. Out: one [`Product`]
//! per provider id, with oddities as warnings beside them; only a page that is not a menu page at all is an
//! error. A fetch reads each page as it comes, a replay all of them again.

mod bundle;
mod offer;
mod special;
mod stock;
mod wire;

use std::collections::HashMap;

use crate::platforms::offer::{NO_LABEL, Offer};
use crate::platforms::page_read::{self, PageRead};
use crate::platforms::reading::brand::brand;
use crate::platforms::reading::potency;
use crate::platforms::reading::reader::{self, Reader};
use crate::platforms::reading::text::text;
use crate::platforms::reading::time::time;
use domain::menu::product::{Product, UpstreamStatus};
use domain::menu::{NormalMenu, NormalPage, NormaliseError, Warning, Warnings};
use domain::switches::word;
use special::PageSpecials;
use wire::{Answer, Image, Items, Page, ScannedItems, WireProduct};

/// Normalises the pages of one crawl.
pub fn normalise(pages: &[&[u8]]) -> Result<NormalMenu, NormaliseError> {
    page_read::normalise(pages, |number, body| read_page(number, body, wire::MAX_ITEMS))
}

/// Normalises one page of at most `max_items`.
pub fn read_page(number: usize, body: &[u8], max_items: usize) -> Result<PageRead, NormaliseError> {
    let text = text(body).ok_or(NormaliseError::Truncated { page: number })?;
    let Page { items, total_count, total_pages, has_odd_total } = parse(number, &text)?;
    if items.len() > max_items {
        let why = format!("{} products on one page, more than {max_items}", items.len());
        return Err(NormaliseError::NotAMenu { page: number, why });
    }
    let stores = count_stores(items.products());
    let page = normal_page(number, &items, has_odd_total)?;
    Ok(PageRead { page, items: items.len(), total_count, total_pages, stores, ..PageRead::default() })
}

fn normal_page(number: usize, items: &Items<'_>, has_odd_total: bool) -> Result<NormalPage, NormaliseError> {
    let mut page = NormalPage::default();
    let warning =
        |kind, what: String| Warning { provider_product_id: None, kind, detail: format!("page {number}: {what}") };
    if has_odd_total {
        page.warnings.push(warning("odd_total", "an announced total is not a count".to_owned()));
    }
    let unreadable = items.unreadable();
    if unreadable > 0 {
        page.warnings.push(warning("unreadable_item", format!("{unreadable} items that are not objects, or failed")));
    }
    let mut specials = PageSpecials::default();
    for item in items.products() {
        let Some(id) = provider_id(item) else {
            page.warnings.push(warning("unreadable_item", "an item without an id".to_owned()));
            continue;
        };
        item.unknown.iter().for_each(|key| page.unknown_keys.add(key, 1));
        let product = normalise_product(id, item, &mut specials, &mut page.warnings);
        page.push(product)?;
    }
    Ok(page)
}

fn count_stores<'a>(products: impl Iterator<Item = &'a WireProduct<'a>>) -> HashMap<String, usize> {
    let mut by_json = HashMap::new();
    for store in products.filter_map(|product| product.dispensary_id) {
        by_json.entry(store.get()).or_insert((store, 0)).1 += 1;
    }
    let mut stores = HashMap::new();
    for (store, count) in by_json.into_values() {
        if let Some(id) = reader::key_text(Some(store)) {
            *stores.entry(id).or_default() += count;
        }
    }
    stores
}

fn parse(number: usize, text: &str) -> Result<Page<'_>, NormaliseError> {
    let refused = |error: serde_json::Error| match error.is_eof() {
        true => NormaliseError::Truncated { page: number },
        false => NormaliseError::NotAMenu { page: number, why: error.to_string() },
    };
    match serde_json::from_str(text) {
        Ok(answer) => Answer::<Items<'_>>::into_page(answer, number),
        Err(error) if error.is_eof() => Err(refused(error)),
        // one bad element must not cost its neighbours
        Err(_) => serde_json::from_str::<Answer<'_, ScannedItems<'_>>>(text).map_err(refused)?.into_page(number),
    }
}

/// The item's id; none when it has none that could be a key.
fn provider_id(item: &WireProduct<'_>) -> Option<String> {
    [item.id, item.id_alias].into_iter().find_map(reader::key_text)
}

fn normalise_product<'a>(
    id: String,
    item: &WireProduct<'a>,
    specials: &mut PageSpecials<'a>,
    warnings: &mut Warnings,
) -> Product {
    let mut read = Reader::new(&id, warnings);
    let pos = read.object(item.pos_meta_data, "POSMetaData").unwrap_or_default();
    let brand = brand(item.brand, &mut read);
    let Listing { is_sold, upstream_status } = listing(item, &mut read);
    let offer = Offer::new(offer::options(item, &pos, &mut read), is_sold);
    let brand_name_raw = brand.name.or_else(|| read.text(item.brand_name, "brandName"));
    Product {
        enterprise_product_id: read.text(item.enterprise_product_id, "enterpriseProductId"),
        name_raw: name(item, &mut read).unwrap_or_else(|| id.clone()),
        brand_name_raw: brand_name_raw.or_else(|| read.text(pos.canonical_brand_name, "canonicalBrandName")),
        category: read.text(item.category, "type"),
        subcategory: read.text(item.subcategory, "subcategory"),
        strain_type: read.text(item.strain_type, "strainType").filter(|strain| !strain.eq_ignore_ascii_case(NO_LABEL)),
        thc: potency::potency(item.thc_content, "THCContent", &mut read),
        cbd: potency::potency(item.cbd_content, "CBDContent", &mut read),
        upstream_status,
        image_url: image(item, &mut read),
        brand_image_url: brand.image_url,
        specials: specials.read(item.special_data, &mut read),
        upstream_created_at: time(item.created_at, "createdAt", &mut read),
        upstream_updated_at: time(item.updated_at, "updatedAt", &mut read),
        has_unknown_unit: read.has_unknown_unit(),
        provider_product_id: id,
        // no attributes: its terpenes are empty, and its effects are votes
        ..offer.into_product()
    }
}

struct Listing {
    is_sold: bool,
    upstream_status: Option<UpstreamStatus>,
}

const STATUSES: [(&str, UpstreamStatus); 2] =
    [("Active", UpstreamStatus::Active), ("Inactive", UpstreamStatus::Inactive)];

/// `Status` Active is sold; one that is missing or unknown says nothing against the product, which keeps its last known
/// status.
fn listing(item: &WireProduct<'_>, read: &mut Reader<'_>) -> Listing {
    let written = read.text(item.status, "Status");
    let upstream_status = written.as_deref().and_then(|written| word(written, &STATUSES));
    if let (Some(written), None) = (&written, upstream_status) {
        read.warn("unknown_status", written);
    }
    Listing { is_sold: upstream_status != Some(UpstreamStatus::Inactive), upstream_status }
}

fn name(item: &WireProduct<'_>, read: &mut Reader<'_>) -> Option<String> {
    let name = read.text(item.name, "Name").or_else(|| read.text(item.c_name, "cName"));
    if name.is_none() {
        read.warn("no_name", "neither Name nor cName");
    }
    name
}

/// `Image`, otherwise the first of `images` that is not inactive.
fn image(item: &WireProduct<'_>, read: &mut Reader<'_>) -> Option<String> {
    let main = read.address(item.image, "Image");
    if main.is_some() {
        return main;
    }
    read.list(item.images, "images").into_iter().find_map(|raw| {
        let image: Image<'_> = read.object(Some(raw), "images")?;
        let is_inactive = image.active.is_some_and(|active| active.get() == "false");
        if is_inactive { None } else { read.address(image.url, "images.url") }
    })
}

#[cfg(test)]
mod tests;

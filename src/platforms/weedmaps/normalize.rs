//! Reads Weedmaps' menu pages into products.
//!
//! Pure: no clock, no network, no database. In: the pages of one crawl, as JSON text. Out: one [`Product`] per item's id, with
//! oddities as warnings beside them; only a page that is not a menu page is an error.

mod attributes;
mod tiers;
mod wire;

use serde_json::json;

use super::license;
use crate::platforms::offer::{Menus, Offer};
use crate::platforms::page_read::{self, PageRead};
use crate::platforms::reading::reader::Reader;
use crate::platforms::reading::text::text;
use crate::platforms::reading::time::time;
use crate::platforms::reading::{Raw, decimal, items, potency};
use domain::menu::product::{Potency, Product, SpecialsJson};
use domain::menu::{NormalMenu, NormalPage, NormaliseError};
use domain::switches::word;
use wire::{Aggregates, Answer, AvatarImage, BrandEndorsement, EdgeCategory, MenuItem, Metrics, Named, Tag, Tier};

/// Normalises the pages of one crawl.
pub fn normalise(pages: &[&[u8]]) -> Result<NormalMenu, NormaliseError> {
    page_read::normalise(pages, read_page)
}

/// Normalises one page; `number` names it in errors.
pub fn read_page(number: usize, body: &[u8]) -> Result<PageRead, NormaliseError> {
    let text = text(body).ok_or(NormaliseError::Truncated { page: number })?;
    let Answer { meta, data } = items::answer(number, &text)?;
    let menu_items = data.and_then(|data| data.menu_items);
    let items = menu_items.as_ref().map_or(0, |items| items.kept.len());
    let total_count = meta.and_then(|meta| decimal::total(meta.total_menu_items?.get()));
    let mut page = NormalPage::default();
    let readable: Vec<(String, MenuItem<'_>)> = items::readable(number, menu_items, &mut page)?;
    items::add(&mut page, readable, product)?;
    Ok(PageRead { page, items, total_count, ..PageRead::default() })
}

/// The product, without the fields that every item has.
fn product(item: &MenuItem<'_>, read: &mut Reader<'_>) -> Product {
    let brand: BrandEndorsement<'_> = read.object(item.brand_endorsement, "brand_endorsement").unwrap_or_default();
    let Kind { category, subcategory, strain_type } = kind(item, read);
    let menus = read.text(item.license_type, "license_type").and_then(|license| license::menus(&license));
    // a menu does not say what is in stock: an item that is out is removed, or stays
    let offer = Offer::new(tiers::options(item, menus.unwrap_or(Menus::BOTH), read), true);
    let [thc, cbd] = potencies(item, read);
    let attributes = attributes::attributes(item, &brand, read);
    Product {
        enterprise_product_id: read.text(brand.product_id, "brand_endorsement.product_id"),
        brand_name_raw: read.text(brand.brand_name, "brand_endorsement.brand_name"),
        category,
        subcategory,
        strain_type,
        thc,
        cbd,
        image_url: image(item, read),
        brand_image_url: address_of_image(
            brand.brand_avatar_image_url,
            "brand_endorsement.brand_avatar_image_url",
            read,
        ),
        specials: specials(item, read),
        attributes,
        upstream_created_at: time(item.created_at, "created_at", read),
        upstream_updated_at: time(item.updated_at, "updated_at", read),
        // the platform has no more
        ..offer.into_product()
    }
}

/// An item's place in the taxonomies.
struct Kind {
    category: Option<String>,
    subcategory: Option<String>,
    strain_type: Option<String>,
}

/// The old category mixes lineages with kinds of goods.
const LINEAGES: [(&str, ()); 3] = [("Indica", ()), ("Sativa", ()), ("Hybrid", ())];
const GENETICS: &str = "Genetics";

fn kind(item: &MenuItem<'_>, read: &mut Reader<'_>) -> Kind {
    let is_lineage = |name: &String| word(name, &LINEAGES).is_some();
    let old = name_of(item.category, "category", read);
    let genetics = name_of(item.genetics_tag, "genetics_tag", read).or_else(|| genetics_among_tags(item, read));
    let strain_type = genetics.or_else(|| old.clone().filter(is_lineage));
    let edge: EdgeCategory<'_> = read.object(item.edge_category, "edge_category").unwrap_or_default();
    let leaf = read.text(edge.name, "edge_category.name");
    let top = read.list(edge.ancestors, "edge_category.ancestors").first().copied();
    match top.and_then(|top| name_of(Some(top), "edge_category.ancestors", read)) {
        Some(top) => Kind { category: Some(top), subcategory: leaf, strain_type },
        None => {
            let category = leaf.or_else(|| old.filter(|name| !is_lineage(name)));
            Kind { category, subcategory: None, strain_type }
        }
    }
}

fn name_of(raw: Raw<'_>, field: &'static str, read: &mut Reader<'_>) -> Option<String> {
    let named: Named<'_> = read.object(raw, field)?;
    read.text(named.name, field)
}

fn genetics_among_tags(item: &MenuItem<'_>, read: &mut Reader<'_>) -> Option<String> {
    read.list(item.tags, "tags").into_iter().find_map(|raw| {
        let tag: Tag<'_> = read.object(Some(raw), "tags")?;
        let group = name_of(tag.tag_group, "tags.tag_group", read)?;
        word(&group, &[(GENETICS, ())])?;
        read.text(tag.name, "tags.name")
    })
}

/// THC and CBD; 0 is unknown.
fn potencies(item: &MenuItem<'_>, read: &mut Reader<'_>) -> [Option<Potency>; 2] {
    let metrics: Metrics<'_> = read.object(item.metrics, "metrics").unwrap_or_default();
    let Aggregates { thc, thc_unit, cbd, cbd_unit } =
        read.object(metrics.aggregates, "metrics.aggregates").unwrap_or_default();
    let is_known = |raw: &Raw<'_>| raw.is_some_and(|raw| decimal::float(raw.get()) != Some(0.0));
    [(thc, thc_unit, "metrics.aggregates.thc"), (cbd, cbd_unit, "metrics.aggregates.cbd")]
        .map(|(value, unit, field)| if is_known(&value) { potency::measured(value, unit, field, read) } else { None })
}

/// File of the picture that stands for none.
const NO_IMAGE: &str = "image_missing.jpg";

fn image(item: &MenuItem<'_>, read: &mut Reader<'_>) -> Option<String> {
    let image: AvatarImage<'_> = read.object(item.avatar_image, "avatar_image")?;
    let addresses = [image.original_url, image.large_url, image.small_url];
    addresses.into_iter().find_map(|raw| address_of_image(raw, "avatar_image", read))
}

fn address_of_image(raw: Raw<'_>, field: &'static str, read: &mut Reader<'_>) -> Option<String> {
    let is_an_image = |address: &String| !address.split(['?', '#']).next().unwrap_or_default().ends_with(NO_IMAGE);
    read.address(raw, field).filter(is_an_image)
}

/// The deals of the item, by the platform's own names. Prices are never computed from them.
fn specials(item: &MenuItem<'_>, read: &mut Reader<'_>) -> Option<SpecialsJson> {
    let title = read.text(item.current_deal_title, "current_deal_title");
    let mut ids = read.texts(item.deal_ids, "deal_ids");
    ids.sort_unstable();
    let price: Tier<'_> = read.object(item.price, "price").unwrap_or_default();
    let label = read.text(price.discount_label, "price.discount_label");
    if title.is_none() && label.is_none() && ids.is_empty() {
        return None;
    }
    let specials = json!({ "current_deal_title": title, "deal_ids": ids, "discount_label": label });
    Some(SpecialsJson::new(specials.to_string()))
}

#[cfg(test)]
mod tests;

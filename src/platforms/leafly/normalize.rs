//! Reads Leafly's menu pages into products.
//!
//! Pure: no clock, no network, no database. In: the pages of one crawl, as JSON text. Out: one [`Product`] per item's id, with
//! oddities as warnings beside them; only a page that is not a menu page is an error.

mod attributes;
mod sizes;
mod wire;

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::platforms::offer::Offer;
use crate::platforms::page_read::{self, PageRead};
use crate::platforms::reading::brand::brand;
use crate::platforms::reading::reader::{self, Reader};
use crate::platforms::reading::text::text;
use crate::platforms::reading::time::time;
use crate::platforms::reading::{decimal, items, potency};
use domain::menu::product::{Product, SpecialsJson, StockStatus};
use domain::menu::{NormalMenu, NormalPage, NormaliseError};
use wire::{Answer, Deal, MenuItem, Strain};

/// Normalises the pages of one crawl.
pub fn normalise(pages: &[&[u8]]) -> Result<NormalMenu, NormaliseError> {
    page_read::normalise(pages, read_page)
}

/// Normalises one page; `number` names it in errors.
pub fn read_page(number: usize, body: &[u8]) -> Result<PageRead, NormaliseError> {
    let text = text(body).ok_or(NormaliseError::Truncated { page: number })?;
    let Answer { data, metadata } = items::answer(number, &text)?;
    let items = data.as_ref().map_or(0, |items| items.kept.len());
    let total_count = metadata.and_then(|metadata| decimal::total(metadata.total_count?.get()));
    let mut page = NormalPage::default();
    let readable: Vec<(String, MenuItem<'_>)> = items::readable(number, data, &mut page)?;
    let mut stores = HashMap::new();
    for slug in readable.iter().filter_map(|(_, item)| reader::key_text(item.dispensary_slug)) {
        *stores.entry(slug.to_ascii_lowercase()).or_default() += 1;
    }
    items::add(&mut page, readable, product)?;
    Ok(PageRead { page, items, total_count, stores, ..PageRead::default() })
}

/// The product, without the fields that every item has.
fn product(item: &MenuItem<'_>, read: &mut Reader<'_>) -> Product {
    let is_listed = item.in_stock.map(|raw| raw.get() == "true");
    // a number is more exact than the word beside it
    let is_sold = item.stock_quantity.is_some() || is_listed != Some(false);
    let offer = Offer::new(sizes::options(item, read), is_sold);
    let stock_status = match offer.stock_status {
        StockStatus::Unknown if is_listed == Some(true) => StockStatus::InStock,
        status => status,
    };
    let strain: Strain<'_> = read.object(item.strain, "strain").unwrap_or_default();
    Product {
        brand_name_raw: read.text(item.brand_name, "brandName").or_else(|| brand(item.brand, read).name),
        category: read.text(item.product_category, "productCategory"),
        subcategory: read.text(item.sub_category, "subCategory"),
        strain_type: read
            .text(item.strain_type, "strainType")
            .or_else(|| read.text(strain.category, "strain.category")),
        thc: potency::measured(item.thc_content, item.thc_unit, "thcContent", read),
        cbd: potency::measured(item.cbd_content, item.cbd_unit, "cbdContent", read),
        is_in_stock: stock_status.is_sellable(),
        stock_status,
        image_url: read
            .address(item.image_url, "imageUrl")
            .or_else(|| read.address(item.thumbnail_url, "thumbnailUrl")),
        specials: specials(item, read),
        attributes: attributes::attributes(item, read),
        upstream_updated_at: time(item.updated_at, "updatedAt", read),
        // the platform has no more
        ..offer.into_product()
    }
}

/// The item's deal by the platform's own names. Prices are computed from its cents alone.
fn specials(item: &MenuItem<'_>, read: &mut Reader<'_>) -> Option<SpecialsJson> {
    let deal: Deal<'_> = read.object(item.deal, "deal")?;
    let fields = [
        ("id", deal.id),
        ("title", deal.title),
        ("discountedPrice", deal.discounted_price),
        ("discountAmount", deal.discount_amount),
        ("discountType", deal.discount_type),
        ("startDate", deal.start_date),
        ("endDate", deal.end_date),
    ];
    let written = fields.into_iter().filter_map(|(name, raw)| Some((name.to_owned(), read.text(raw, "deal")?.into())));
    let written: Map<String, Value> = written.collect();
    (!written.is_empty()).then(|| SpecialsJson::new(Value::Object(written).to_string()))
}

#[cfg(test)]
mod tests;

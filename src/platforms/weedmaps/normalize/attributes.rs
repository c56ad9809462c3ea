//! Attributes of an item: strain, terpenes, tags, ratings, the page of a product that its brand lists.
//!
//! In: an item. Out: the attributes that it states. It must not know prices.

use super::wire::{BrandEndorsement, Compound, MenuItem, Metrics, Tag};
use super::{GENETICS, name_of};
use crate::platforms::reading::reader::{self, Reader};
use crate::platforms::reading::{Raw, decimal};
use domain::menu::attributes::{Attributes, AttributesJson, Terpene};

/// Pages of brands; a menu's own items have none by which they are found again.
const BRANDS: &str = "https://weedmaps.com/brands";
const STRAINS: &str = "Strains";

pub fn attributes(item: &MenuItem<'_>, brand: &BrandEndorsement<'_>, read: &mut Reader<'_>) -> Option<AttributesJson> {
    let (strains, tags) = tags(item, read);
    let attributes = Attributes {
        strain_name: strains.into_iter().next(),
        terpenes: terpenes(item, read),
        tags,
        rating: item.rating.and_then(|raw| decimal::float(raw.get())),
        reviews: item.reviews_count.and_then(|raw| decimal::count(raw.get())).map(i64::from),
        item_url: item_url(brand),
        brand_id: read.text(brand.brand_id, "brand_endorsement.brand_id"),
        // the order button says nothing about how the order gets to its customer
        pickup: None,
        delivery: None,
    };
    attributes.into_json()
}

/// Names of strains, and the tags of all groups but those that other columns have.
fn tags(item: &MenuItem<'_>, read: &mut Reader<'_>) -> (Vec<String>, Vec<String>) {
    let (mut strains, mut tags) = (Vec::new(), Vec::new());
    for raw in read.list(item.tags, "tags") {
        let Some(Tag { name, tag_group }) = read.object(Some(raw), "tags") else { continue };
        let group = name_of(tag_group, "tags.tag_group", read).unwrap_or_default();
        let name = read.text(name, "tags.name");
        match group.as_str() {
            GENETICS => {}
            STRAINS => strains.extend(name),
            _ => tags.extend(name),
        }
    }
    (strains, tags)
}

fn terpenes(item: &MenuItem<'_>, read: &mut Reader<'_>) -> Vec<Terpene> {
    let metrics: Metrics<'_> = read.object(item.metrics, "metrics").unwrap_or_default();
    let terpenes = read.list(metrics.terpenes, "metrics.terpenes");
    terpenes.into_iter().filter_map(|raw| terpene(Some(raw), read)).collect()
}

/// `myrcene` is written as Myrcene.
fn terpene(raw: Raw<'_>, read: &mut Reader<'_>) -> Option<Terpene> {
    let Compound { code, value, unit } = read.object(raw, "metrics.terpenes")?;
    let mut name = read.text(code, "metrics.terpenes.code")?.replace('_', " ");
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    let is_percent = read.text(unit, "metrics.terpenes.unit").is_some_and(|unit| unit == "%");
    let percent = value.filter(|_| is_percent).and_then(|raw| decimal::float(raw.get()));
    Some(Terpene { name, percent: percent.filter(|percent| *percent > 0.0) })
}

fn item_url(brand: &BrandEndorsement<'_>) -> Option<String> {
    let [brand, product] = [brand.brand_slug, brand.product_slug].map(reader::slug);
    Some(format!("{BRANDS}/{}/products/{}", brand?, product?))
}

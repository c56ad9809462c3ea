//! Attributes of a hit: strain, terpenes, tags, ratings, the product's page.
//!
//! In: a hit. Out: the attributes that it states. It must not know prices.

use super::wire::{WireCompound, WireHit, WireLabResults};
use crate::platforms::reading::reader::{self, Reader};
use crate::platforms::reading::{Raw, decimal};
use domain::menu::attributes::{Attributes, AttributesJson, Terpene};

/// Page of a product over all stores, by its id and slug.
const PRODUCTS: &str = "https://www.iheartjane.com/products";
/// Word for a product of no strain.
const NO_STRAIN: &str = "No Strain";

pub fn attributes(hit: &WireHit<'_>, read: &mut Reader<'_>) -> Option<AttributesJson> {
    let attributes = Attributes {
        strain_name: read.text(hit.strain, "strain").filter(|name| !name.eq_ignore_ascii_case(NO_STRAIN)),
        terpenes: terpenes(hit, read),
        tags: tags(hit, read),
        rating: hit.aggregate_rating.and_then(|raw| decimal::float(raw.get())),
        reviews: hit.review_count.and_then(|raw| decimal::count(raw.get())).map(i64::from),
        item_url: item_url(hit),
        brand_id: read.text(hit.product_brand_id, "product_brand_id"),
        pickup: read.flag(hit.available_for_pickup, "available_for_pickup"),
        delivery: read.flag(hit.available_for_delivery, "available_for_delivery"),
    };
    attributes.into_json()
}

fn tags(hit: &WireHit<'_>, read: &mut Reader<'_>) -> Vec<String> {
    let lists = [
        (hit.effects, "effects"),
        (hit.feelings, "feelings"),
        (hit.activities, "activities"),
        (hit.flavors, "flavors"),
    ];
    lists.into_iter().flat_map(|(raw, field)| read.texts(raw, field)).collect()
}

/// The terpenes that the hit names, with their share as far as it was measured: results name cannabinoids as well.
fn terpenes(hit: &WireHit<'_>, read: &mut Reader<'_>) -> Vec<Terpene> {
    let names = read.texts(hit.terpenes, "terpenes");
    if names.is_empty() {
        return Vec::new();
    }
    let measured = measured(hit, read);
    let percent =
        |name: &str| measured.iter().find(|(of, _)| of.eq_ignore_ascii_case(name)).map(|(_, percent)| *percent);
    names.into_iter().map(|name| Terpene { percent: percent(&name), name }).collect()
}

/// Compounds in per cent, of the first weight that has results.
fn measured(hit: &WireHit<'_>, read: &mut Reader<'_>) -> Vec<(String, f64)> {
    let weights = read.list(hit.lab_results, "lab_results");
    let compounds = weights.into_iter().find_map(|raw| {
        let results: WireLabResults<'_> = read.object(Some(raw), "lab_results")?;
        Some(read.list(results.lab_results, "lab_results")).filter(|compounds| !compounds.is_empty())
    });
    compounds.unwrap_or_default().into_iter().filter_map(|raw| compound(Some(raw), read)).collect()
}

fn compound(raw: Raw<'_>, read: &mut Reader<'_>) -> Option<(String, f64)> {
    let WireCompound { compound_name, value, unit } = read.object(raw, "lab_results")?;
    let is_percent = read.text(unit, "lab_results.unit").is_some_and(|unit| unit == "%");
    let name = read.text(compound_name, "lab_results.compound_name").filter(|_| is_percent)?;
    Some((name, decimal::float(value?.get())?))
}

fn item_url(hit: &WireHit<'_>) -> Option<String> {
    let [id, slug] = [hit.product_id, hit.url_slug].map(reader::slug);
    Some(format!("{PRODUCTS}/{}/{}", id?, slug?))
}

//! Reads Jane's answers into products.
//!
//! Pure: no clock, no network, no database. In: an answer of the index, as JSON text. Out: one [`Product`] per provider id, with
//! oddities as warnings beside them; only an answer that has no hits at all is an error.

mod attributes;
mod wire;

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::platforms::offer::{Menus, Offer, OptionOffer, OptionStock};
use crate::platforms::page_read::{self, PageRead};
use crate::platforms::reading::json_copy::copied;
use crate::platforms::reading::reader::{self, Reader};
use crate::platforms::reading::text::text;
use crate::platforms::reading::{Raw, decimal, items, potency};
use domain::menu::product::{Potency, PotencyUnit, Product, SpecialsJson};
use domain::menu::size::{self, Size};
use domain::menu::{NormalMenu, NormaliseError};
use wire::{Answer, MAX_HITS, WireHit, WirePhoto, WirePotency, WirePrices, WireSpecial};

/// Labels of the options, in the menu's order, with their net weight.
const WEIGHTS: [(&str, Option<i64>); 8] = [
    ("half gram", Some(500)),
    ("gram", Some(1000)),
    ("two gram", Some(2000)),
    ("eighth ounce", Some(3500)),
    ("quarter ounce", Some(7000)),
    ("half ounce", Some(14_000)),
    ("ounce", Some(28_000)),
    ("each", None),
];
/// Kinds whose `amount` is their weight and whose potency is a percentage; others state milligrams in both places.
const BY_WEIGHT: [&str; 5] = ["flower", "pre-roll", "vape", "vaporizer", "extract"];
/// Maximum net weight, far more than anyone sells.
const MAX_GRAMS: f64 = 1e6;
/// Maximum size of the numbers of hits by facet: a menu has a dozen kinds.
const MAX_FACET_BYTES: usize = 64 << 10;
/// Maximum size of the fields that make the specials of a product.
const MAX_SPECIAL_BYTES: usize = 8 << 10;

/// Normalises the answers of one crawl.
pub fn normalise(answers: &[&[u8]]) -> Result<NormalMenu, NormaliseError> {
    page_read::normalise(answers, read_page)
}

/// Normalises one answer; `number` names it in errors.
pub fn read_page(number: usize, body: &[u8]) -> Result<PageRead, NormaliseError> {
    let text = text(body).ok_or(NormaliseError::Truncated { page: number })?;
    let answer: Answer<'_> = items::answer(number, &text)?;
    let not_a_menu = |why: String| NormaliseError::NotAMenu { page: number, why };
    let hits = answer.hits.ok_or_else(|| not_a_menu("no hits in it".to_owned()))?;
    if hits.dropped > 0 {
        return Err(not_a_menu(format!("more than {MAX_HITS} hits")));
    }
    let count = |raw: Raw<'_>| decimal::total(raw?.get());
    let mut read = PageRead {
        items: hits.kept.len(),
        total_count: count(answer.nb_hits),
        is_estimate: answer.exhaustive_nb_hits.is_some_and(|raw| raw.get() == "false"),
        total_pages: count(answer.nb_pages),
        facets: facets(answer.facets).unwrap_or_default(),
        ..PageRead::default()
    };
    for raw in hits.kept {
        add(&mut read, raw)?;
    }
    Ok(read)
}

fn add(read: &mut PageRead, raw: &RawValue) -> Result<(), NormaliseError> {
    let Some((id, hit)) = items::item::<WireHit<'_>>(raw) else {
        read.page.warnings.push(items::unreadable("no hit with an id"));
        return Ok(());
    };
    if let Some(store) = reader::key_text(hit.store_id) {
        *read.stores.entry(store).or_default() += 1;
    }
    items::add_one(&mut read.page, id, &hit, product)
}

fn facets(raw: Raw<'_>) -> Option<BTreeMap<String, BTreeMap<String, u64>>> {
    let json = raw?.get();
    if json.len() > MAX_FACET_BYTES { None } else { serde_json::from_str(json).ok() }
}

/// The product, without the fields that every item has.
fn product(hit: &WireHit<'_>, read: &mut Reader<'_>) -> Product {
    let kind = read.text(hit.kind, "kind");
    let by_weight = kind.as_deref().is_some_and(|kind| BY_WEIGHT.contains(&kind.replace('_', "-").as_str()));
    // sold-out products leave the index
    let offer = Offer::new(options(hit, by_weight, read), true);
    let (thc, cbd) = potencies(hit, by_weight, read);
    Product {
        enterprise_product_id: reader::key_text(hit.product_id),
        brand_name_raw: read.text(hit.brand, "brand"),
        category: kind,
        subcategory: read
            .text(hit.root_subtype, "root_subtype")
            .or_else(|| read.text(hit.kind_subtype, "kind_subtype")),
        strain_type: read.text(hit.category, "category"),
        thc,
        cbd,
        image_url: image(hit, read),
        brand_image_url: read.address(hit.brand_logo_url, "brand_logo_url"),
        specials: specials(hit),
        attributes: attributes::attributes(hit, read),
        // the index has no more
        ..offer.into_product()
    }
}

fn options(hit: &WireHit<'_>, by_weight: bool, read: &mut Reader<'_>) -> Vec<OptionOffer> {
    let menus = menus(hit, read);
    let prices = WEIGHTS.into_iter().zip(hit.prices());
    let options = prices.filter_map(|((label, mg), raw)| {
        let (regular, special) = prices_of(&raw, read)?;
        Some(OptionOffer {
            label: label.to_owned(),
            net_weight_mg: mg.or_else(|| weight_of_each(hit, by_weight, read)),
            price: menus.price(Some(regular), special),
            stock: OptionStock::default(),
        })
    });
    options.collect()
}

/// The price, if the weight is sold, and the special price, if there is one.
fn prices_of(raw: &WirePrices<'_>, read: &mut Reader<'_>) -> Option<(i32, Option<i32>)> {
    let regular = read.amount(raw.regular, "price").filter(|cents| *cents > 0)?;
    let special = special_price(raw.special, read).filter(|cents| *cents > 0);
    Some((regular, special.or_else(|| read.amount(raw.discounted, "discounted_price"))))
}

fn special_price(raw: Raw<'_>, read: &mut Reader<'_>) -> Option<i32> {
    if !raw?.get().starts_with('{') {
        return read.amount(raw, "special_price");
    }
    let special: WireSpecial<'_> = read.object(raw, "special_price")?;
    read.amount(special.discount_price, "discount_price")
}

/// The weight of an option that is sold by the piece. The `amount` of other kinds is their dose.
fn weight_of_each(hit: &WireHit<'_>, by_weight: bool, read: &mut Reader<'_>) -> Option<i64> {
    let amount = if by_weight { read.text(hit.amount, "amount") } else { None };
    if let Some(Size::Mg(mg)) = amount.as_deref().and_then(size::size) {
        return Some(mg);
    }
    let grams = hit.net_weight_grams.and_then(|raw| decimal::float(raw.get()));
    grams.filter(|grams| *grams > 0.0 && *grams < MAX_GRAMS).map(|grams| (grams * 1000.0).round() as i64)
}

/// The menus that a hit is on: one that names none is on the recreational one.
fn menus(hit: &WireHit<'_>, read: &mut Reader<'_>) -> Menus {
    let named = read.texts(hit.store_types, "store_types");
    let has = |word: &str| named.iter().any(|name| name.eq_ignore_ascii_case(word));
    let is_medical = has("medical");
    Menus { is_medical, is_recreational: has("recreational") || !is_medical }
}

/// Percentages of what is sold by weight; the milligrams that the dosage names of the rest.
fn potencies(hit: &WireHit<'_>, by_weight: bool, read: &mut Reader<'_>) -> (Option<Potency>, Option<Potency>) {
    if !by_weight {
        let dosage = read.text(hit.dosage, "dosage").unwrap_or_default();
        return (dose(&dosage, "thc"), dose(&dosage, "cbd"));
    }
    let batches: Vec<WirePotency<'_>> = read.objects(hit.inventory_potencies, "inventory_potencies");
    let thc = percentage([hit.percent_thc, hit.product_percent_thc], batches.iter().map(|batch| batch.thc_potency));
    let cbd = percentage([hit.percent_cbd, hit.product_percent_cbd], batches.iter().map(|batch| batch.cbd_potency));
    (thc, cbd)
}

/// The batch's, otherwise the product's, otherwise the range of the options'.
fn percentage<'a>(single: [Raw<'a>; 2], options: impl Iterator<Item = Raw<'a>>) -> Option<Potency> {
    let number = |raw: Raw<'_>| decimal::float(raw?.get()).filter(|percent| *percent >= 0.0);
    let values: Vec<f64> = match single.into_iter().find_map(number) {
        Some(percent) => vec![percent],
        None => options.filter_map(number).collect(),
    };
    if values.is_empty() { None } else { potency::range(values, Some(PotencyUnit::Percentage)) }
}

/// `100mg CBD/50mg THC`: the part that names the substance.
fn dose(dosage: &str, substance: &str) -> Option<Potency> {
    let part = dosage.split(['/', ',', ';']).find_map(|part| {
        let part = part.trim().to_ascii_lowercase();
        part.strip_suffix(substance).map(|amount| amount.trim().to_owned())
    })?;
    let mg: f64 = part.strip_suffix("mg")?.trim().parse().ok().filter(|mg: &f64| mg.is_finite() && *mg >= 0.0)?;
    potency::range(vec![mg], Some(PotencyUnit::Milligrams))
}

/// The first of `image_urls`, otherwise the photo of the lowest position.
fn image(hit: &WireHit<'_>, read: &mut Reader<'_>) -> Option<String> {
    let first = read.list(hit.image_urls, "image_urls").into_iter().next();
    first.and_then(|raw| read.address(Some(raw), "image_urls")).or_else(|| photo(hit, read))
}

fn photo(hit: &WireHit<'_>, read: &mut Reader<'_>) -> Option<String> {
    let photos: Vec<WirePhoto<'_>> = read.objects(hit.product_photos.or(hit.photos), "product_photos");
    let position = |photo: &WirePhoto<'_>| photo.position.and_then(|raw| decimal::count(raw.get())).unwrap_or(i32::MAX);
    let photo = photos.into_iter().min_by_key(position)?;
    read.address(photo.urls?.original, "product_photos.urls")
}

/// The platform's words about the specials, with its own key names; none where no special applies.
fn specials(hit: &WireHit<'_>) -> Option<SpecialsJson> {
    let fields = [
        ("special_id", hit.special_id),
        ("special_title", hit.special_title),
        ("special_amount", hit.special_amount),
        ("applicable_special_ids", hit.applicable_special_ids),
        ("applicable_bundle_special_ids", hit.applicable_bundle_special_ids),
    ];
    let says_something = |json: &&str| !matches!(*json, "null" | "[]" | "{}" | "\"\"");
    let fields = fields.into_iter().filter_map(|(name, raw)| Some((name, Some(raw?.get()).filter(says_something)?)));
    let fields: Vec<(&str, &str)> = fields.collect();
    if fields.iter().map(|(_, json)| json.len()).sum::<usize>() > MAX_SPECIAL_BYTES {
        return None;
    }
    let fields: Vec<String> =
        fields.into_iter().filter_map(|(name, json)| Some(format!("\"{name}\":{}", copied(json)?))).collect();
    (!fields.is_empty()).then(|| SpecialsJson::new(format!("{{{}}}", fields.join(","))))
}

#[cfg(test)]
mod tests;

//! Reads Jane's answers into products.
//!
//! Pure: no clock, no network, no database. In: an answer of the index, as JSON text. Out: one [`Product`] per provider id, with
//! oddities as warnings beside them; only an answer that has no hits at all is an error.

mod attributes;
mod wire;

use std::collections::{BTreeMap, HashMap};

use crate::platforms::offer::{Offer, OptionOffer, OptionPrice, OptionStock};
use crate::platforms::reading::json_copy::copied;
use crate::platforms::reading::reader::{self, Reader};
use crate::platforms::reading::text::text;
use crate::platforms::reading::{Raw, decimal};
use domain::menu::product::{Potency, PotencyUnit, Product, SpecialsJson};
use domain::menu::size::{self, Size};
use domain::menu::{MenuBuilder, NormalMenu, NormalPage, NormaliseError, Warning, Warnings};
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

/// One answer, normalised, and the facts of it that a crawl needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageRead {
    pub page: NormalPage,
    /// Hits on the page, readable or not.
    pub hits: usize,
    pub total_count: Option<usize>,
    /// Whether the total is an estimate.
    pub is_estimate: bool,
    pub total_pages: Option<usize>,
    /// Number of hits by facet and value.
    pub facets: BTreeMap<String, BTreeMap<String, u64>>,
    /// The stores that hits say they are of, and how many say so.
    pub stores: HashMap<String, usize>,
}

/// Normalises the answers of one crawl.
pub fn normalise(answers: &[&[u8]]) -> Result<NormalMenu, NormaliseError> {
    let mut menu = MenuBuilder::default();
    for (number, body) in answers.iter().enumerate() {
        menu.add(read_page(number, body)?.page)?;
    }
    Ok(menu.build())
}

/// Normalises one answer; `number` names it in errors.
pub fn read_page(number: usize, body: &[u8]) -> Result<PageRead, NormaliseError> {
    let text = text(body).ok_or(NormaliseError::Truncated { page: number })?;
    let not_a_menu = |why: String| NormaliseError::NotAMenu { page: number, why };
    let answer: Answer<'_> = serde_json::from_str(&text).map_err(|error| match error.is_eof() {
        true => NormaliseError::Truncated { page: number },
        false => not_a_menu(error.to_string()),
    })?;
    let hits = answer.hits.ok_or_else(|| not_a_menu("no hits in it".to_owned()))?;
    if hits.dropped > 0 {
        return Err(not_a_menu(format!("more than {MAX_HITS} hits")));
    }
    let count = |raw: Raw<'_>| raw.and_then(|raw| decimal::total(raw.get()));
    let mut read = PageRead {
        hits: hits.kept.len(),
        total_count: count(answer.nb_hits),
        is_estimate: answer.exhaustive_nb_hits.is_some_and(|raw| raw.get() == "false"),
        total_pages: count(answer.nb_pages),
        facets: facets(answer.facets).unwrap_or_default(),
        ..PageRead::default()
    };
    for raw in hits.kept {
        read.hit(raw.get())?;
    }
    Ok(read)
}

fn facets(raw: Raw<'_>) -> Option<BTreeMap<String, BTreeMap<String, u64>>> {
    let json = raw?.get();
    if json.len() > MAX_FACET_BYTES { None } else { serde_json::from_str(json).ok() }
}

impl PageRead {
    fn hit(&mut self, text: &str) -> Result<(), NormaliseError> {
        let Some((id, hit)) = hit(text) else {
            let detail = "no hit with an id".to_owned();
            self.page.warnings.push(Warning { provider_product_id: None, kind: "unreadable_item", detail });
            return Ok(());
        };
        if let Some(store) = reader::key_text(hit.store_id) {
            *self.stores.entry(store).or_default() += 1;
        }
        let product = product(id, &hit, &mut self.page.warnings);
        self.page.push(product)
    }
}

/// None if it is not an object, or has no id that could be a key.
fn hit(text: &str) -> Option<(String, WireHit<'_>)> {
    // a list would be read as an object's fields in order
    let hit: WireHit<'_> = if text.starts_with('{') { serde_json::from_str(text).ok()? } else { return None };
    let id = reader::key_text(hit.product_id).or_else(|| reader::key_text(hit.object_id))?;
    Some((id, hit))
}

fn product(id: String, hit: &WireHit<'_>, warnings: &mut Warnings) -> Product {
    let mut read = Reader::new(&id, warnings);
    let kind = read.text(hit.kind, "kind");
    let by_weight = kind.as_deref().is_some_and(|kind| BY_WEIGHT.contains(&kind.replace('_', "-").as_str()));
    // sold-out products leave the index
    let offer = Offer::new(options(hit, by_weight, &mut read), true);
    let (thc, cbd) = potencies(hit, by_weight, &mut read);
    Product {
        enterprise_product_id: reader::key_text(hit.product_id),
        name_raw: name(hit, &mut read).unwrap_or_else(|| id.clone()),
        brand_name_raw: read.text(hit.brand, "brand"),
        category: kind,
        subcategory: read
            .text(hit.root_subtype, "root_subtype")
            .or_else(|| read.text(hit.kind_subtype, "kind_subtype")),
        strain_type: read.text(hit.category, "category"),
        price_rec: offer.rec.price,
        price_med: offer.med.price,
        special_price_rec: offer.rec.special,
        special_price_med: offer.med.special,
        is_on_special: offer.is_on_special(),
        thc,
        cbd,
        quantity: offer.quantity,
        quantity_censored: offer.is_quantity_censored(),
        is_in_stock: offer.stock_status.is_sellable(),
        stock_status: offer.stock_status,
        image_url: image(hit, &mut read),
        brand_image_url: read.address(hit.brand_logo_url, "brand_logo_url"),
        specials: specials(hit),
        attributes: attributes::attributes(hit, &mut read),
        variants: offer.variants,
        provider_product_id: id,
        // the index has no more
        ..Product::default()
    }
}

fn name(hit: &WireHit<'_>, read: &mut Reader<'_>) -> Option<String> {
    let name = read.text(hit.name, "name");
    if name.is_none() {
        read.warn("no_name", "no name");
    }
    name
}

fn options(hit: &WireHit<'_>, by_weight: bool, read: &mut Reader<'_>) -> Vec<OptionOffer> {
    let menus = Menus::of(hit, read);
    let prices = WEIGHTS.into_iter().zip(hit.prices());
    let options = prices.filter_map(|((label, mg), raw)| {
        let (regular, special) = prices_of(&raw, read)?;
        Some(OptionOffer {
            label: label.to_owned(),
            net_weight_mg: mg.or_else(|| weight_of_each(hit, by_weight, read)),
            price: menus.price(regular, special),
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

/// The menus that a hit is on.
struct Menus {
    is_medical: bool,
    is_recreational: bool,
}

impl Menus {
    /// A hit that names none is on the recreational one.
    fn of(hit: &WireHit<'_>, read: &mut Reader<'_>) -> Menus {
        let named = read.texts(hit.store_types, "store_types");
        let has = |word: &str| named.iter().any(|name| name.eq_ignore_ascii_case(word));
        let is_medical = has("medical");
        Menus { is_medical, is_recreational: has("recreational") || !is_medical }
    }

    fn price(&self, regular: i32, special: Option<i32>) -> OptionPrice {
        let (rec, med) = (self.is_recreational, self.is_medical);
        OptionPrice {
            rec: Some(regular).filter(|_| rec),
            med: Some(regular).filter(|_| med),
            special_rec: special.filter(|_| rec),
            special_med: special.filter(|_| med),
        }
    }
}

/// Percentages of what is sold by weight; the milligrams that the dosage names of the rest.
fn potencies(hit: &WireHit<'_>, by_weight: bool, read: &mut Reader<'_>) -> (Option<Potency>, Option<Potency>) {
    if !by_weight {
        let dosage = read.text(hit.dosage, "dosage").unwrap_or_default();
        return (dose(&dosage, "thc"), dose(&dosage, "cbd"));
    }
    let batches: Vec<WirePotency<'_>> = read
        .list(hit.inventory_potencies, "inventory_potencies")
        .into_iter()
        .filter_map(|raw| read.object(Some(raw), "inventory_potencies"))
        .collect();
    let thc = percentage([hit.percent_thc, hit.product_percent_thc], batches.iter().map(|batch| batch.thc_potency));
    let cbd = percentage([hit.percent_cbd, hit.product_percent_cbd], batches.iter().map(|batch| batch.cbd_potency));
    (thc, cbd)
}

/// The batch's, otherwise the product's, otherwise the range of the options'.
fn percentage<'a>(single: [Raw<'a>; 2], options: impl Iterator<Item = Raw<'a>>) -> Option<Potency> {
    let number = |raw: Raw<'_>| decimal::float(raw?.get()).filter(|percent| *percent >= 0.0);
    if let Some(percent) = single.into_iter().find_map(number) {
        return Some(potency(percent, percent, PotencyUnit::Percentage));
    }
    let options: Vec<f64> = options.filter_map(number).collect();
    let (min, max) = (options.iter().copied().reduce(f64::min)?, options.iter().copied().reduce(f64::max)?);
    Some(potency(min, max, PotencyUnit::Percentage))
}

/// `100mg CBD/50mg THC`: the part that names the substance.
fn dose(dosage: &str, substance: &str) -> Option<Potency> {
    let part = dosage.split(['/', ',', ';']).find_map(|part| {
        let part = part.trim().to_ascii_lowercase();
        part.strip_suffix(substance).map(|amount| amount.trim().to_owned())
    })?;
    let mg: f64 = part.strip_suffix("mg")?.trim().parse().ok().filter(|mg: &f64| mg.is_finite() && *mg >= 0.0)?;
    Some(potency(mg, mg, PotencyUnit::Milligrams))
}

fn potency(min: f64, max: f64, unit: PotencyUnit) -> Potency {
    Potency { min: Some(min), max: Some(max), unit: Some(unit) }
}

/// The first of `image_urls`, otherwise the photo of the lowest position.
fn image(hit: &WireHit<'_>, read: &mut Reader<'_>) -> Option<String> {
    let first = read.list(hit.image_urls, "image_urls").into_iter().next();
    first.and_then(|raw| read.address(Some(raw), "image_urls")).or_else(|| photo(hit, read))
}

fn photo(hit: &WireHit<'_>, read: &mut Reader<'_>) -> Option<String> {
    let photos = read.list(hit.product_photos.or(hit.photos), "product_photos");
    let photos = photos.into_iter().filter_map(|raw| read.object::<WirePhoto<'_>>(Some(raw), "product_photos"));
    let position = |photo: &WirePhoto<'_>| photo.position.and_then(|raw| decimal::count(raw.get())).unwrap_or(i32::MAX);
    let photo = photos.collect::<Vec<_>>().into_iter().min_by_key(position)?;
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

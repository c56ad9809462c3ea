//! A product as `filteredProducts.products[]` shows it: 62 to 64 keys, most of them null.

use chrono::{DateTime, SecondsFormat};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::potency::{self, Cannabinoid};
use super::specials::{SpecialData, special_data};
use super::stock::{self, ManualInventory, PosMetaData};
use crate::brand::Naming;
use crate::draw::Draw;
use crate::money::Mills;
use crate::picture::Picture;
use crate::product::{Offer, Product, Sale, Special};
use crate::{size, words};

const EFFECTS: &[&str] = &["calm", "Calm", "happy", "relaxed", "energetic", "sleepy", "creative"];

type Null = Option<()>;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireProduct<'a> {
    #[serde(rename = "_id")]
    underscore_id: &'a str,
    id: &'a str,
    #[serde(rename = "AdditionalOptions")]
    additional_options: [Null; 0],
    duplicated_product_id: Null,
    library_product_id: Null,
    library_product_score: Null,
    brand: Option<WireBrand<'a>>,
    brand_id: Option<&'a str>,
    brand_name: Option<String>,
    #[serde(rename = "CBD")]
    cbd: Null,
    #[serde(rename = "CBDContent")]
    cbd_content: Value,
    certificate_of_analysis_enabled: bool,
    collection_card_badge: Null,
    coming_soon: Null,
    created_at: String,
    updated_at: String,
    #[serde(rename = "DispensaryID")]
    dispensary_id: &'a str,
    enterprise_product_id: Option<String>,
    #[serde(rename = "Image")]
    image: String,
    images: Vec<Image>,
    measurements: Option<Measurements>,
    medical_only: bool,
    medical_prices: Vec<Mills>,
    medical_special_prices: Vec<Mills>,
    wholesale_prices: Null,
    #[serde(rename = "Name")]
    name: &'a str,
    non_arms_length: Null,
    #[serde(rename = "Options")]
    options: Vec<&'static str>,
    limits_per_customer: Null,
    manual_inventory: Option<Vec<ManualInventory>>,
    #[serde(rename = "POSMetaData")]
    pos_meta_data: Option<PosMetaData<'a>>,
    #[serde(rename = "Prices")]
    prices: Vec<Mills>,
    pricing_tier_data: Null,
    special_ids_per_option: Vec<SpecialIds>,
    raw_options: Vec<&'static str>,
    rec_only: bool,
    rec_prices: Vec<Mills>,
    rec_special_prices: Vec<Mills>,
    /// null or true, never false.
    special: Option<bool>,
    special_data: Option<SpecialData>,
    #[serde(rename = "Status")]
    status: &'static str,
    strain_type: Option<&'static str>,
    subcategory: Option<&'static str>,
    #[serde(rename = "THC")]
    thc: Null,
    #[serde(rename = "THCContent")]
    thc_content: Value,
    r#type: &'static str,
    vape_tax_applicable: Null,
    weight: u32,
    featured: Value,
    is_below_threshold: Null,
    is_below_kiosk_threshold: Null,
    options_below_threshold: [Null; 0],
    options_below_kiosk_threshold: [Null; 0],
    #[serde(rename = "cName")]
    cname: String,
    #[serde(rename = "pastCNames")]
    past_cnames: Vec<Option<String>>,
    brand_logo: Option<&'a str>,
    bottle_deposit_tax_cents: Null,
    use_better_potency_taxes: Null,
    #[serde(rename = "__typename")]
    typename: &'static str,
    effects: Map<String, Value>,
    #[serde(rename = "cannabinoidsV2")]
    cannabinoids: Option<Vec<Cannabinoid>>,
    provider: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    terpenes: Option<[Null; 0]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireBrand<'a> {
    id: &'a str,
    name: Option<&'a str>,
    parent_brand_id: &'a str,
    image_url: Option<&'a str>,
    #[serde(rename = "__typename")]
    typename: &'static str,
    #[serde(rename = "_id")]
    underscore_id: &'a str,
    description: &'a str,
}

#[derive(Serialize)]
struct Image {
    url: String,
    description: &'static str,
    active: bool,
    #[serde(rename = "__typename")]
    typename: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Measurements {
    net_weight: NetWeight,
    volume: Null,
}

#[derive(Serialize)]
struct NetWeight {
    unit: &'static str,
    values: Vec<i64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpecialIds {
    option: &'static str,
    condition_ids: [Null; 0],
    reward_ids: [Null; 0],
    #[serde(rename = "__typename")]
    typename: &'static str,
}

impl<'a> WireProduct<'a> {
    pub(crate) fn of(product: &'a Product<'a>, dispensary_id: &'a str, weight: u32) -> WireProduct<'a> {
        let draw = &mut product.look.clone();
        let category = product.category;
        let (image, images) = images(&product.picture);
        let (brand_name, brand) = brand(draw, product);
        let cname = words::slug(&product.name);
        let past_cnames = if draw.percent(4) { vec![Some(cname.clone())] } else { vec![None, Some(cname.clone())] };
        let (created_at, updated_at) = times(draw, product);
        let enterprise_product_id = draw.percent(40).then(|| draw.uuid());
        let manual_inventory = stock::manual(draw, product);
        let pos_meta_data = stock::pos(draw, product);
        let raw_options = if draw.percent(4) { vec!["14g", "Default"] } else { Vec::new() };
        let featured = featured(draw, product.created_ms);
        let effects = effects(draw);
        let cannabinoids = potency::cannabinoids(draw, category.potency, product.strength);
        let terpenes = draw.percent(20).then_some([]);
        let description = draw.percent(25).then(|| words::prose(draw, 200));
        WireProduct {
            underscore_id: &product.id,
            id: &product.id,
            additional_options: [],
            duplicated_product_id: None,
            library_product_id: None,
            library_product_score: None,
            brand_id: brand.as_ref().map(|brand| brand.id),
            brand_logo: brand.as_ref().and_then(|brand| brand.image_url),
            brand,
            brand_name,
            cbd: None,
            cbd_content: potency::content(product.cbd, category.potency),
            certificate_of_analysis_enabled: false,
            collection_card_badge: None,
            coming_soon: None,
            created_at,
            updated_at,
            dispensary_id,
            enterprise_product_id,
            image,
            images,
            measurements: measurements(product),
            medical_only: false,
            medical_prices: listed(product.lists_med_prices, &product.offers, |offer| offer.med.regular),
            medical_special_prices: specials(product, product.lists_med_prices, |offer| offer.med.special),
            wholesale_prices: None,
            name: &product.name,
            non_arms_length: None,
            options: product.offers.iter().map(|offer| offer.label).collect(),
            limits_per_customer: None,
            manual_inventory,
            pos_meta_data,
            prices: listed(true, &product.offers, |offer| offer.rec.regular),
            pricing_tier_data: None,
            special_ids_per_option: product.offers.iter().map(special_ids).collect(),
            raw_options,
            rec_only: !product.lists_med_prices,
            rec_prices: listed(product.lists_rec_prices, &product.offers, |offer| offer.rec.regular),
            rec_special_prices: specials(product, true, |offer| offer.rec.special),
            special: (product.sale != Sale::None).then_some(true),
            special_data: special_data(&mut product.special_look.clone(), product.sale, product.written_deal),
            status: if product.active { "Active" } else { "Inactive" },
            strain_type: product.strain_type,
            subcategory: product.subcategory,
            thc: None,
            thc_content: potency::content(product.thc, category.potency),
            r#type: category.name,
            vape_tax_applicable: None,
            weight,
            featured,
            is_below_threshold: None,
            is_below_kiosk_threshold: None,
            options_below_threshold: [],
            options_below_kiosk_threshold: [],
            past_cnames,
            cname,
            bottle_deposit_tax_cents: None,
            use_better_potency_taxes: None,
            typename: "Products",
            effects,
            cannabinoids,
            provider: "dutchie",
            terpenes,
            description,
        }
    }
}

fn brand<'a>(draw: &mut Draw, product: &'a Product<'a>) -> (Option<String>, Option<WireBrand<'a>>) {
    let brand = product.brand;
    let object = |name| WireBrand {
        id: &brand.id,
        name,
        parent_brand_id: &brand.parent_id,
        image_url: brand.image_url.as_deref(),
        typename: "Brand",
        underscore_id: &brand.id,
        description: &brand.description,
    };
    let padded = || Some(format!("{}  ", brand.name));
    match product.naming {
        Naming::Object => {
            (if draw.percent(10) { padded() } else { Some(brand.name.clone()) }, Some(object(Some(&brand.name))))
        }
        Naming::BrandName => (padded(), Some(object(None))),
        Naming::NoObject => (Some(brand.name.clone()), None),
        Naming::Canonical => (None, Some(object(Some(" ")))),
        Naming::Nameless => (draw.percent(50).then(String::new), None),
    }
}

fn listed(lists: bool, offers: &[Offer], price: impl Fn(&Offer) -> Mills) -> Vec<Mills> {
    if lists { offers.iter().map(price).collect() } else { Vec::new() }
}

/// Specials; none without a sale; 0 for an option that is not in the sale.
fn specials(product: &Product<'_>, lists: bool, special: impl Fn(&Offer) -> Special) -> Vec<Mills> {
    let price = |offer: &Offer| match special(offer) {
        Special::None => Mills(0),
        Special::NotLower(price) | Special::Lower(price) => price,
    };
    listed(lists && product.sale.is_priced(), &product.offers, price)
}

fn special_ids(offer: &Offer) -> SpecialIds {
    SpecialIds { option: offer.label, condition_ids: [], reward_ids: [], typename: "Products_specialIdsPerOption" }
}

/// Usually epoch milliseconds and ISO-8601; now and then the other way round.
fn times(draw: &mut Draw, product: &Product<'_>) -> (String, String) {
    let iso = |ms: u64| match DateTime::from_timestamp_millis(ms as i64) {
        Some(time) => time.to_rfc3339_opts(SecondsFormat::Millis, true),
        None => ms.to_string(),
    };
    if draw.percent(8) {
        return (iso(product.created_ms), product.updated_ms.to_string());
    }
    (product.created_ms.to_string(), iso(product.updated_ms))
}

fn images(picture: &Picture) -> (String, Vec<Image>) {
    let image = |url: String, active| Image { url, description: "", active, typename: "Products_Images" };
    let both = |url: &str| vec![image(format!("{url}0"), false), image(url.to_owned(), true)];
    match picture {
        Picture::None => (String::new(), Vec::new()),
        Picture::Main(url) => (url.clone(), vec![image(url.clone(), true)]),
        Picture::MainAndOld(url) => (url.clone(), both(url)),
        Picture::Listed(url) => (String::new(), both(url)),
    }
}

fn measurements(product: &Product<'_>) -> Option<Measurements> {
    let values = || product.offers.iter().map(|offer| size::net_weight_mg(offer.label)).collect();
    product
        .weighed
        .then(|| Measurements { net_weight: NetWeight { unit: "MILLIGRAMS", values: values() }, volume: None })
}

fn featured(draw: &mut Draw, since_ms: u64) -> Value {
    if !draw.percent(6) {
        return Value::Null;
    }
    json!({ "current": true, "startTime": since_ms.to_string(), "endTime": null, "__typename": "Products_featured" })
}

fn effects(draw: &mut Draw) -> Map<String, Value> {
    let count = draw.below(5);
    (0..count).map(|_| ((*draw.pick(EFFECTS)).to_owned(), json!(draw.between(1, 9)))).collect()
}

//! A product as a hit of the index of menus: prices as numbers, as text or null, specials in several forms, ids of two kinds.

use serde_json::{Map, Value, json};

use super::goods::{JaneOption, JaneProduct, WEIGHTS, store_id};
use crate::catalogue::StoreSeed;
use crate::draw::Draw;
use crate::money::Mills;
use crate::potency::Content;
use crate::product::{Price, Special};

const INDEXED_AT: &str = "2026-11-27T08:00:00Z";

pub(crate) fn hit(product: &JaneProduct<'_>, store: &StoreSeed) -> Value {
    let truth = &product.truth;
    let mut look = product.look.clone();
    let is_root = look.percent(80);
    let piece = product.options.iter().find(|option| option.weight.mg.is_none());
    let menus: &[&str] = match (product.names_menus, product.is_recreational, product.is_medical) {
        (false, ..) => &[],
        (_, true, true) => &["recreational", "medical"],
        (_, true, false) => &["recreational"],
        _ => &["medical"],
    };
    let (root, other) = if is_root { (product.subtype, Some("Any")) } else { (None, product.subtype) };
    let (image_urls, photos) = images(truth.picture.url(), &mut look);
    let mut fields = json!({
        "objectID": product.hit_id(store),
        "product_id": product.has_number.then_some(product.number),
        "store_id": store_id(store),
        "name": truth.name,
        "brand": truth.brand_name().or(look.percent(50).then_some("")),
        "kind": product.kind,
        "root_subtype": root,
        "kind_subtype": other.filter(|_| product.subtype.is_some()),
        "category": product.lineage,
        "strain": truth.name,
        "amount": piece.map(|piece| piece.label),
        "net_weight_grams": product.net_weight_mg().unwrap_or_default() as f64 / 1000.0,
        "available_weights": product.options.iter().map(|option| option.weight.label).collect::<Vec<_>>(),
        "store_types": menus,
        "image_urls": image_urls,
        "product_photos": photos,
        "brand_logo_url": truth.logo(),
        "max_cart_quantity": 9,
        "special_id": null,
        "special_title": null,
        "applicable_special_ids": [],
        "applicable_bundle_special_ids": [],
        "aggregate_rating": 4.5,
        "best_seller_rank": product.index,
        "indexed_at": INDEXED_AT,
    });
    if let Some(fields) = fields.as_object_mut() {
        potencies(product, fields);
        prices(product, fields, &mut look);
    }
    fields
}

/// The picture, in one of its two places.
fn images(url: Option<&str>, look: &mut Draw) -> (Value, Value) {
    let Some(url) = url else { return (Value::Null, json!([])) };
    if look.percent(70) {
        return (json!([url, "http://images.simulated.test/never"]), json!([]));
    }
    let photo = |position: u32, url: &str| json!({ "id": position, "position": position, "urls": { "original": url } });
    (json!([]), json!([photo(1, "http://images.simulated.test/never"), photo(0, url)]))
}

/// Percentages of what is sold by weight; of the rest, doses, beside numbers that are none.
fn potencies(product: &JaneProduct<'_>, fields: &mut Map<String, Value>) {
    let (thc, cbd) = (product.truth.thc, product.truth.cbd);
    if !product.is_by_weight() {
        let dose = |content: Content, name: &str| Some(format!("{}mg {name}", dose(content)?));
        let doses: Vec<String> = [dose(cbd, "CBD"), dose(thc, "THC")].into_iter().flatten().collect();
        fields.insert("dosage".to_owned(), json!(doses.join("/")));
        fields.insert("percent_thc".to_owned(), json!(100));
        return;
    }
    let range = |content: Content| if let Content::Range(low, high) = content { Some([low, high]) } else { None };
    let options = |at: usize| {
        json!({ "price_id": "each", "thc_potency": range(thc).map(|range| range[at]),
                                      "cbd_potency": range(cbd).map(|range| range[at]) })
    };
    fields.insert("inventory_potencies".to_owned(), json!([options(1), options(0)]));
    for (name, content) in [("thc", thc), ("cbd", cbd)] {
        let (batch, whole) = match content {
            Content::One(strength) => (json!(strength), Value::Null),
            Content::Text(strength) => (json!(strength.to_string()), json!(1)),
            Content::Number(strength) => (Value::Null, json!(strength)),
            Content::Absent | Content::Unvalued | Content::Empty | Content::Range(..) => (Value::Null, Value::Null),
        };
        fields.insert(format!("percent_{name}"), batch);
        fields.insert(format!("product_percent_{name}"), whole);
    }
}

/// The amount that a dose states.
pub(crate) fn dose(content: Content) -> Option<f64> {
    match content {
        Content::One(mg) | Content::Number(mg) | Content::Text(mg) | Content::Range(mg, _) => Some(mg),
        Content::Absent | Content::Unvalued | Content::Empty => None,
    }
}

fn prices(product: &JaneProduct<'_>, fields: &mut Map<String, Value>, look: &mut Draw) {
    for weight in &WEIGHTS {
        for field in ["price_", "discounted_price_", "special_price_"] {
            fields.insert(format!("{field}{}", weight.field), Value::Null);
        }
    }
    let mut has_special = false;
    for JaneOption { weight, price, .. } in &product.options {
        let special = special(*price);
        has_special |= special.is_some();
        fields.insert(format!("price_{}", weight.field), money(price.regular, look));
        let (discounted, written) = match (special, look.below(3)) {
            (None, 0) => (json!(price.regular), Value::Null),
            (None, _) => (Value::Null, Value::Null),
            (Some(special), 0) => (money(special, look), Value::Null),
            (Some(special), 1) => (json!(special), json!(special)),
            (Some(special), _) => (money(price.regular, look), object(*price, special)),
        };
        fields.insert(format!("discounted_price_{}", weight.field), discounted);
        fields.insert(format!("special_price_{}", weight.field), written);
    }
    if has_special {
        fields.insert("special_id".to_owned(), json!(77));
        fields.insert("special_title".to_owned(), json!("Weekend\u{0} sale"));
        fields.insert("applicable_special_ids".to_owned(), json!([77]));
        fields.insert("applicable_bundle_special_ids".to_owned(), json!({ "qualify": [77], "discount": [] }));
    }
}

fn special(price: Price) -> Option<Mills> {
    match price.special {
        Special::None => None,
        Special::NotLower(special) | Special::Lower(special) => Some(special),
    }
}

fn object(price: Price, special: Mills) -> Value {
    json!({
        "special_id": 77,
        "price": text(price.regular),
        "discount_price": text(special),
        "discount_amount": 1,
        "discount_type": "target_price",
        "discount_percent": null,
    })
}

/// A number, or the same as text.
fn money(amount: Mills, look: &mut Draw) -> Value {
    if look.percent(50) { json!(amount) } else { text(amount) }
}

fn text(amount: Mills) -> Value {
    json!(format!("{:?}", f64::from(amount.0) / 1000.0))
}

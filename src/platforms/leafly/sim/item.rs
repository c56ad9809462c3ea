//! An item of a menu as it is written: prices in dollars and deals in cents, sizes in a list or in the item alone, ids and labels in
//! either of two fields.

use chrono::{DateTime, SecondsFormat};
use serde_json::{Map, Value, json};

use super::goods::{LeaflyItem, LeaflySize};
use super::stores::slug;
use crate::catalogue::StoreSeed;
use crate::category::Potency;
use crate::draw::Draw;
use crate::money::Mills;
use crate::potency::Content;

pub(super) fn item(item: &LeaflyItem<'_>, store: &StoreSeed) -> Value {
    let (truth, mut look) = (&item.truth, item.look.clone());
    let (has_id, has_brand_name, has_image) = (!look.percent(5), look.percent(70), look.percent(80));
    let variants = variants(item, &mut look);
    let percent = if look.percent(50) { "percent" } else { "%" };
    let mut fields = json!({
        "id": has_id.then_some(item.id),
        "menuItemId": if has_id { json!(item.id) } else { json!(item.id.to_string()) },
        "dispensaryId": 8100,
        "dispensaryName": store.name,
        "dispensarySlug": slug(store),
        "name": truth.name,
        "brandName": truth.brand_name().filter(|_| has_brand_name),
        "brand": truth.brand_name().map(|name| json!({ "id": 5, "name": name })),
        "productCategory": truth.category.name,
        "subCategory": truth.subcategory,
        "strainType": truth.lineage().filter(|_| look.percent(60)),
        "strain": truth.lineage().map(|lineage| json!({ "category": lineage, "averageRating": 4.4 })),
        "thcContent": strength(truth.thc),
        "thcUnit": unit(truth.category.potency, percent),
        "cbdContent": strength(truth.cbd),
        "cbdUnit": unit(truth.category.potency, percent),
        "stockQuantity": item.quantity,
        "inStock": item.is_in_stock,
        "medical": item.is_medical,
        "pickupEnabled": true,
        "imageUrl": truth.picture.url().filter(|_| has_image),
        "thumbnailUrl": truth.picture.url(),
        "updatedAt": time(truth.updated_ms),
        "variants": variants,
    });
    if let (Some(fields), Some(own)) = (fields.as_object_mut(), item.sizes.get(item.own)) {
        fields.extend(size(item, own, &mut look));
    }
    fields
}

fn time(milliseconds: u64) -> Option<String> {
    let time = DateTime::from_timestamp_millis(i64::try_from(milliseconds).ok()?)?;
    Some(time.to_rfc3339_opts(SecondsFormat::Secs, true))
}

/// The sizes; none where the item is the only one, now and then.
fn variants(item: &LeaflyItem<'_>, look: &mut Draw) -> Value {
    if item.sizes.len() == 1 && look.percent(50) {
        return if look.percent(50) { json!([]) } else { Value::Null };
    }
    // the first price shows whether they are cents, if it is the item's own
    let is_in_cents = item.own == 0 && look.percent(25);
    let mut variant = |(at, of): (usize, &LeaflySize)| {
        let mut fields = size(item, of, look);
        if is_in_cents {
            fields.insert("price".to_owned(), json!(of.price.regular.cents()));
            fields.insert("sortPrice".to_owned(), json!(paid(of).cents()));
        }
        if at == item.own && look.percent(50) {
            // the item has the same
            fields.extend([("deal".to_owned(), Value::Null), ("sortPrice".to_owned(), Value::Null)]);
        }
        Value::Object(fields)
    };
    Value::Array(item.sizes.iter().enumerate().map(&mut variant).collect())
}

/// The fields of a size, in an item or in the list of its sizes.
fn size(item: &LeaflyItem<'_>, size: &LeaflySize, look: &mut Draw) -> Map<String, Value> {
    let weight = item.net_weight_mg(size).map(|mg| mg as f64 / 1000.0);
    let deal = match size.special() {
        None => Value::Null,
        Some(special) if special > size.price.regular => deal(special, "cent"),
        Some(special) => match look.below(3) {
            0 => Value::Null,
            1 => deal(Mills(20_000), "percent"),
            _ => deal(special, "cent"),
        },
    };
    let has_label = !look.percent(10);
    let fields = json!({
        "price": size.price.regular,
        "sortPrice": paid(size),
        "pricePerUnit": 11.43,
        "quantity": weight,
        "unit": weight.map(|_| "g"),
        "displayQuantity": has_label.then_some(size.label),
        "normalizedQuantityLabel": size.label,
        "deal": deal,
    });
    if let Value::Object(fields) = fields { fields } else { Map::new() }
}

/// The price that a customer pays.
fn paid(size: &LeaflySize) -> Mills {
    size.special().map_or(size.price.regular, |special| special.min(size.price.regular))
}

/// A deal. Its numbers are prices in cents where its kind is `cent`, and no prices where it is another one.
fn deal(price: Mills, kind: &str) -> Value {
    json!({
        "id": 7,
        "title": "Weekend\u{0} sale",
        "discountedPrice": price.cents(),
        "discountAmount": 100,
        "discountType": kind,
        "startDate": "2026-11-01T00:00:00Z",
        "endDate": null,
    })
}

fn strength(content: Content) -> Value {
    match content {
        Content::Text(strength) => json!(strength.to_string()),
        content => json!(content.number()),
    }
}

fn unit(potency: Potency, percent: &'static str) -> &'static str {
    match potency {
        Potency::Percentage | Potency::Nothing => percent,
        Potency::Milligrams => "mg",
        Potency::MilligramsPerGram => "mg/g",
    }
}

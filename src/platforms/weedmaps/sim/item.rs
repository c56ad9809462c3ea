//! An item of a menu as it is written: prices in three shapes, taxonomies old and new, pictures that stand for none.

use chrono::{DateTime, SecondsFormat};
use serde_json::{Map, Value, json};

use super::goods::{Tier, Unit, WeedmapsItem, unit};
use crate::category::Potency;
use crate::money::Mills;
use crate::potency::Content;

const NO_IMAGE: &str = "https://images.weedmaps.com/static/placeholder/image_missing.jpg";
/// Keys of prices by name, in their order.
const NAMES: [&str; 8] = ["ounce", "gram", "unit", "half_gram", "two_grams", "eighth", "quarter", "half_ounce"];

pub(super) fn item(item: &WeedmapsItem<'_>) -> Value {
    let (truth, mut look) = (&item.truth, item.look.clone());
    let tiers = item.tiers();
    let is_on_sale = tiers.iter().any(|tier| tier.special().is_some());
    let prices = prices(item, &tiers, look.below(3));
    json!({
        "id": item.id,
        "name": truth.name,
        "slug": format!("item-{}", item.index),
        "menu_id": 3100,
        "license_type": item.license,
        "category": { "name": old_category(item) },
        "edge_category": edge_category(item),
        "genetics_tag": item.truth.lineage().filter(|_| look.percent(60)).map(|name| json!({ "name": name })),
        "tags": [{ "name": "Relaxed", "tag_group": { "name": "Effects" } }, { "name": item.truth.lineage(), "tag_group": { "name": "Genetics" } }],
        "brand_endorsement": truth.brand_name().map(|name| json!({
            "brand_id": 44, "brand_name": name, "product_id": item.index,
            "brand_avatar_image_url": truth.logo().unwrap_or(NO_IMAGE),
        })),
        "price": tiers.first().map(|first| tier(item, first)),
        "prices": prices,
        "metrics": metrics(item),
        "avatar_image": { "original_url": truth.picture.url().unwrap_or(NO_IMAGE), "small_url": null },
        "is_online_orderable": look.percent(50),
        "current_deal_title": is_on_sale.then_some("Weekend\u{0} sale"),
        "deal_ids": if is_on_sale { json!([501]) } else { json!([]) },
        "price_visibility": "visible",
        "created_at": time(truth.created_ms),
        "updated_at": time(truth.updated_ms),
    })
}

fn time(milliseconds: u64) -> Option<String> {
    let time = DateTime::from_timestamp_millis(i64::try_from(milliseconds).ok()?)?;
    Some(time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// A lineage, where another field has it too, or the kind of goods.
fn old_category(item: &WeedmapsItem<'_>) -> &'static str {
    let lineage = item.truth.lineage().filter(|name| ["Indica", "Sativa", "Hybrid"].contains(name));
    lineage.filter(|_| item.has_edge_category).unwrap_or(item.truth.category.name)
}

fn edge_category(item: &WeedmapsItem<'_>) -> Value {
    let top = json!({ "name": item.truth.category.name, "slug": "top" });
    match item.subcategory() {
        _ if !item.has_edge_category => Value::Null,
        Some(name) => json!({ "name": name, "ancestors": [top, { "name": "Between" }] }),
        None => json!({ "name": item.truth.category.name, "ancestors": [] }),
    }
}

/// Lists by unit, prices by name, or a plain list; a single one may be the main price alone.
fn prices(item: &WeedmapsItem<'_>, tiers: &[Tier], shape: u64) -> Value {
    match shape {
        0 if tiers.len() == 1 => json!([]),
        0 => json!(tiers.iter().map(|one| tier(item, one)).collect::<Vec<_>>()),
        1 if tiers.len() <= NAMES.len() => {
            let named = NAMES.iter().zip(tiers).map(|(name, one)| ((*name).to_owned(), tier(item, one)));
            Value::Object(named.collect())
        }
        _ => by_unit(item, tiers),
    }
}

fn by_unit(item: &WeedmapsItem<'_>, tiers: &[Tier]) -> Value {
    let mut lists = Map::new();
    for (key, of) in [("ounce", Unit::Ounce), ("gram", Unit::Gram), ("unit", Unit::Piece)] {
        let list: Vec<Value> = tiers.iter().filter(|one| unit(one.label) == of).map(|one| tier(item, one)).collect();
        lists.insert(key.to_owned(), if list.is_empty() { Value::Null } else { Value::Array(list) });
    }
    lists.insert("grams_per_eighth".to_owned(), json!(3.5));
    Value::Object(lists)
}

fn tier(item: &WeedmapsItem<'_>, tier: &Tier) -> Value {
    let (regular, special) = (tier.price.regular, tier.special());
    let weight = item.weight_mg(tier).map(|mg| json!({ "value": mg as f64 / 1000.0, "unit": "g" }));
    json!({
        "label": tier.label,
        "price": special.unwrap_or(regular),
        "on_sale": special.is_some(),
        "original_price": original(regular, special.is_some(), item.index),
        "weight": weight,
        "gram_unit_price": 9.14,
    })
}

/// The regular price; none, or the same one, where nothing is on sale.
fn original(regular: Mills, is_on_sale: bool, index: u64) -> Value {
    if is_on_sale || index.is_multiple_of(2) { json!(regular) } else { Value::Null }
}

fn metrics(item: &WeedmapsItem<'_>) -> Value {
    let unit = match item.truth.category.potency {
        Potency::Percentage | Potency::Nothing => "%",
        Potency::Milligrams => "mg",
        Potency::MilligramsPerGram => "mg/g",
    };
    let value = |content: Content| match content {
        Content::Text(amount) => json!(amount.to_string()),
        content => content.number().map_or(json!(0), |amount| json!(amount)),
    };
    let (thc, cbd) = (item.truth.thc, item.truth.cbd);
    json!({ "aggregates": { "thc": value(thc), "cbd": value(cbd), "thc_unit": unit, "cbd_unit": unit } })
}

//! `specialData`: upstream's description of a sale. Long, and never the source of a price.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::category::CATEGORIES;
use crate::deal::{self, Fields, WrittenDeal};
use crate::draw::Draw;
use crate::product::Sale;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SpecialData {
    bogo_specials: Option<Vec<Value>>,
    sale_specials: Option<Vec<Value>>,
    #[serde(rename = "__typename")]
    typename: &'static str,
}

/// A sale covers products of many kinds: its text does not depend on the product.
pub(crate) fn special_data(draw: &mut Draw, sale: Sale, written: Option<&WrittenDeal>) -> Option<SpecialData> {
    let category = draw.pick(CATEGORIES).name;
    let (bogo_specials, sale_specials) = match sale {
        Sale::None => return None,
        Sale::Priced => (draw.percent(20).then(Vec::new), Some(sale_specials(draw, category))),
        _ if written.is_some() => {
            let on_sale = (sale == Sale::PricedBogo).then(|| sale_specials(draw, category));
            (Some(written.map(|deal| written_deal(draw, deal)).into_iter().collect()), on_sale)
        }
        Sale::Bogo | Sale::PricedBogo => (Some(vec![bogo_special(draw)]), None),
    };
    Some(SpecialData { bogo_specials, sale_specials, typename: "Products_specialData" })
}

fn sale_specials(draw: &mut Draw, category: &str) -> Vec<Value> {
    let count = draw.between(1, 2);
    (0..count).map(|_| sale_special(draw, category)).collect()
}

fn sale_special(draw: &mut Draw, category: &str) -> Value {
    let discount = *draw.pick(&[10, 15, 20, 25, 35, 50]);
    json!({
        "createdBy": draw.object_id(),
        "directPOSProductIdMapping": false,
        "rawPOSWeightMapping": false,
        "useLatestCartCalculator": null,
        "discount": discount,
        "discountStacking": false,
        "dollarDiscount": false,
        "eligibleProductOptions": null,
        "menuType": "both",
        "minorVersion": 0,
        "nonStackingBehavior": "favorCustomer",
        "payByBankIncentiveEnabled": null,
        "paymentRestrictions": null,
        "percentDiscount": true,
        "saleDiscounts": null,
        "settingsDerivedFrom": "dispensary",
        "skipV4Merge": null,
        "source": null,
        "sourceId": null,
        "specialId": draw.object_id(),
        "specialName": format!("{discount}% OFF {category} all week "),
        "specialType": "sale",
        "specialRestrictions": restrictions(draw, category),
        "stackingBehavior": "cumulative",
        "stackingMode": null,
        "targetPrice": false,
        "useGreedOptimizedCalculator": null,
        "useTotalQtyCalcsFix": true,
        "version": 3,
        "__typename": "Products_specialData_saleSpecials",
    })
}

fn bogo_special(draw: &mut Draw) -> Value {
    let (bought, price) = deal::plain(draw);
    json!({
        "createdBy": draw.object_id(),
        "specialId": draw.object_id(),
        "specialName": format!("{bought} for ${price}"),
        "specialType": "bogo",
        "itemsForAPrice": { "value": price, "__typename": "Products_itemsForAPrice" },
        "bogoConditions": [{ "totalQuantity": { "quantity": bought } }],
        "bogoRewards": [{ "totalQuantity": { "quantity": 1, "maxQuantity": null }, "discountType": "bundleDiscount" }],
        "__typename": "Products_specialData_bogoSpecials",
    })
}

/// The deal of odd goods.
fn written_deal(draw: &mut Draw, deal: &WrittenDeal) -> Value {
    let (price, conditions, rewards) = match deal.fields {
        Fields::None => (Value::Null, json!([]), json!([])),
        Fields::Total { pieces, dollars } => (
            json!({ "enabled": true, "value": dollars, "__typename": "Products_itemsForAPrice" }),
            json!([{ "quantity": null, "totalQuantity": { "quantity": pieces } }]),
            json!([]),
        ),
        Fields::Reward { bought, gained, discount: (field, value), other_goods } => {
            let category = |is_other: bool| if is_other { "Pre-Rolls" } else { "Flower" };
            let mut reward = json!({ "quantity": gained, "categoryNames": [category(other_goods)] });
            reward[field] = json!(value);
            (Value::Null, json!([{ "quantity": bought, "categoryNames": [category(false)] }]), json!([reward]))
        }
    };
    json!({
        "createdBy": draw.object_id(),
        "specialId": draw.object_id(),
        "specialName": deal.name,
        "specialType": "bogo",
        "itemsForAPrice": price,
        "bogoConditions": conditions,
        "bogoRewards": rewards,
        "__typename": "Products_specialData_bogoSpecials",
    })
}

/// A map with ids as keys.
fn restrictions(draw: &mut Draw, category: &str) -> Map<String, Value> {
    let discount = || json!({ "discountType": "percentDiscount" });
    let mut map = Map::from_iter([(category.to_owned(), discount())]);
    for _ in 0..draw.between(0, 14) {
        map.insert(draw.object_id(), discount());
    }
    map
}

//! A page that the real platform sent, from payload file to rows, read a second time by eyes that do not know
//! the normaliser.

use chrono::{DateTime, Utc};
use domain::task::role::Role;
use serde_json::{Value, json};
use tokio_postgres::Row;

use super::harness::HandlerHarness;
use super::test_store::at;
use testkit::fixture;

#[tokio::test]
async fn every_field_of_the_captured_page_arrives() {
    let Some(path) = fixture("dutchie/filtered_products_page.json") else { return };
    let harness = HandlerHarness::new().await;
    harness.payload(at(0), &[&std::fs::read_to_string(path).unwrap()]).await;

    let settled = harness.settle(Role::ProductRefresh, json!({})).await;

    assert_eq!((&settled.result["products"], &settled.result["new"]), (&json!(25), &json!(25)));
    compare_all(&harness).await;
    show_ten(&harness).await;
}

/// Holds the tables against the captured page, product by product.
pub async fn compare_all(harness: &HandlerHarness) {
    let Some(path) = fixture("dutchie/filtered_products_page.json") else { return };
    let page: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let items = page["data"]["filteredProducts"]["products"].as_array().unwrap();
    assert_eq!(items.len(), 25);
    for item in items {
        compare(harness, item).await;
    }
}

/// Compares the rows with the page, on which every product has one option, manual stock and no POS data; the columns follow
/// directly.
async fn compare(harness: &HandlerHarness, item: &Value) {
    let sql = "SELECT p.*, v.option_label, v.nth, v.price_rec AS option_price, v.quantity AS option_quantity, s.price_rec AS then_price
                 FROM store_products p
                 JOIN store_product_variants v ON v.store_product_id = p.id
                 JOIN store_product_snapshots s ON s.store_product_id = p.id
                WHERE p.provider = 'dutchie' AND p.provider_product_id = $1";
    let id = item["_id"].as_str().unwrap();
    let row = harness.store.database.raw.query_one(sql, &[&id]).await.unwrap();
    let texts = [
        ("name_raw", trimmed(&item["Name"])),
        ("brand_name_raw", trimmed(&item["brand"]["name"])),
        ("category", trimmed(&item["type"])),
        ("subcategory", trimmed(&item["subcategory"])),
        ("strain_type", trimmed(&item["strainType"]).filter(|strain| strain != "N/A")),
        ("image_url", trimmed(&item["Image"])),
        ("enterprise_product_id", trimmed(&item["enterpriseProductId"])),
        ("option_label", trimmed(&item["Options"][0])),
        ("stock_status", Some("in_stock".to_owned())),
        ("local_image_path", None),
    ];
    for (column, expected) in texts {
        assert_eq!(row.get::<_, Option<String>>(column), expected, "{id}: {column}");
    }
    let inventory = item["manualInventory"][0]["inventory"].as_i64();
    let numbers = [
        ("price_rec", cents(&item["recPrices"][0])),
        ("option_price", cents(&item["recPrices"][0])),
        ("then_price", cents(&item["recPrices"][0])),
        ("price_med", cents(&item["medicalPrices"][0])),
        ("special_price_rec", cents(&item["recSpecialPrices"][0])),
        ("special_price_med", cents(&item["medicalSpecialPrices"][0])),
        ("quantity", inventory),
        ("option_quantity", inventory),
    ];
    for (column, expected) in numbers {
        assert_eq!(row.get::<_, Option<i32>>(column).map(i64::from), expected, "{id}: {column}");
    }
    assert_eq!(row.get::<_, bool>("is_on_special"), item["special"] == json!(true), "{id}: is_on_special");
    assert!(row.get::<_, bool>("is_in_stock") && !row.get::<_, bool>("quantity_censored"), "{id}: stock");
    for (prefix, potency) in [("thc", &item["THCContent"]), ("cbd", &item["CBDContent"])] {
        compare_potency(id, &row, prefix, potency);
    }
    let created = item["createdAt"].as_str().unwrap().parse().ok().and_then(DateTime::from_timestamp_millis);
    assert_eq!(row.get::<_, Option<DateTime<Utc>>>("upstream_created_at"), created, "{id}: created");
    let updated = item["updatedAt"].as_str().unwrap().parse().ok();
    assert_eq!(row.get::<_, Option<DateTime<Utc>>>("upstream_updated_at"), updated, "{id}: updated");
}

fn compare_potency(id: &str, row: &Row, prefix: &str, potency: &Value) {
    let value = potency["range"][0].as_f64();
    for column in ["min", "max"] {
        assert_eq!(row.get::<_, Option<f64>>(format!("{prefix}_{column}").as_str()), value, "{id}: {prefix}_{column}");
    }
    let unit: Option<String> = row.get(format!("{prefix}_unit").as_str());
    assert_eq!(unit.as_deref(), potency["unit"].as_str(), "{id}: {prefix}_unit");
}

fn trimmed(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn cents(value: &Value) -> Option<i64> {
    value.as_f64().map(|dollars| (dollars * 100.0).round() as i64)
}

/// Prints ten products for people (`--nocapture`).
async fn show_ten(harness: &HandlerHarness) {
    let sql = "SELECT format('%s | %s | %s | %s/%s | %s | rec %s med %s special %s | thc %s %s | %s, %s, misses %s | %s',
                             provider_product_id, name_raw, brand_name_raw, category, subcategory, strain_type, price_rec, price_med,
                             special_price_rec, thc_max, thc_unit, quantity, stock_status, consecutive_misses, image_url)
                 FROM store_products ORDER BY id LIMIT 10";
    for row in harness.store.database.raw.query(sql, &[]).await.unwrap() {
        println!("{}", row.get::<_, String>(0));
    }
}

//! The oracle against a reading of the menus themselves: a small, separate normaliser, crawl by crawl.

use std::collections::HashMap;

use serde_json::Value;
use sim::{Goods, OraclePotency, OracleProduct, Settings, Simulator};

use crate::support::{menu_page, small};

const CRAWLS: u32 = 7;

/// A product as this file reads it from JSON: the oracle's columns.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    name: String,
    brand: Option<String>,
    subcategory: Option<String>,
    strain: Option<String>,
    image: Option<String>,
    thc: OraclePotency,
    cbd: OraclePotency,
    prices: [Option<i32>; 4],
    is_on_special: bool,
    variants: Vec<Variant>,
    quantity: Option<i32>,
    censored: bool,
    status: &'static str,
    misses: i32,
}

/// Label, price, special price, quantity.
type Variant = (String, Option<i32>, Option<i32>, Option<i32>);

impl From<&OracleProduct> for Row {
    fn from(product: &OracleProduct) -> Row {
        assert_eq!(product.is_in_stock, product.stock_status != "oos");
        assert_eq!(product.is_present, product.consecutive_misses == 0);
        Row {
            name: product.name.clone(),
            brand: product.brand.clone(),
            subcategory: product.subcategory.map(str::to_owned),
            strain: product.strain_type.map(str::to_owned),
            image: product.image_url.clone(),
            thc: product.thc,
            cbd: product.cbd,
            variants: product
                .variants
                .iter()
                .map(|one| (one.label.to_owned(), one.price_rec, one.special_price_rec, one.quantity))
                .collect(),
            prices: [product.price_rec, product.price_med, product.special_price_rec, product.special_price_med],
            is_on_special: product.is_on_special,
            quantity: product.quantity,
            censored: product.quantity_censored,
            status: product.stock_status,
            misses: product.consecutive_misses,
        }
    }
}

/// Half-up cents of a JSON number's own digits.
fn cents(price: &Value) -> i32 {
    let text = price.to_string();
    let (dollars, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mills: i32 = format!("{fraction:0<3}")[..3].parse().unwrap();
    dollars.parse::<i32>().unwrap() * 100 + (mills + 5) / 10
}

fn list(product: &Value, key: &str) -> Vec<i32> {
    product[key].as_array().into_iter().flatten().map(cents).collect()
}

/// Price and special price of each option; one that is not lower does not count.
fn offers(prices: &[i32], specials: &[i32]) -> Vec<(i32, Option<i32>)> {
    let special = |at: usize, price| specials.get(at).copied().filter(|special| (1..price).contains(special));
    prices.iter().enumerate().map(|(at, price)| (*price, special(at, *price))).collect()
}

/// Price and special price of the option that costs least.
fn cheapest(offers: &[(i32, Option<i32>)]) -> (Option<i32>, Option<i32>) {
    let least = offers.iter().min_by_key(|(price, special)| special.unwrap_or(*price));
    least.map_or((None, None), |(price, special)| (Some(*price), *special))
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn stock(product: &Value) -> (Option<i32>, bool) {
    if let Some(children) = product["POSMetaData"]["children"].as_array() {
        let units = |child: &Value| child["quantityAvailable"].as_i64().or(child["quantity"].as_i64()).unwrap() as i32;
        return (Some(children.iter().map(units).sum()), children.iter().any(|child| units(child) == 25));
    }
    let lines = product["manualInventory"].as_array();
    (lines.map(|lines| lines.iter().map(|line| line["inventory"].as_i64().unwrap() as i32).sum()), false)
}

/// Stock of each option: by its label where the list has it, by its place otherwise.
fn stock_by_option(product: &Value) -> Vec<Option<i32>> {
    let lists =
        [(&product["POSMetaData"]["children"], "quantityAvailable"), (&product["manualInventory"], "inventory")];
    let Some((lines, key)) = lists.into_iter().find_map(|(list, key)| Some((list.as_array()?, key))) else {
        return vec![None; product["Options"].as_array().unwrap().len()];
    };
    let mut lines = lines.clone();
    let of_option = |label: &Value| {
        let at = lines.iter().position(|line| line["option"] == *label).unwrap_or(0);
        let line = lines.remove(at);
        line[key].as_i64().or(line["quantity"].as_i64()).map(|units| units as i32)
    };
    product["Options"].as_array().unwrap().iter().map(of_option).collect()
}

fn variants(product: &Value, rec: &[(i32, Option<i32>)]) -> Vec<Variant> {
    let stock = stock_by_option(product);
    let variant = |(at, label): (usize, &Value)| {
        let (price, special) = rec[at];
        (label.as_str().unwrap().to_owned(), Some(price), special, stock[at])
    };
    product["Options"].as_array().unwrap().iter().enumerate().map(variant).collect()
}

fn potency(content: &Value) -> OraclePotency {
    let of = |values: &[f64], unit| OraclePotency { min: values.first().copied(), max: values.last().copied(), unit };
    if let Some(text) = content.as_str() {
        return of(&[text.trim_end_matches('%').parse().unwrap()], Some("PERCENTAGE"));
    }
    if let Some(number) = content.as_f64() {
        return of(&[number], None);
    }
    let units = ["PERCENTAGE", "MILLIGRAMS", "MILLIGRAMS_PER_GRAM"];
    let values: Vec<f64> = content["range"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    of(&values, units.into_iter().find(|unit| content["unit"] == **unit))
}

fn image(product: &Value) -> Option<String> {
    let listed = || text(&product["images"].as_array()?.iter().find(|image| image["active"] == true)?["url"]);
    text(&product["Image"]).or_else(listed)
}

fn read(product: &Value) -> Row {
    let rec_prices = if list(product, "recPrices").is_empty() { "Prices" } else { "recPrices" };
    let rec = offers(&list(product, rec_prices), &list(product, "recSpecialPrices"));
    let med = offers(&list(product, "medicalPrices"), &list(product, "medicalSpecialPrices"));
    let ((price_rec, special_rec), (price_med, special_med)) = (cheapest(&rec), cheapest(&med));
    let (quantity, censored) = stock(product);
    let brand = text(&product["brand"]["name"])
        .or_else(|| text(&product["brandName"]))
        .or_else(|| text(&product["POSMetaData"]["canonicalBrandName"]));
    Row {
        name: product["Name"].as_str().unwrap().to_owned(),
        brand,
        subcategory: text(&product["subcategory"]),
        strain: text(&product["strainType"]).filter(|strain| strain != "N/A"),
        image: image(product),
        thc: potency(&product["THCContent"]),
        cbd: potency(&product["CBDContent"]),
        variants: variants(product, &rec),
        prices: [price_rec, price_med, special_rec, special_med],
        is_on_special: rec.iter().chain(&med).any(|(_, special)| special.is_some()),
        quantity,
        censored,
        status: match quantity {
            _ if product["Status"] != "Active" => "oos",
            None => "unknown",
            Some(0) => "oos",
            Some(_) => "in_stock",
        },
        misses: 0,
    }
}

/// Applies one complete crawl to a table: the last copy of a product wins, and an absent product is a miss.
async fn crawl(sim: &Simulator, store: &str, table: &mut HashMap<String, Row>) -> usize {
    let mut seen = HashMap::new();
    for page in 0.. {
        let products = menu_page(sim, store, page, 50).await.products();
        if products.is_empty() {
            break;
        }
        seen.extend(products.iter().map(|product| (product["_id"].as_str().unwrap().to_owned(), read(product))));
    }
    for (id, row) in table.iter_mut().filter(|(id, _)| !seen.contains_key(*id)) {
        row.misses = (row.misses + 1).min(3);
        if row.misses == 3 {
            row.status = "oos";
        }
        assert!(!seen.contains_key(id));
    }
    let count = seen.len();
    table.extend(seen);
    count
}

#[tokio::test]
async fn a_careful_reader_ends_equal_to_the_oracle_after_every_crawl() {
    for goods in [Goods::Plain, Goods::Odd] {
        let sim = Simulator::start(Settings { goods, stores: 8, products_per_store: 60..=110, ..small() }).unwrap();
        compare_all_crawls(&sim).await;
    }
}

async fn compare_all_crawls(sim: &Simulator) {
    let mut tables: HashMap<String, HashMap<String, Row>> = HashMap::new();
    for number in 1..=CRAWLS {
        sim.set_crawl(number);
        let expected: HashMap<String, usize> = sim.snapshots_expected(number).into_iter().collect();
        for truth in sim.oracle(number) {
            let id = truth.platform_dispensary_id;
            let table = tables.entry(id.clone()).or_default();
            assert_eq!(crawl(sim, &id, table).await, expected[&id]);
            assert_eq!(table.len(), truth.products.len());
            for product in &truth.products {
                let row = &table[&product.provider_product_id];
                assert_eq!(*row, Row::from(product), "crawl {number}, product {}", product.provider_product_id);
            }
        }
    }
}

#[tokio::test]
async fn products_go_out_of_stock_return_change_and_stay() {
    let sim = Simulator::start(small()).unwrap();
    let by_id = |crawl| -> HashMap<String, OracleProduct> {
        let products = sim.oracle(crawl).into_iter().flat_map(|store| store.products);
        products.map(|product| (product.provider_product_id.clone(), product)).collect()
    };
    let crawls: Vec<_> = (1..=CRAWLS).map(by_id).collect();
    let any_pair = |is: &dyn Fn(&OracleProduct, &OracleProduct) -> bool| {
        crawls.windows(2).any(|pair| pair[0].iter().any(|(id, before)| is(before, &pair[1][id])))
    };
    assert!(any_pair(&|before, after| before.consecutive_misses == 2 && after.consecutive_misses == 3));
    assert!(any_pair(&|before, after| before.consecutive_misses == 3 && after.is_present && after.is_in_stock));
    assert!(any_pair(&|before, after| after.is_present && before.price_rec != after.price_rec));
    assert!(any_pair(&|before, after| after.is_present && before.quantity != after.quantity));
    assert!(any_pair(&|before, after| after.is_present && before.thc != after.thc));
    assert!(any_pair(&|before, after| after.variants.len() < before.variants.len()));
    assert!(any_pair(&|before, after| after.variants.len() > before.variants.len()));
    assert!(crawls[0].len() < crawls[6].len(), "nothing is new after the first crawl");

    let same = crawls[0]
        .iter()
        .filter(|(id, product)| crawls[1][*id] == OracleProduct { last_seen_crawl: 2, ..(*product).clone() });
    let (same, all) = (same.count(), crawls[0].len());
    assert!(same * 100 > all * 30 && same * 100 < all * 90, "{same} of {all} stay as they are");
}

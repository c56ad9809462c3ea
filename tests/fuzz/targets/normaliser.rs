//! Any bytes as a menu page: products that a database takes, or an error; never a panic.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use chrono::{DateTime, Utc};
use domain::menu::bundle::{self, BundlePrice};
use domain::menu::product::{Product, SpecialsJson};
use domain::menu::{NormalMenu, NormaliseError};
use drover::platforms::dutchie::normalize;

pub const WORDS: &[&str] = &[
    "null",
    "true",
    "[]",
    "{}",
    "[[",
    "{\"a\":",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "\u{fffe}",
    ",",
    ":",
    "-",
    "1e308",
    "-0.0",
    "1e999",
    "9223372036854775808",
    "25",
    "0",
    "\"_id\":",
    "\"id\":\"x\"",
    "\"Options\":[\"1g\",\"1/8oz\"]",
    "\"recPrices\":",
    "\"medicalPrices\":[1]",
    "\"Prices\":[1.005]",
    "\"POSMetaData\":{\"children\":[",
    "{\"option\":\"1g\",\"quantity\":25}",
    "\"manualInventory\":[",
    "\"THCContent\":{\"unit\":\"PERCENTAGE\",\"range\":[1,2]}",
    "\"specialData\":{\"saleSpecials\":[{}]}",
    "\"specialData\":{\"bogoSpecials\":[{\"specialName\":\"2 for $5\"}]}",
    "Buy 2 get 1 free",
    "3/$40 50% off",
    "\"bogoConditions\":[{\"quantity\":1}]",
    "\"bogoRewards\":[{\"quantity\":1,\"percentDiscount\":50}]",
    "\"itemsForAPrice\":{\"value\":5}",
    "\"createdAt\":\"1609459200000\"",
    "\"updatedAt\":\"2021-01-01\"",
    "\"Status\":\"Inactive\"",
    "\"errors\":[",
    "\"totalCount\":",
    "\"DispensaryID\":\"y\"",
    "\"brand\":{\"name\":",
    "\"measurements\":{\"netWeight\":{\"unit\":\"MILLIGRAMS\",\"values\":[3500]}}",
    "\"images\":[{\"url\":\"a\",\"active\":false}]",
];

const ITEM: &str = r#"{"_id":"a","Name":"Forza | 1g","brand":{"name":"B","imageUrl":null},"type":"Flower","strainType":"Indica","Options":["1g","1/8oz"],"Prices":[10,25.5],"recPrices":[10,25.5],"medicalPrices":[9],"recSpecialPrices":[8,0],"specialData":{"saleSpecials":[{"specialName":"x"}],"bogoSpecials":[{"specialName":"2 for $15"},{"bogoConditions":[{"quantity":1}],"bogoRewards":[{"quantity":1,"percentDiscount":50}]}]},"POSMetaData":{"children":[{"option":"1g","quantity":3,"quantityAvailable":25}]},"THCContent":{"unit":"PERCENTAGE","range":[20.1]},"createdAt":"1609459200000","updatedAt":"2021-01-01T00:00:00Z","Status":"Active","Image":""}"#;

pub fn seeds() -> Vec<Vec<u8>> {
    let page = |items: &str| {
        format!(
            r#"{{"data":{{"filteredProducts":{{"products":[{items}],"queryInfo":{{"totalCount":1,"totalPages":1}}}}}}}}"#
        )
    };
    let texts = [
        page(ITEM),
        page(
            r#"{"id":"b","cName":"b","manualInventory":[{"option":"N/A","inventory":169}],"Options":["N/A"],"Prices":["$5"]},{"_id":"b"}"#,
        ),
        page(""),
        r#"{"errors":[{"message":"no","extensions":{"code":"PERSISTED_QUERY_NOT_FOUND"}}],"data":null}"#.to_owned(),
    ];
    texts.map(String::into_bytes).into()
}

pub fn run(body: &[u8]) -> u64 {
    effect(normalize::normalise(&[body, body]))
}

/// A number for what became of the answers, whatever platform they are of.
pub fn effect(normalised: Result<NormalMenu, NormaliseError>) -> u64 {
    let mut effect = DefaultHasher::new();
    match normalised {
        Err(error) => match error {
            NormaliseError::NotAMenu { .. } => 1,
            NormaliseError::Truncated { .. } => 2,
            NormaliseError::HasErrors { .. } => 3,
            NormaliseError::TooLarge => 4,
        }
        .hash(&mut effect),
        Ok(menu) => {
            let ids: HashSet<&str> = menu.products.iter().map(|product| product.provider_product_id.as_str()).collect();
            assert_eq!(ids.len(), menu.products.len(), "an id is there twice");
            menu.products.iter().for_each(check);
            menu.warnings.by_kind().keys().for_each(|kind| kind.hash(&mut effect));
            for product in menu.products.iter().take(2) {
                let fields =
                    (product.price_rec.is_some(), product.special_price_rec.is_some(), product.quantity.is_some());
                (fields, product.variants.len().min(4), product.thc.is_some(), product.is_in_stock).hash(&mut effect);
                product.specials.as_ref().map(|specials| specials.bundles().len().min(4)).hash(&mut effect);
            }
            menu.products.len().min(4).hash(&mut effect);
        }
    }
    effect.finish()
}

/// Checks the assumptions of a database and its readers.
fn check(product: &Product) {
    let id = &product.provider_product_id;
    assert!((1..=200).contains(&id.len()), "id {id:?}");
    let texts = [
        Some(&product.name_raw),
        product.brand_name_raw.as_ref(),
        product.category.as_ref(),
        product.image_url.as_ref(),
    ];
    assert!(texts.into_iter().flatten().all(|text| !text.is_empty() && !text.contains('\0')), "{product:?}");
    let times = [product.upstream_created_at, product.upstream_updated_at];
    let range = DateTime::UNIX_EPOCH..="2100-01-01T00:00:00Z".parse::<DateTime<Utc>>().unwrap();
    assert!(times.into_iter().flatten().all(|time| range.contains(&time)), "{product:?}");
    assert!(product.variants.len() <= 200, "{} options", product.variants.len());
    let keys: HashSet<_> = product.variants.iter().map(|variant| (&variant.option_label, variant.nth)).collect();
    assert_eq!(keys.len(), product.variants.len(), "an option is there twice: {product:?}");
    for variant in &product.variants {
        assert!(variant.option_label.len() <= 200 && !variant.option_label.contains('\0'), "{variant:?}");
        let special_is_lower = |special: Option<i32>, price: Option<i32>| {
            special.is_none_or(|special| price.is_none_or(|price| special < price))
        };
        assert!(special_is_lower(variant.special_price_rec, variant.price_rec), "{variant:?}");
        let bundles = product.specials.as_ref().map(SpecialsJson::bundles).unwrap_or_default();
        if let Some(BundlePrice { quantity, total }) = bundle::cheapest(bundles, variant, &product.variants) {
            assert!(quantity > 1 && total > 0, "{product:?}");
        }
    }
}

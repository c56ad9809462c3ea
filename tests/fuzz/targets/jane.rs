//! Any bytes as an answer of Jane's index: products that a database takes, or an error; never a panic.

use drover::platforms::jane::normalize;

use super::normaliser;

pub const WORDS: &[&str] = &[
    "null",
    "[]",
    "{}",
    "[[",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    ",",
    ":",
    "-",
    "1e308",
    "1e999",
    "9223372036854775808",
    "0",
    "\"product_id\":",
    "\"objectID\":\"x\"",
    "\"store_id\":7",
    "\"kind\":\"edible\"",
    "\"price_gram\":\"12.5\"",
    "\"price_each\":5",
    "\"special_price_each\":{\"discount_price\":\"3.0\"}",
    "\"discounted_price_each\":4",
    "\"percent_thc\":\"20\"",
    "\"inventory_potencies\":[{\"thc_potency\":1}]",
    "\"dosage\":\"5mg CBD/10mg THC\"",
    "\"amount\":\"500mg\"",
    "\"net_weight_grams\":",
    "\"store_types\":[\"medical\"]",
    "\"product_photos\":[{\"position\":0,\"urls\":{\"original\":\"a\"}}]",
    "\"special_title\":",
    "\"facets\":{\"kind\":{\"a\":1}}",
    "\"nbHits\":",
];

const HIT: &str = r#"{"objectID":"prod_1_store_7","product_id":1,"store_id":7,"name":"A | 1g","brand":"","kind":"flower","root_subtype":null,"kind_subtype":"Bud","category":"hybrid","percent_thc":20.1,"inventory_potencies":[{"thc_potency":1}],"dosage":"","amount":"1g","net_weight_grams":2.5,"price_gram":"12.50","price_each":5,"special_price_gram":{"price":"12.5","discount_price":"10.0"},"discounted_price_each":4,"store_types":["recreational","medical"],"image_urls":["//i/a"],"special_id":77,"special_title":"20% off","applicable_special_ids":[77]}"#;

pub fn seeds() -> Vec<Vec<u8>> {
    let answer = |hits: &str| {
        format!(
            r#"{{"hits":[{hits}],"nbHits":1,"nbPages":1,"exhaustiveNbHits":true,"facets":{{"kind":{{"flower":1}}}}}}"#
        )
    };
    let edible = r#"{"product_id":"2","kind":"edible","dosage":"100mg CBD/50mg THC","price_each":"20","product_photos":[{"position":1,"urls":{"original":"a"}}]}"#;
    let texts = [answer(HIT), answer(edible), answer(""), r#"{"message":"no","status":400}"#.to_owned()];
    texts.map(String::into_bytes).into()
}

pub fn run(body: &[u8]) -> u64 {
    normaliser::effect(normalize::normalise(&[body, body]))
}

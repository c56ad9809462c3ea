//! Any bytes as a menu page of Weedmaps or of Leafly: products that a database takes, or an error; never a panic.

use drover::platforms::{leafly, weedmaps};

use super::normaliser;

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
    ",",
    ":",
    "-",
    "1e308",
    "1e999",
    "9223372036854775808",
    "0",
    "\"id\":\"x\"",
    "\"total_menu_items\":",
    "\"license_type\":\"medical\"",
    "\"prices\":[{\"label\":\"1 g\",\"price\":5}]",
    "\"ounce\":{\"eighth\":{\"price\":\"30\"}}",
    "\"on_sale\":true,\"original_price\":40",
    "\"weight\":{\"value\":0.125,\"unit\":\"oz\"}",
    "\"edge_category\":{\"name\":\"a\",\"ancestors\":[{\"name\":\"b\"}]}",
    "\"metrics\":{\"aggregates\":{\"thc\":1,\"thc_unit\":\"%\"}}",
    "\"deal_ids\":[",
    "\"metadata\":{\"totalCount\":",
    "\"variants\":[{\"price\":4000,\"displayQuantity\":\"1g\"}]",
    "\"stockQuantity\":",
    "\"medical\":true",
    "\"deal\":{\"discountedPrice\":3000,\"discountType\":\"cent\"}",
    "\"updatedAt\":\"1609459200000\"",
];

const WEEDMAPS: &str = r#"{"id":1,"name":"A","license_type":"recreational","category":{"name":"Hybrid"},"edge_category":{"name":"Buds","ancestors":[{"name":"Flower"}]},"tags":[{"name":"Indica","tag_group":{"name":"Genetics"}}],"brand_endorsement":{"brand_name":"B","product_id":2},"price":{"label":"1/8 oz","price":32,"compliance_net_mg":3500,"discount_label":"x"},"prices":{"grams_per_eighth":3.5,"ounce":[{"label":"1/8 oz","price":32,"on_sale":true,"original_price":"40","weight":{"value":0.125,"unit":"oz"}}],"gram":{"half_gram":{"price":9}}},"metrics":{"aggregates":{"thc":"24.1","cbd":0,"thc_unit":"%"}},"avatar_image":{"original_url":"//i/a"},"current_deal_title":"x","deal_ids":[1],"created_at":"2026-05-01T10:00:00.000Z","updated_at":1}"#;
const LEAFLY: &str = r#"{"id":1,"dispensarySlug":"a","name":"A","brand":{"name":"B"},"productCategory":"Flower","strain":{"category":"Hybrid"},"thcContent":24.1,"thcUnit":"percent","price":40,"sortPrice":32,"quantity":3.5,"unit":"g","displayQuantity":"3.5g","stockQuantity":14,"inStock":true,"medical":false,"imageUrl":"//i/a","deal":{"title":"x","discountedPrice":3200,"discountType":"cent"},"updatedAt":"2026-11-27T18:00:00Z","variants":[{"price":4000,"displayQuantity":"3.5g"},{"price":7500,"quantity":7,"unit":"g"}]}"#;

pub fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        format!(r#"{{"meta":{{"total_menu_items":1}},"data":{{"menu_items":[{WEEDMAPS}]}}}}"#),
        format!(r#"{{"data":[{LEAFLY}],"metadata":{{"totalCount":1}}}}"#),
        r#"{"errors":[{"detail":"no"}]}"#.to_owned(),
    ];
    texts.map(String::into_bytes).into()
}

pub fn run(body: &[u8]) -> u64 {
    let of_weedmaps = normaliser::effect(weedmaps::normalize::normalise(&[body, body]));
    of_weedmaps ^ normaliser::effect(leafly::normalize::normalise(&[body, body])).rotate_left(1)
}

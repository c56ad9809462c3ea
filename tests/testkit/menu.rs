//! The simplest menus, as the platform Dutchie answers them.

use serde_json::Value;

/// A menu page of in-stock products with these ids.
pub fn page(ids: &[&str]) -> String {
    let products: Vec<Value> = ids
        .iter()
        .map(|id| serde_json::json!({ "_id": id, "Name": id, "Status": "Active", "Options": ["1g"], "Prices": [10] }))
        .collect();
    let info = serde_json::json!({ "totalCount": ids.len(), "totalPages": 1 });
    serde_json::json!({ "data": { "filteredProducts": { "products": products, "queryInfo": info } } }).to_string()
}

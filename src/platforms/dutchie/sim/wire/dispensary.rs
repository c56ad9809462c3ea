//! A store as `filteredDispensaries[]` shows it.

use serde_json::{Value, json};

use crate::catalogue::StoreSeed;

/// `status`: instead of the store's own.
pub(crate) fn dispensary(store: &StoreSeed, status: Option<&Value>) -> Value {
    let hours =
        json!({ "Monday": { "active": true, "start": "9:00 AM", "end": "9:00 PM" }, "Sunday": { "active": false } });
    json!({
        "id": store.platform_dispensary_id,
        "name": store.name,
        "cName": store.cname,
        "status": status.cloned().unwrap_or_else(|| json!(store.status)),
        "timezone": store.timezone,
        "phone": store.phone,
        "email": Value::Null,
        "address": format!("{}, {}, {} {}", store.address, store.city, store.state, store.zip),
        "chain": Value::Null,
        "location": {
            "ln1": store.address,
            "ln2": "",
            "city": store.city,
            "state": store.state,
            "zipcode": store.zip,
            "country": "United States",
            "geometry": { "coordinates": [store.longitude, store.latitude] },
        },
        "recDispensary": store.index % 6 != 5,
        "medicalDispensary": store.index % 3 != 1,
        "offerPickup": true,
        "offerDelivery": store.index.is_multiple_of(4),
        "pickupHours": hours,
        "deliveryHours": Value::Null,
        "listImage": "",
        "logoImage": Value::Null,
        "embeddedMenuUrl": Value::Null,
        "menuUrl": store.menu_url,
        "customDomainSettings": { "domain": Value::Null },
        "retailer": { "enterpriseId": Value::Null },
        "updatedAt": "2026-01-01T00:00:00.000Z",
        "__typename": "Dispensaries",
    })
}

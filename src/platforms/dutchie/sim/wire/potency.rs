//! Potencies on the wire: `THCContent` in its states (null, empty, one number, a range, a bare number or
//! string of old data) and the list of cannabinoids.

use serde::Serialize;
use serde_json::{Value, json};

use crate::category::Potency;
use crate::draw::Draw;
use crate::potency::{Content, rounded, unit};

const CANNABINOIDS: &[(&str, f64)] = &[
    ("THCA (Δ9-tetrahydrocannabinolic acid)", 0.92),
    ("THC-D9 (Delta 9–tetrahydrocannabinol)", 0.03),
    ("CBG (Cannabigerol)", 0.012),
    ("CBGA (Cannabigerolic acid)", 0.02),
    ("CBDA (Cannabidiolic acid)", 0.004),
    ("\"TAC\" - Total Active Cannabinoids", 1.05),
];

#[derive(Serialize)]
pub(crate) struct Cannabinoid {
    value: f64,
    unit: &'static str,
    cannabinoid: CannabinoidName,
    #[serde(rename = "__typename")]
    typename: &'static str,
}

#[derive(Serialize)]
struct CannabinoidName {
    name: &'static str,
    #[serde(rename = "__typename")]
    typename: &'static str,
}

pub(crate) fn content(content: Content, potency: Potency) -> Value {
    let ranged = |range: Value| json!({ "unit": unit(potency), "range": range, "__typename": "ProductPotency" });
    match content {
        Content::Absent => Value::Null,
        Content::Unvalued => ranged(Value::Null),
        Content::Empty => ranged(json!([])),
        Content::One(strength) => ranged(json!([strength])),
        Content::Range(low, high) => ranged(json!([low, high])),
        Content::Number(strength) => json!(strength),
        Content::Text(strength) => json!(format!("{strength}%")),
    }
}

/// None = null.
pub(crate) fn cannabinoids(draw: &mut Draw, potency: Potency, strength: f64) -> Option<Vec<Cannabinoid>> {
    let count = match draw.below(10) {
        0 => return None,
        1 => 0,
        _ if potency == Potency::Nothing => 0,
        _ => draw.between(3, CANNABINOIDS.len() as u64) as usize,
    };
    let named = CANNABINOIDS.iter().take(count).map(|(name, share)| Cannabinoid {
        value: rounded(strength * share),
        unit: unit(potency),
        cannabinoid: CannabinoidName { name, typename: "Cannabinoid" },
        typename: "Products_CannabinoidV2",
    });
    Some(named.collect())
}

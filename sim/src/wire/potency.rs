//! Potencies on the wire: `THCContent` in its states (null, empty, one number, a range, a bare number or string of old data)
//! and the list of cannabinoids.

use serde::Serialize;
use serde_json::{Value, json};

use crate::category::Potency;
use crate::draw::Draw;

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

/// `strength` in the category's unit.
pub(crate) fn content(draw: &mut Draw, potency: Potency, strength: f64) -> Value {
    let unit = unit(potency);
    let ranged = |range: Value| json!({ "unit": unit, "range": range, "__typename": "ProductPotency" });
    match draw.below(100) {
        _ if potency == Potency::Nothing => ranged(Value::Null),
        0..10 => Value::Null,
        10..20 => ranged(Value::Null),
        20..22 => ranged(json!([])),
        22..32 => ranged(json!([strength, rounded(strength * 1.2)])),
        32..33 => json!(strength),
        33..34 => json!(format!("{strength}%")),
        _ => ranged(json!([strength])),
    }
}

/// A plausible strength, with three decimals; concentrates pass 50 %.
pub(crate) fn strength(draw: &mut Draw, potency: Potency, concentrated: bool) -> f64 {
    let full = match potency {
        Potency::Percentage if concentrated => 95.0,
        Potency::Percentage => 34.0,
        Potency::Milligrams => 100.0,
        Potency::MilligramsPerGram => 900.0,
        Potency::Nothing => 0.0,
    };
    rounded(full * (0.4 + 0.6 * draw.unit()))
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

fn unit(potency: Potency) -> &'static str {
    match potency {
        Potency::Milligrams => "MILLIGRAMS",
        Potency::MilligramsPerGram => "MILLIGRAMS_PER_GRAM",
        Potency::Percentage | Potency::Nothing => "PERCENTAGE",
    }
}

fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

//! Potencies: absent, empty or a value, in three units; in old
//! data, the bare number or a text.

use super::items::raw_object;
use super::reader::{Reader, unquoted};
use super::{Raw, decimal};
use domain::menu::product::{Potency, PotencyUnit};
use domain::switches::word;

raw_object! {
    Content {
        unit, range,
    }
}

/// None = the feed says nothing; a [`Potency`] without values = it names a unit and no value.
pub fn potency(raw: Raw<'_>, field: &'static str, read: &mut Reader<'_>) -> Option<Potency> {
    let json = raw?.get();
    match json.as_bytes().first() {
        Some(b'"') => written(&unquoted(json)?),
        Some(b'-' | b'0'..=b'9') => range(vec![decimal::float(json)?], None),
        _ => structured(read.object(raw, field)?, field, read),
    }
}

fn structured(content: Content<'_>, field: &'static str, read: &mut Reader<'_>) -> Option<Potency> {
    let values: Vec<f64> =
        read.list(content.range, field).into_iter().filter_map(|value| decimal::float(value.get())).collect();
    let name = read.text(content.unit, field);
    let unit = name.as_deref().and_then(PotencyUnit::read);
    if unit.is_none() && (name.is_some() || !values.is_empty()) {
        read.unknown_unit(name.as_deref(), field);
    }
    range(values, unit)
}

/// Units as platforms write them beside a number.
const NAMED_UNITS: [(&str, PotencyUnit); 5] = [
    ("%", PotencyUnit::Percentage),
    ("percent", PotencyUnit::Percentage),
    ("percentage", PotencyUnit::Percentage),
    ("mg", PotencyUnit::Milligrams),
    ("mg/g", PotencyUnit::MilligramsPerGram),
];

/// A number with its unit in a field of its own; null is none.
pub fn measured(value: Raw<'_>, unit: Raw<'_>, field: &'static str, read: &mut Reader<'_>) -> Option<Potency> {
    let json = value.filter(|raw| raw.get() != "null")?.get();
    let Some(value) = decimal::float(json) else { return read.bad_field(field, "a number") };
    let name = read.text(unit, field);
    let unit = name.as_deref().and_then(|name| word(name, &NAMED_UNITS));
    if unit.is_none() {
        read.unknown_unit(name.as_deref(), field);
    }
    range(vec![value], unit).filter(|potency| potency.min.is_some())
}

const WRITTEN_UNITS: [(&str, PotencyUnit); 3] =
    [("mg/g", PotencyUnit::MilligramsPerGram), ("mg", PotencyUnit::Milligrams), ("%", PotencyUnit::Percentage)];

/// `"23.5%"`, `"18-22%"`, `"18% - 22%"`, `"100 mg"`.
fn written(text: &str) -> Option<Potency> {
    let text = text.to_ascii_lowercase();
    let unit = WRITTEN_UNITS.into_iter().find(|(word, _)| text.contains(word));
    let (word, unit) = unit.map_or(("", None), |(word, unit)| (word, Some(unit)));
    let number = |part: &str| decimal::float(part.trim().trim_end_matches(word));
    let values: Vec<f64> = text.split('-').take(2).filter_map(number).collect();
    if values.is_empty() { None } else { range(values, unit) }
}

/// The lowest and the highest of the values; one below zero is none.
pub fn range(values: Vec<f64>, unit: Option<PotencyUnit>) -> Option<Potency> {
    let values = || values.iter().copied().filter(|value| *value >= 0.0);
    Some(Potency { min: values().reduce(f64::min), max: values().reduce(f64::max), unit })
}

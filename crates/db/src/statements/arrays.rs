//! Turns items into one array per column, so that one statement takes them all (`unnest`).

use domain::menu::product::Potency;

/// One column: the value that `read` takes from each item.
pub fn column<'a, T, C>(items: &'a [T], read: impl Fn(&'a T) -> C) -> Vec<C> {
    items.iter().map(read).collect()
}

pub fn potency_min(potency: &Option<Potency>) -> Option<f64> {
    potency.as_ref()?.min
}

pub fn potency_max(potency: &Option<Potency>) -> Option<f64> {
    potency.as_ref()?.max
}

pub fn potency_unit(potency: &Option<Potency>) -> Option<&'static str> {
    Some(potency.as_ref()?.unit?.name())
}

//! The options of an item: its prices by size, in every shape in which they come.
//!
//! `prices` is an object whose keys hold a list of tiers, one tier, or tiers by name; in old data it is a list; where it is empty,
//! the main price is the only one.

use std::collections::HashSet;

use super::wire::{MenuItem, Prices, Tier, Weight};
use crate::platforms::offer::{Menus, NO_LABEL, OptionOffer, OptionPrice, OptionStock};
use crate::platforms::reading::reader::Reader;
use crate::platforms::reading::{Raw, decimal, quantity};

pub fn options(item: &MenuItem<'_>, menus: Menus, read: &mut Reader<'_>) -> Vec<OptionOffer> {
    let main: Option<Tier<'_>> = read.object(item.price, "price");
    let net_mg = main.as_ref().and_then(|main| main.compliance_net_mg);
    let mut tiers = tiers(item.prices, read);
    if tiers.is_empty() {
        tiers.extend(main.filter(is_priced).map(|main| NamedTier { name: None, tier: main }));
    }
    let net_mg = net_mg.filter(|_| tiers.len() == 1);
    let options = tiers.into_iter().map(|tier| option(&tier, net_mg, menus, read));
    let mut seen = HashSet::new();
    options.filter(|option| seen.insert((option.label.clone(), option.price))).collect()
}

/// A tier, and the label of the size by whose name it was found.
struct NamedTier<'a> {
    name: Option<&'static str>,
    tier: Tier<'a>,
}

fn tiers<'a>(prices: Raw<'a>, read: &mut Reader<'_>) -> Vec<NamedTier<'a>> {
    match prices.map(|raw| raw.get().as_bytes()) {
        Some([b'[', ..]) => list(prices, read),
        _ => by_size(prices, read),
    }
}

fn list<'a>(raw: Raw<'a>, read: &mut Reader<'_>) -> Vec<NamedTier<'a>> {
    let elements = read.list(raw, "prices");
    elements.into_iter().filter_map(|raw| tier(Some(raw), read)).map(|tier| NamedTier { name: None, tier }).collect()
}

fn by_size<'a>(raw: Raw<'a>, read: &mut Reader<'_>) -> Vec<NamedTier<'a>> {
    let prices: Prices<'a> = read.object(raw, "prices").unwrap_or_default();
    prices.by_label().into_iter().flat_map(|(name, raw)| of_size(name, raw, read)).collect()
}

/// A list of tiers, one tier, or tiers by their names.
fn of_size<'a>(name: &'static str, raw: Raw<'a>, read: &mut Reader<'_>) -> Vec<NamedTier<'a>> {
    if raw.is_some_and(|raw| raw.get().starts_with('[')) {
        return list(raw, read);
    }
    if let Some(tier) = tier(raw, read) {
        return vec![NamedTier { name: Some(name), tier }];
    }
    let prices: Prices<'a> = read.object(raw, "prices").unwrap_or_default();
    let named = prices.by_label().into_iter();
    named.filter_map(|(name, raw)| Some(NamedTier { name: Some(name), tier: tier(raw, read)? })).collect()
}

fn tier<'a>(raw: Raw<'a>, read: &mut Reader<'_>) -> Option<Tier<'a>> {
    read.object(raw, "prices").filter(is_priced)
}

fn is_priced(tier: &Tier<'_>) -> bool {
    tier.price.or(tier.original_price).is_some()
}

fn option(
    NamedTier { name, tier }: &NamedTier<'_>,
    net_mg: Raw<'_>,
    menus: Menus,
    read: &mut Reader<'_>,
) -> OptionOffer {
    let label = label(tier, read).or_else(|| name.map(str::to_owned)).unwrap_or_else(|| NO_LABEL.to_owned());
    OptionOffer {
        label,
        net_weight_mg: weight_mg(tier, read).or_else(|| milligrams(tier.compliance_net_mg.or(net_mg))),
        price: price(tier, menus, read),
        stock: OptionStock::default(),
    }
}

fn label(tier: &Tier<'_>, read: &mut Reader<'_>) -> Option<String> {
    if let Some(label) = tier.label.and_then(|raw| read.label(raw, "label")) {
        return Some(label);
    }
    quantity::label(tier.quantity, tier.unit, read)
}

fn weight_mg(tier: &Tier<'_>, read: &mut Reader<'_>) -> Option<i64> {
    let weight: Weight<'_> = read.object(tier.weight, "weight")?;
    quantity::mass_mg(weight.value, weight.unit, read)
}

fn milligrams(raw: Raw<'_>) -> Option<i64> {
    decimal::count(raw?.get()).filter(|mg| *mg > 0).map(i64::from)
}

/// `price` is that of the sale, where it is on sale and the original one is higher.
fn price(tier: &Tier<'_>, menus: Menus, read: &mut Reader<'_>) -> OptionPrice {
    let paid = read.amount(tier.price, "price");
    let is_on_sale = tier.on_sale.is_some_and(|raw| raw.get() == "true");
    let original = read.amount(tier.original_price, "original_price");
    let original = original.filter(|original| paid.is_none_or(|paid| is_on_sale && *original > paid));
    menus.price(original.or(paid), original.and(paid))
}

//! The options of an item: the sizes in which it is sold, with their prices and stock.
//!
//! Prices are dollars, and the prices of deals cents. The prices of variants are cents where the item's own price shows it.

use super::wire::{Deal, MenuItem, WireSize};
use crate::platforms::offer::{Menus, NO_LABEL, OptionOffer, OptionStock};
use crate::platforms::reading::reader::Reader;
use crate::platforms::reading::{Raw, decimal, quantity};
use domain::switches::word;

pub fn options(item: &MenuItem<'_>, read: &mut Reader<'_>) -> Vec<OptionOffer> {
    let own = item.own_size();
    let variants: Vec<WireSize<'_>> = read.objects(item.variants, "variants");
    let own_label = label(&own, read);
    let is_medical = item.medical.is_some_and(|raw| raw.get() == "true");
    let menus = if is_medical { Menus::MEDICAL } else { Menus::RECREATIONAL };
    let sizes = match variants.is_empty() {
        true => vec![NamedSize { label: own_label, size: &own, own: Some(&own), is_in_cents: false }],
        false => named(&variants, &own, own_label, read),
    };
    sizes.into_iter().map(|named| option(named, &own, menus, read)).collect()
}

/// A size with the facts by which its fields are read.
struct NamedSize<'r, 'a> {
    label: Option<String>,
    size: &'r WireSize<'a>,
    /// The item's own fields, where it is the same size.
    own: Option<&'r WireSize<'a>>,
    is_in_cents: bool,
}

fn named<'r, 'a>(
    variants: &'r [WireSize<'a>],
    own: &'r WireSize<'a>,
    own_label: Option<String>,
    read: &mut Reader<'_>,
) -> Vec<NamedSize<'r, 'a>> {
    let labels: Vec<Option<String>> = variants.iter().map(|size| label(size, read)).collect();
    let is_own = |label: &Option<String>| variants.len() == 1 || (label.is_some() && *label == own_label);
    let is_in_cents = labels.first().is_some_and(is_own)
        && variants.first().is_some_and(|first| is_a_hundredfold(first.price, own.price, read));
    let named = labels.into_iter().zip(variants);
    named.map(|(label, size)| NamedSize { own: is_own(&label).then_some(own), label, size, is_in_cents }).collect()
}

fn is_a_hundredfold(price: Raw<'_>, dollars: Raw<'_>, read: &mut Reader<'_>) -> bool {
    let (price, dollars) = (read.amount(price, "variants.price"), read.amount(dollars, "price"));
    let hundredfold = dollars.filter(|dollars| *dollars > 0).and_then(|dollars| dollars.checked_mul(100));
    hundredfold.is_some() && price == hundredfold
}

fn option(named: NamedSize<'_, '_>, own: &WireSize<'_>, menus: Menus, read: &mut Reader<'_>) -> OptionOffer {
    let NamedSize { size, is_in_cents, .. } = named;
    let regular = amount(size.price, is_in_cents, read);
    let special = special(&named, read);
    let in_stock = stock(&named, own);
    OptionOffer {
        net_weight_mg: quantity::mass_mg(size.quantity, size.unit, read),
        label: named.label.unwrap_or_else(|| NO_LABEL.to_owned()),
        price: menus.price(regular, special),
        stock: OptionStock { quantity: in_stock, censored: false },
    }
}

/// The price of the deal, otherwise the price that is paid. One that is not lower than the regular price is none.
fn special(NamedSize { size, own, is_in_cents, .. }: &NamedSize<'_, '_>, read: &mut Reader<'_>) -> Option<i32> {
    let deal = size.deal.or_else(|| own.and_then(|own| own.deal));
    let deal: Deal<'_> = read.object(deal, "deal").unwrap_or_default();
    let kind = read.text(deal.discount_type, "deal.discountType");
    let is_price_of_deal = kind.is_some_and(|kind| word(&kind, &[("cent", ()), ("cents", ())]).is_some());
    let of_deal = deal.discounted_price.filter(|_| is_price_of_deal);
    let of_deal = of_deal.and_then(|raw| decimal::count(raw.get())).filter(|cents| *cents > 0);
    let paid = |size: &WireSize<'_>, is_in_cents, read: &mut Reader<'_>| amount(size.sort_price, is_in_cents, read);
    of_deal.or_else(|| paid(size, *is_in_cents, read)).or_else(|| own.and_then(|own| paid(own, false, read)))
}

fn amount(raw: Raw<'_>, is_in_cents: bool, read: &mut Reader<'_>) -> Option<i32> {
    let amount = read.amount(raw, "price")?;
    Some(if is_in_cents { amount / 100 } else { amount })
}

/// The quantity of the size; 0 of the item sells out all of its sizes that have no number of their own.
fn stock(named: &NamedSize<'_, '_>, own: &WireSize<'_>) -> Option<i32> {
    let count = |raw: Raw<'_>| decimal::count(raw?.get());
    let of_item = count(own.stock_quantity);
    count(named.size.stock_quantity).or_else(|| of_item.filter(|quantity| named.own.is_some() || *quantity == 0))
}

fn label(size: &WireSize<'_>, read: &mut Reader<'_>) -> Option<String> {
    let mut written = [size.display_quantity, size.normalized_quantity_label].into_iter().flatten();
    let written = written.find_map(|raw| read.label(raw, "displayQuantity"));
    written.or_else(|| quantity::label(size.quantity, size.unit, read))
}

//! Matches of any listings: of any text, in any order.

use std::collections::HashMap;

use proptest::prelude::*;

use super::super::{Listing, Matches};
use super::support::{flower, matched, numbered};
use crate::menu::product::{Potency, PotencyUnit, ProductId};

/// Names of few words, so that listings have something in common, and any text.
fn any_text() -> impl Strategy<Value = String> {
    let words = [
        "Copper",
        "Fern",
        "Blue",
        "Ledger",
        "Legder",
        "Plum",
        "gummies",
        "cart",
        "live",
        "v2",
        "10mg",
        "5pk",
        "1/8oz",
        "x",
        "33",
        "|",
        "-",
        "(H)",
        "🌿",
        "\u{202e}",
        "\0",
        "'; DROP TABLE",
        "Сopper",
        "½",
    ];
    prop_oneof![
        6 => prop::collection::vec(prop::sample::select(words.to_vec()), 0..7).prop_map(|words| words.join(" ")),
        1 => any::<String>(),
        1 => Just("\u{fdfa}🌿a ".repeat(2_500)),
    ]
}

prop_compose! {
    fn any_listing()(
        name in any_text(),
        brand in prop::option::of(any_text()),
        category in prop::option::of(prop::sample::select(vec!["flower", "edible", "vaporizer"])),
        subcategory in prop::option::of(any_text()),
        strain_type in prop::option::of(prop::sample::select(vec!["Indica", "Sativa", "N/A"])),
        options in prop::collection::vec(any_text(), 0..3),
        thc in prop::option::of((any::<f64>(), prop::sample::select(PotencyUnit::ALL.to_vec()))),
        enterprise in prop::option::of(prop::sample::select(vec!["e1", "e2"])),
        pinned in prop::option::weighted(0.2, 1..4i64),
    ) -> Listing {
        Listing {
            brand,
            category: category.map(str::to_owned),
            subcategory,
            strain_type: strain_type.map(str::to_owned),
            options,
            thc: thc.map(|(value, unit)| Potency { min: Some(value), max: None, unit: Some(unit) }),
            enterprise_product_id: enterprise.map(str::to_owned),
            product: pinned,
            is_pinned: pinned.is_some(),
            ..flower("", &name, &[])
        }
    }
}

fn any_listings() -> impl Strategy<Value = Vec<Listing>> {
    prop::collection::vec(any_listing(), 0..25).prop_map(numbered)
}

/// The listings of each product, in order.
fn products(matches: &Matches) -> Vec<Vec<ProductId>> {
    let mut products: HashMap<usize, Vec<ProductId>> = HashMap::new();
    matches.decided().for_each(|(listing, _, found)| products.entry(found.product).or_default().push(listing));
    let mut products: Vec<Vec<ProductId>> = products.into_values().collect();
    products.iter_mut().for_each(|listings| listings.sort_unstable());
    products.sort_unstable();
    products
}

/// The listings with the products that they have now; new ones get ids from `next` on.
fn stored(listings: &[Listing], matches: &Matches, next: i64) -> Vec<Listing> {
    let id = |product: usize| matches.products[product].id.unwrap_or(next + product as i64);
    let linked = listings.iter().zip(matches.decided());
    linked.map(|(listing, (_, _, found))| Listing { product: Some(id(found.product)), ..listing.clone() }).collect()
}

proptest! {
    #[test]
    fn each_listing_has_a_product_and_a_pinned_one_keeps_its_own(listings in any_listings()) {
        let matches = matched(&listings);
        prop_assert_eq!(matches.decided().count(), listings.len());
        for (listing, (id, _, found)) in listings.iter().zip(matches.decided()) {
            prop_assert_eq!(listing.id, id);
            prop_assert!(found.score.is_finite());
            if listing.is_pinned {
                prop_assert_eq!(matches.products[found.product].id, listing.product);
            }
        }
    }

    #[test]
    fn the_order_of_the_listings_does_not_matter(listings in any_listings(), by in 0..25usize) {
        let mut moved = listings.clone();
        moved.rotate_left(by.min(listings.len()));
        prop_assert_eq!(products(&matched(&listings)), products(&matched(&moved)));
    }

    #[test]
    fn a_second_match_changes_nothing(listings in any_listings()) {
        let first = matched(&listings);
        let stored = stored(&listings, &first, 100);
        let second = matched(&stored);
        prop_assert_eq!(products(&first), products(&second));
        for (listing, (_, _, found)) in stored.iter().zip(second.decided()) {
            prop_assert_eq!(second.products[found.product].id, listing.product);
        }
    }

    #[test]
    fn no_id_is_that_of_two_products(listings in any_listings()) {
        let matches = matched(&listings);
        let mut ids: Vec<i64> = matches.products.iter().filter_map(|product| product.id).collect();
        let number = ids.len();
        ids.sort_unstable();
        ids.dedup();
        prop_assert_eq!(ids.len(), number);
    }
}

//! Listings as they are compared in tests, and the shipped rules.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::super::brands::{self, KnownBrand};
use super::super::rules::Rules;
use super::super::{BrandIndex, Listing, Matcher, Matches, Spelling};

pub(super) static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let text = include_str!("../../../../../config/matching.toml");
    Rules::new(toml::from_str(text).unwrap()).unwrap()
});

/// A listing of flower.
pub(super) fn flower(brand: &str, name: &str, options: &[&str]) -> Listing {
    listing("flower", brand, name, options)
}

/// A listing of an edible.
pub(super) fn edible(brand: &str, name: &str, options: &[&str]) -> Listing {
    listing("edible", brand, name, options)
}

pub(super) fn listing(category: &str, brand: &str, name: &str, options: &[&str]) -> Listing {
    Listing {
        id: 0,
        platform: "dutchie".to_owned(),
        name: name.to_owned(),
        brand: Some(brand.to_owned()).filter(|brand| !brand.is_empty()),
        category: Some(category.to_owned()),
        subcategory: None,
        strain_type: None,
        options: options.iter().map(|label| (*label).to_owned()).collect(),
        thc: None,
        enterprise_product_id: None,
        product: None,
        is_pinned: false,
    }
}

/// The spellings of the listings' brands, each once.
pub(super) fn spellings(listings: &[Listing]) -> Vec<Spelling> {
    let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    for listing in listings {
        if let Some(brand) = &listing.brand {
            *counts.entry((&listing.platform, brand)).or_default() += 1;
        }
    }
    let spelling = |((platform, name), listings): ((&str, &str), u32)| Spelling {
        platform: platform.to_owned(),
        name: name.to_owned(),
        brand_id: None,
        listings,
    };
    counts.into_iter().map(spelling).collect()
}

/// Numbers the brands from 1.
pub(super) fn brand_index(spellings: &[Spelling]) -> BrandIndex {
    let groups = brands::propose(&[], spellings, &RULES);
    let known = groups.into_iter().zip(1..).map(|(group, id)| KnownBrand {
        id,
        spellings: group.spellings.into_iter().map(|at| spellings[at].clone()).collect(),
    });
    BrandIndex::new(&known.collect::<Vec<_>>(), &RULES)
}

pub(super) fn matched(listings: &[Listing]) -> Matches {
    let brands = brand_index(&spellings(listings));
    let mut matcher = Matcher::new(&RULES, &brands);
    listings.iter().for_each(|listing| matcher.add(listing));
    matcher.finish()
}

/// The listings with ids from 1, in this order.
pub(super) fn numbered(listings: Vec<Listing>) -> Vec<Listing> {
    listings.into_iter().zip(1..).map(|(listing, id)| Listing { id, ..listing }).collect()
}

//! The simulated market as the matcher takes it, and how right a match is: precision and recall of pairs of listings.
//!
//! A listing on which nothing could decide counts for the precision only. The bench of the match includes this file, too.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{Display, Formatter, Result};
use std::hash::Hash;
use std::sync::LazyLock;

use domain::menu::category::Categories;
use domain::menu::product::Potency;
use domain::product_match::brands::{self, KnownBrand};
use domain::product_match::rules::Rules;
use domain::product_match::{BrandIndex, Listing, Matcher, Matches, Spelling};
use sim::market::Market;

const RULES: &str = include_str!("../../config/matching.toml");

static CATEGORIES: LazyLock<Categories> =
    LazyLock::new(|| Categories::new(toml::from_str(include_str!("../../config/categories.toml")).unwrap()).unwrap());

pub struct Told {
    pub listing: Listing,
    pub brand_id: Option<String>,
    pub product: usize,
    pub maker: usize,
    pub is_decidable: bool,
}

pub fn told(market: &Market) -> Vec<Told> {
    let all = (0..market.stores()).flat_map(|store| market.listings(store));
    all.zip(1..).map(|(listing, id)| as_told(listing, id)).collect()
}

/// The listing with this id.
pub fn as_told(listed: sim::market::Listing, id: i64) -> Told {
    let found = CATEGORIES.find(listed.platform, &listed.category, listed.subcategory.as_deref());
    let category = found.map(|(name, _)| name.to_owned());
    let thc = listed.thc.map(|thc| Potency { min: Some(thc.value), max: Some(thc.value), unit: Some(thc.unit) });
    Told {
        listing: Listing {
            id,
            platform: listed.platform.name().to_owned(),
            name: listed.name,
            brand: listed.brand,
            category,
            subcategory: listed.subcategory,
            strain_type: listed.strain_type,
            options: listed.options,
            thc,
            enterprise_product_id: listed.enterprise_product_id,
            product: None,
            is_pinned: false,
        },
        brand_id: listed.brand_id,
        product: listed.truth.product,
        maker: listed.truth.maker,
        is_decidable: listed.truth.is_decidable,
    }
}

/// The spellings of all brands, each with its most frequent id.
pub fn spellings(listings: &[Told]) -> Vec<Spelling> {
    let mut counts: BTreeMap<(&str, &str), BTreeMap<Option<&str>, u32>> = BTreeMap::new();
    for told in listings {
        if let Some(brand) = &told.listing.brand {
            let ids = counts.entry((&told.listing.platform, brand)).or_default();
            *ids.entry(told.brand_id.as_deref()).or_default() += 1;
        }
    }
    let spelling = |((platform, name), ids): ((&str, &str), BTreeMap<Option<&str>, u32>)| Spelling {
        platform: platform.to_owned(),
        name: name.to_owned(),
        brand_id: ids.iter().filter_map(|(id, count)| Some((*count, (*id)?))).max().map(|(_, id)| id.to_owned()),
        listings: ids.values().sum(),
    };
    counts.into_iter().map(spelling).collect()
}

/// The brand of each listing, and the products.
pub fn matched(listings: &[Told]) -> (Vec<usize>, Matches) {
    let rules = Rules::new(toml::from_str(RULES).unwrap()).unwrap();
    let spellings = spellings(listings);
    let groups = brands::propose(&[], &spellings, &rules);
    let known = groups.into_iter().zip(1..).map(|(group, id)| KnownBrand {
        id,
        spellings: group.spellings.into_iter().map(|at| spellings[at].clone()).collect(),
    });
    let index = BrandIndex::new(&known.collect::<Vec<_>>(), &rules);
    let mut matcher = Matcher::new(&rules, &index);
    listings.iter().for_each(|told| matcher.add(&told.listing));
    let matches = matcher.finish();
    // a listing without a brand is one of a brand of its own
    let brand = |(at, told): (usize, &Told)| index.of(&told.listing).map_or(1_000_000_000 + at, |brand| brand as usize);
    (listings.iter().enumerate().map(brand).collect(), matches)
}

pub struct Figures {
    pub precision: f64,
    pub recall: f64,
    /// True pairs of listings on which something could decide.
    pub pairs: u64,
}

impl Figures {
    pub fn of(listings: &[Told], group_of: &[usize], truth: fn(&Told) -> usize) -> Figures {
        let told = || listings.iter().zip(group_of);
        let found = pairs(told().map(|(_, group)| *group));
        let right = pairs(told().map(|(told, group)| (truth(told), *group)));
        let decidable = || told().filter(|(told, _)| told.is_decidable);
        let expected = pairs(decidable().map(|(told, _)| truth(told)));
        let both = pairs(decidable().map(|(told, group)| (truth(told), *group)));
        let share = |part: u64, whole: u64| if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
        Figures { precision: share(right, found), recall: share(both, expected), pairs: expected }
    }

    fn f1(&self) -> f64 {
        2.0 * self.precision * self.recall / (self.precision + self.recall)
    }
}

impl Display for Figures {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let (precision, recall, f1) = (self.precision, self.recall, self.f1());
        write!(f, "precision {precision:.4}, recall {recall:.4}, F1 {f1:.4} of {} pairs", self.pairs)
    }
}

/// Number of pairs with the same key.
fn pairs<K: Hash + Eq>(keys: impl Iterator<Item = K>) -> u64 {
    let mut counts: HashMap<K, u64> = HashMap::new();
    keys.for_each(|key| *counts.entry(key).or_default() += 1);
    counts.into_values().map(|count| count * (count - 1) / 2).sum()
}

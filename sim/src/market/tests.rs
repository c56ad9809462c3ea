//! The market keeps its promises: same settings, same listings; twins, chains and every deviation are there.

mod readback;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::LazyLock;

use domain::menu::product::PotencyUnit;

use super::catalogue::Difference;
use super::kinds::{Family, KINDS};
use super::makers::squashed;
use super::names::distance;
use super::words::{FIRST, SECOND};
use super::{Listing, Market, Settings, typing};

/// Seventy stores of a market that is as dense as the one of the defaults.
static SMALL: LazyLock<(Market, Vec<Listing>)> = LazyLock::new(|| {
    let market = small(1);
    let listings = all(&market);
    (market, listings)
});

fn small(seed: u64) -> Market {
    Market::new(Settings { seed, products: 2_800, stores: 70, ..Settings::default() })
}

fn all(market: &Market) -> Vec<Listing> {
    (0..market.stores()).flat_map(|store| market.listings(store)).collect()
}

#[test]
fn listings_depend_on_seed_and_store_only() {
    let (first, second) = (small(7), small(7));
    let backwards: Vec<Vec<Listing>> = (0..9).rev().map(|store| second.listings(store)).collect();
    let forwards: Vec<Vec<Listing>> = (0..9).map(|store| first.listings(store)).collect();
    assert!(forwards.iter().eq(backwards.iter().rev()));
}

#[test]
fn another_seed_makes_another_market() {
    assert_ne!(small(7).listings(0), small(8).listings(0));
}

#[test]
fn a_store_that_there_is_not_lists_nothing() {
    assert_eq!(SMALL.0.listings(70), Vec::new());
}

#[test]
fn a_market_without_products_or_stores_lists_nothing() {
    let empty = |products, stores| all(&Market::new(Settings { products, stores, ..Settings::default() }));
    assert_eq!((empty(0, 3), empty(100, 0)), (Vec::new(), Vec::new()));
}

#[test]
fn a_store_lists_a_product_once() {
    for store in 0..SMALL.0.stores() {
        let listings = SMALL.0.listings(store);
        let products: HashSet<usize> = listings.iter().map(|listing| listing.truth.product).collect();
        assert_eq!((listings.len(), products.len()), (500, 500));
    }
}

#[test]
fn each_product_is_listed_and_some_are_only_once() {
    let (market, listings) = &*SMALL;
    let mut counts = vec![0; market.products()];
    listings.iter().for_each(|listing| counts[listing.truth.product] += 1);
    assert!(counts.iter().all(|count| *count > 0));
    assert!(counts.iter().filter(|count| **count == 1).count() > 20);
    assert!(counts.iter().max() > Some(&50));
}

#[test]
fn a_seventh_of_the_products_are_twins_of_each_kind() {
    let market = &SMALL.0;
    assert_eq!(market.twins(), market.products() * 15 / 100);
    let mut counts: BTreeMap<Difference, usize> = BTreeMap::new();
    for twin in market.catalogue.products.iter().filter_map(|product| product.twin) {
        *counts.entry(twin.differs_by).or_default() += 1;
    }
    assert_eq!(counts.len(), 8);
    assert!(counts.values().all(|count| *count > market.twins() / 20), "{counts:?}");
}

#[test]
fn a_twin_differs_by_one_thing() {
    let products = &SMALL.0.catalogue.products;
    for (product, twin) in products.iter().filter_map(|product| Some((product, product.twin?))) {
        let other = &products[twin.of];
        let differences = [
            product.maker != other.maker,
            product.sizes != other.sizes,
            product.pack != other.pack,
            product.dose != other.dose,
            product.kind != other.kind,
            product.version != other.version,
            product.name.words != other.name.words,
            product.name.number != other.name.number,
        ];
        assert_eq!(differences.iter().filter(|differs| **differs).count(), 1, "{product:?} {other:?}");
        assert!(product.sizes == other.sizes || product.sizes.iter().all(|size| !other.sizes.contains(size)));
    }
}

#[test]
fn few_listings_are_undecidable() {
    let listings = &SMALL.1;
    let undecidable = listings.iter().filter(|listing| !listing.truth.is_decidable).count();
    let per_mille = undecidable * 1000 / listings.len();
    assert!((30..60).contains(&per_mille), "{per_mille}");
}

#[test]
fn twins_are_not_the_only_ones_that_are_undecidable() {
    let (market, listings) = &*SMALL;
    let is_twin = |listing: &&Listing| market.catalogue.products[listing.truth.product].twin.is_some();
    let undecidable: Vec<&Listing> = listings.iter().filter(|listing| !listing.truth.is_decidable).collect();
    let twins = undecidable.iter().copied().filter(is_twin).count();
    assert!(twins > 0 && twins < undecidable.len());
}

#[test]
fn makers_differ_by_more_than_two_letters_and_some_share_a_word() {
    let cores: Vec<&str> = SMALL.0.makers.iter().map(|maker| maker.core.as_str()).collect();
    let mut first_words: HashMap<&str, usize> = HashMap::new();
    for (at, core) in cores.iter().enumerate() {
        *first_words.entry(core.split(' ').next().unwrap()).or_default() += 1;
        for other in &cores[..at] {
            assert!(distance(&squashed(core), &squashed(other)) > 4, "{core} {other}");
        }
    }
    assert!(first_words.values().filter(|count| **count > 1).count() > 4);
}

#[test]
fn the_vocabulary_is_large_and_has_no_word_of_goods() {
    assert!(FIRST.len() >= 150 && SECOND.len() >= 150, "{} {}", FIRST.len(), SECOND.len());
    let words: HashSet<String> = FIRST.iter().chain(SECOND.iter()).map(|word| typing::folded(word)).collect();
    assert_eq!(words.len(), FIRST.len() + SECOND.len());
    let versions = KINDS.iter().flat_map(|kind| kind.family.versions()).flat_map(|version| version.iter());
    let forms = KINDS.iter().flat_map(|kind| kind.forms);
    for phrase in versions.chain(forms) {
        assert!(phrase.split(' ').all(|word| !words.contains(&word.to_lowercase())), "{phrase}");
    }
}

#[test]
fn a_form_belongs_to_one_kind() {
    let mut forms = HashSet::new();
    assert!(KINDS.iter().flat_map(|kind| kind.forms).all(|form| forms.insert(form)));
}

#[test]
fn stores_of_a_chain_share_platform_ids_and_most_spellings() {
    let mut seen: HashMap<(usize, usize), &Listing> = HashMap::new();
    let (mut pairs, mut alike) = (0, 0);
    for listing in &SMALL.1 {
        let Some(chain) = listing.chain else {
            assert_eq!(listing.enterprise_product_id, None);
            continue;
        };
        let first = seen.entry((chain, listing.truth.product)).or_insert(listing);
        assert_eq!(first.platform, listing.platform);
        assert_eq!(first.enterprise_product_id, listing.enterprise_product_id);
        (pairs, alike) = (pairs + 1, alike + usize::from(first.name == listing.name));
    }
    assert!(alike < pairs && alike * 10 > pairs * 9, "{alike} {pairs}");
}

#[test]
fn a_brand_id_belongs_to_one_maker_of_a_platform() {
    let mut makers: HashMap<(&str, &str), usize> = HashMap::new();
    for listing in &SMALL.1 {
        let Some(id) = &listing.brand_id else { continue };
        assert!(listing.brand.is_some());
        assert_eq!(*makers.entry((listing.platform.name(), id)).or_insert(listing.truth.maker), listing.truth.maker);
    }
}

#[test]
fn every_deviation_occurs() {
    let (market, listings) = &*SMALL;
    let product = |listing: &Listing| &market.catalogue.products[listing.truth.product];
    let core = |listing: &Listing| market.makers[listing.truth.maker].core.clone();
    let ends = |listing: &Listing, text: &str| listing.brand.as_deref().is_some_and(|brand| brand.ends_with(text));
    let in_name = |text: &'static str| move |listing: &Listing| listing.name.contains(text);
    let has_brand_in_name = |listing: &Listing| squashed(&listing.name).contains(&squashed(&core(listing)));
    let check = |what: &str, is: &dyn Fn(&Listing) -> bool| {
        assert!(listings.iter().any(is), "no listing: {what}");
    };
    for text in
        [" | ", " - ", ": ", " · ", "[", "(", "1/8 oz", "pk", "-pack", " pieces", " x ", "Cart", "PR", "LR", "(H)"]
    {
        check(text, &in_name(text));
    }
    for label in ["1/8oz", "3.5g", "1g", "1gC", ".5g", "100mg", "10pk", "N/A", "each", "30mL", "500mg", "2.5g"] {
        check(label, &|listing| listing.options.iter().any(|option| option == label));
    }
    for name in ["™", "🌿", "Crème", "Creme"] {
        check(name, &in_name(name));
    }
    check("brand in front as well as in its field", &|listing| {
        listing.brand.is_some() && squashed(&listing.name).starts_with(&squashed(&core(listing)))
    });
    check("brand in the name instead", &|listing| listing.brand.is_none() && has_brand_in_name(listing));
    check("no brand", &|listing| listing.brand.is_none() && !has_brand_in_name(listing));
    check("and for &", &|listing| ends(listing, " and Co."));
    check("end dropped", &|listing| listing.brand.as_ref() == Some(&core(listing)));
    check("goods added to the brand", &|listing| ends(listing, " Gummies"));
    check("blanks removed", &|listing| {
        listing.brand.as_ref().is_some_and(|brand| core(listing).contains(' ') && !brand.contains(' '))
    });
    check("capitals", &|listing| listing.name == listing.name.to_uppercase());
    check("small letters", &|listing| listing.name == listing.name.to_lowercase());
    check("word cut", &|listing| listing.name.contains("Straw.") || listing.name.contains("Water."));
    check("vowels dropped", &|listing| listing.name.contains("Strwbrry") || listing.name.contains("Wtrmln"));
    check("word misspelt", &|listing| {
        let words: Vec<String> = listing.name.split(' ').map(typing::folded).collect();
        product(listing).name.words.iter().any(|word| {
            !words.contains(&typing::folded(word))
                && words.iter().any(|other| distance(other, &typing::folded(word)) == 1)
        })
    });
    check("strain type N/A", &|listing| listing.strain_type.as_deref() == Some("N/A"));
    check("no strain type", &|listing| listing.strain_type.is_none());
    check("no subcategory", &|listing| listing.subcategory.is_none());
    check("wrong category", &|listing| product(listing).family() == Family::Vaporizer && listing.category == "Flower");
    check("some of the sizes", &|listing| product(listing).sizes.len() > listing.options.len());
    check("no THC", &|listing| listing.thc.is_none());
    for unit in PotencyUnit::ALL {
        check(unit.name(), &|listing| listing.thc.is_some_and(|thc| thc.unit == unit));
    }
}

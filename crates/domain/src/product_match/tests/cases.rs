//! Pairs of listings, and whether they are one product.

use rstest::rstest;

use super::super::{LinkState, Listing};
use super::support::{RULES, brand_index, edible, flower, listing, matched, numbered, spellings};

/// Whether two listings are one product, or a person decides.
fn verdict(one: Listing, other: Listing) -> &'static str {
    let matches = matched(&numbered(vec![one, other]));
    let decided: Vec<_> = matches.decided().collect();
    if decided[0].2.product == decided[1].2.product {
        return "one";
    }
    if decided.iter().any(|(_, state, _)| *state == LinkState::Review) { "review" } else { "two" }
}

#[rstest]
#[case::case_("Blue Ledger", "BLUE LEDGER", "one")]
#[case::separators("Blue Ledger | Flower", "Blue-Ledger (Flower)", "one")]
#[case::brand_in_front("Copper Fern | Blue Ledger", "Blue Ledger", "one")]
#[case::brand_behind("Blue Ledger by Copper Fern", "Blue Ledger", "one")]
#[case::size_in_the_name("Blue Ledger 3.5g", "Blue Ledger [1/8 oz]", "one")]
#[case::strain_type("Blue Ledger (H)", "Blue Ledger Hybrid", "one")]
#[case::potency("Blue Ledger THC: 22.4%", "Blue Ledger", "one")]
#[case::misspelt("Blue Ledger", "Blue Legder", "one")]
#[case::without_vowels("Strawberry Ledger", "Strwbrry Ledger", "one")]
#[case::without_a_blank("Blue Ledger", "BlueLedger", "one")]
#[case::accents("Crème Nocturne", "Creme Nocturne", "one")]
#[case::trade_mark("Blue Ledger™", "Blue Ledger", "one")]
#[case::one_word_more("Blue Ledger", "Blue Ledger Haze", "two")]
#[case::another_word("Blue Ledger", "Blue Circuit", "two")]
#[case::another_number("Gelato 33", "Gelato 41", "two")]
#[case::version("Blue Ledger", "Blue Ledger V2", "two")]
#[case::reserve("Blue Ledger", "Blue Ledger Reserve", "two")]
fn names_of_one_maker_are_compared(#[case] one: &str, #[case] other: &str, #[case] expected: &str) {
    let [one, other] = [one, other].map(|name| flower("Copper Fern", name, &["1/8oz"]));
    assert_eq!(verdict(one, other), expected);
}

#[rstest]
#[case::of_another_maker(flower("Copper Fern", "Blue Ledger", &["1/8oz"]), flower("Tin Lantern", "Blue Ledger", &["1/8oz"]), "two")]
#[case::brand_in_the_name_alone(
    flower("Copper Fern", "Blue Ledger", &["1/8oz"]),
    flower("", "Copper Fern - Blue Ledger", &["1/8oz"]),
    "one"
)]
#[case::no_brand(flower("Copper Fern", "Blue Ledger", &["1/8oz"]), flower("", "Blue Ledger", &["1/8oz"]), "review")]
#[case::some_of_the_sizes(
    flower("Copper Fern", "Blue Ledger", &["1/8oz", "1/4oz"]),
    flower("Copper Fern", "Blue Ledger", &["3.5g"]),
    "one"
)]
#[case::other_sizes(
    flower("Copper Fern", "Blue Ledger", &["1/8oz"]),
    flower("Copper Fern", "Blue Ledger", &["1oz"]),
    "two"
)]
#[case::other_pack(
    listing("pre_roll", "Copper Fern", "Blue Ledger 5pk .5g", &[]),
    listing("pre_roll", "Copper Fern", "Blue Ledger 10 x 0.5g", &[]),
    "two"
)]
#[case::form(
    listing("vaporizer", "Copper Fern", "Blue Ledger Cart", &["1g"]),
    listing("vaporizer", "Copper Fern", "Blue Ledger All-in-One", &["1g"]),
    "two"
)]
#[case::other_strength(
    edible("Copper Fern", "Plum Gummies 100mg", &["N/A"]),
    edible("Copper Fern", "Plum Gummies 50mg", &["N/A"]),
    "two"
)]
#[case::strength_of_a_piece(
    edible("Copper Fern", "Plum Gummies | 10mg | 10pk", &["N/A"]),
    edible("Copper Fern", "Plum Gummy", &["100mg"]),
    "one"
)]
#[case::wrong_category(
    edible("Copper Fern", "Plum Gummies 100mg", &["N/A"]),
    listing("flower", "Copper Fern", "Plum Gummies", &["N/A"]),
    "one"
)]
fn listings_are_compared(#[case] one: Listing, #[case] other: Listing, #[case] expected: &str) {
    assert_eq!(verdict(one, other), expected);
}

#[rstest]
#[case::other_case("BLUE LEDGER", "same name")]
#[case::misspelt("Blue Legder", "names 0.97")]
#[case::abbreviated("Blue Ledg.", "names 0.93")]
fn the_evidence_says_how_alike_the_names_are(#[case] name: &str, #[case] expected: &str) {
    let matches = matched(&numbered(vec![
        flower("Copper Fern", "Blue Ledger", &["1/8oz"]),
        flower("Copper Fern", name, &["1/8oz", "1/4oz"]),
    ]));
    // the listing with more sizes stands for the product
    let evidence = &matches.decided().next().unwrap().2.evidence;
    assert_eq!(evidence[1].to_string(), expected);
}

#[test]
fn one_id_of_a_chain_is_one_product_whatever_the_names() {
    let chain = |name: &str| Listing {
        enterprise_product_id: Some("e1".to_owned()),
        ..flower("Copper Fern", name, &["1/8oz"])
    };
    let matches = matched(&numbered(vec![chain("Blue Ledger"), chain("House Special")]));
    let decided: Vec<_> = matches.decided().map(|(_, state, found)| (state, found.product)).collect();
    assert_eq!(decided, [(LinkState::Linked, 0), (LinkState::Linked, 0)]);
    let words: Vec<String> = matches.decided().last().unwrap().2.evidence.iter().map(ToString::to_string).collect();
    assert_eq!(words[..2], ["same id in the chain", "same brand"]);
}

#[test]
fn a_pinned_listing_stays_where_a_person_put_it() {
    let pinned = |listing: Listing, product| Listing { product: Some(product), is_pinned: true, ..listing };
    let one = flower("Copper Fern", "Blue Ledger", &["1/8oz"]);
    let listings = vec![pinned(one.clone(), 7), pinned(one.clone(), 9), pinned(flower("Tin", "Plum", &[]), 7), one];
    let matches = matched(&numbered(listings));
    let ids: Vec<_> = matches.decided().map(|(_, state, found)| (state, matches.products[found.product].id)).collect();
    let pinned = |id| (LinkState::Pinned, Some(id));
    assert_eq!(ids[..3], [pinned(7), pinned(9), pinned(7)]);
    assert!(matches!(ids[3], (LinkState::Linked, Some(7 | 9))), "{ids:?}");
}

#[rstest]
#[case::case_("Copper Fern", "COPPER FERN", true)]
#[case::blanks("Copper Fern", "CopperFern", true)]
#[case::law("Copper Fern & Co.", "Copper Fern, Inc.", true)]
#[case::trade("Copper Fern Farms", "Copper Fern", true)]
#[case::goods("Copper Fern", "Copper Fern Gummies", true)]
#[case::other("Copper Fern", "Copper Ridge", false)]
#[case::misspelt_but_not_rare("Copper Fern", "Coper Fern", false)]
fn spellings_of_a_brand_are_one(#[case] one: &str, #[case] other: &str, #[case] expected: bool) {
    let listings = [one, other].map(|brand| flower(brand, "Plum", &[]));
    let brands = brand_index(&spellings(&listings));
    assert_eq!(brands.named(&listings[0]) == brands.named(&listings[1]), expected);
}

#[test]
fn a_rare_spelling_is_a_mistake_where_the_right_one_is_frequent() {
    let listings: Vec<Listing> =
        (0..20).map(|n| flower(if n == 0 { "Coper Fern" } else { "Copper Fern" }, "Plum", &[])).collect();
    let brands = brand_index(&spellings(&listings));
    assert_eq!(brands.named(&listings[0]), brands.named(&listings[1]));
}

#[test]
fn two_makers_with_one_first_name_are_two() {
    let listings = ["Copper Fern Farms", "Copper Fern Labs", "Copper Fern"].map(|brand| flower(brand, "Plum", &[]));
    let brands = brand_index(&spellings(&listings));
    let mut found = listings.each_ref().map(|listing| brands.named(listing));
    found.sort_unstable();
    assert_eq!(found, [Some(1), Some(2), Some(3)]);
}

#[test]
fn the_shipped_rules_have_a_version() {
    assert!(RULES.version() > 0);
}

//! Wrong and missed pairs, printed for whoever tunes the rules.

use std::collections::HashMap;

use domain::product_match::Matches;

use super::market::Told;

pub fn print(listings: &[Told], matches: &Matches, max: usize) {
    let product_of: Vec<usize> = matches.decided().map(|(_, _, found)| found.product).collect();
    let states: Vec<String> = matches.decided().map(|(_, state, _)| state.to_string()).collect();
    let mut first_of: HashMap<usize, usize> = HashMap::new();
    let mut wrong = 0;
    for (at, product) in product_of.iter().enumerate() {
        let first = *first_of.entry(*product).or_insert(at);
        if listings[first].product != listings[at].product && wrong < max {
            wrong += 1;
            show("wrong ", &listings[first], &listings[at], &states[at]);
        }
    }
    // the most frequent group of each true product
    let mut groups: HashMap<usize, HashMap<usize, Vec<usize>>> = HashMap::new();
    for (at, told) in listings.iter().enumerate().filter(|(_, told)| told.is_decidable) {
        groups.entry(told.product).or_default().entry(product_of[at]).or_default().push(at);
    }
    let mut missed: Vec<(usize, usize, usize)> = Vec::new();
    for groups in groups.into_values() {
        let Some(main) = groups.values().max_by_key(|listings| (listings.len(), listings[0])) else { continue };
        let others = groups.values().filter(|listings| listings[0] != main[0]);
        missed.extend(others.map(|other| (main.len() * other.len(), main[0], other[0])));
    }
    // the groups that cost the most pairs come first
    missed.sort_unstable_by(|one, other| other.cmp(one));
    for (_, main, other) in missed.into_iter().take(max) {
        show("missed", &listings[main], &listings[other], &states[other]);
    }
}

fn show(kind: &str, one: &Told, other: &Told, state: &str) {
    println!("{kind} {state}");
    for told in [one, other] {
        let listing = &told.listing;
        println!(
            "   {} | {:?} | {:?}/{:?} | {:?} | {:?} | {:?} | {}",
            listing.name,
            listing.brand,
            listing.category,
            listing.subcategory,
            listing.options,
            listing.strain_type,
            listing.thc.as_ref().map(|thc| (thc.max, thc.unit)),
            if told.is_decidable { told.product.to_string() } else { format!("{} (undecidable)", told.product) },
        );
    }
}

/// Makers whose listings have one brand.
pub fn print_brands(listings: &[Told], brand_of: &[usize]) {
    let mut makers: HashMap<usize, HashMap<usize, (usize, &Told)>> = HashMap::new();
    for (told, brand) in listings.iter().zip(brand_of) {
        makers.entry(*brand).or_default().entry(told.maker).or_insert((0, told)).0 += 1;
    }
    for makers in makers.into_values().filter(|makers| makers.len() > 1) {
        let names: Vec<String> = makers
            .values()
            .map(|(count, told)| format!("{count} x {:?} {}", told.listing.brand, told.listing.name))
            .collect();
        println!("one brand: {}", names.join(" · "));
    }
}

//! Reads listings as text, without what the generator knows: what tells a product from its near-twin can be read.

use super::super::amounts::Amount;
use super::super::catalogue::{Difference, Product};
use super::super::{Listing, Market, platform_words, typing};
use super::{SMALL, squashed};

/// Amounts and packs that a text states.
#[derive(Default)]
struct Read {
    amounts: Vec<Amount>,
    packs: Vec<u32>,
}

#[test]
fn what_tells_a_decidable_listing_from_a_twin_can_be_read() {
    let (market, listings) = &*SMALL;
    let products = &market.catalogue.products;
    let twins = || products.iter().enumerate().filter_map(|(index, product)| Some((index, product.twin?)));
    let pairs =
        twins().flat_map(|(index, twin)| [(index, twin.of, twin.differs_by), (twin.of, index, twin.differs_by)]);
    let others: Vec<(usize, usize, Difference)> = pairs.collect();
    let mut checked = 0;
    for (index, other, differs_by) in others {
        let own = listings.iter().filter(|listing| listing.truth.is_decidable && listing.truth.product == index);
        for listing in own {
            let (truth, rival) = (&products[index], &products[other]);
            assert!(
                tells(market, listing, truth, rival, differs_by),
                "{differs_by:?}\n{listing:?}\n{truth:?}\n{rival:?}"
            );
            checked += 1;
        }
    }
    assert!(checked > 5_000, "{checked}");
}

#[test]
fn the_maker_of_a_decidable_listing_can_be_read() {
    let (market, listings) = &*SMALL;
    for listing in listings.iter().filter(|listing| listing.truth.is_decidable).step_by(25) {
        let is_nearest =
            (0..market.makers()).all(|maker| maker == listing.truth.maker || tells_maker(market, listing, maker));
        assert!(is_nearest, "{listing:?}");
    }
}

fn tells(market: &Market, listing: &Listing, truth: &Product, rival: &Product, differs_by: Difference) -> bool {
    let read = read(listing);
    let fits = |product: &Product| {
        read.amounts.iter().all(|amount| product.has(*amount)) && read.packs.iter().all(|pack| *pack == product.pack)
    };
    match differs_by {
        Difference::Maker => tells_maker(market, listing, rival.maker),
        Difference::Sizes => fits(truth) && !fits(rival),
        Difference::Pack => {
            let is_told = tells_thc(listing, truth, rival) || tells_form(listing, truth, rival);
            fits(truth) && (!fits(rival) || truth.pack == 1 || is_told)
        }
        Difference::Dose => fits(truth) && (!fits(rival) || tells_thc(listing, truth, rival)),
        Difference::Form => tells_form(listing, truth, rival),
        Difference::Version => {
            truth.version.is_none_or(|spellings| spellings.iter().any(|text| has_phrase(listing, text)))
        }
        Difference::Word => words_missed(listing, truth) < words_missed(listing, rival),
        Difference::Number => has_number(listing, truth),
    }
}

fn tells_maker(market: &Market, listing: &Listing, rival: usize) -> bool {
    let text = format!("{} {}", listing.brand.as_deref().unwrap_or_default(), listing.name).to_lowercase();
    let text = squashed(&text.replace(" and ", " "));
    let missed = |maker: usize| missed_letters(&squashed(&market.makers[maker].core), &text);
    missed(listing.truth.maker) < missed(rival)
}

fn tells_form(listing: &Listing, truth: &Product, rival: &Product) -> bool {
    let subcategory = |product: &Product| platform_words::subcategory(listing.platform, product.subcategory());
    let category = |product: &Product| platform_words::category(listing.platform, product.family());
    let says = |own: String, other: String, said: &str| own == said && other != said;
    truth.kind().forms.iter().any(|form| has_phrase(listing, form))
        || listing.subcategory.as_deref().is_some_and(|said| says(subcategory(truth), subcategory(rival), said))
        || says(category(truth).to_owned(), category(rival).to_owned(), &listing.category)
}

fn tells_thc(listing: &Listing, truth: &Product, rival: &Product) -> bool {
    let Some(thc) = listing.thc else { return false };
    let is_near = |product: &Product| {
        let each = f64::from(product.dose.unwrap_or(0));
        [each, each * f64::from(product.pack)].iter().any(|mg| (thc.value / mg - 1.0).abs() < 0.13)
    };
    is_near(truth) && !is_near(rival)
}

fn has_phrase(listing: &Listing, phrase: &str) -> bool {
    squashed(&listing.name).contains(&squashed(phrase))
}

fn has_number(listing: &Listing, product: &Product) -> bool {
    let number = product.name.number.map(|number| number.value.to_string()).unwrap_or_default();
    listing.name.split([' ', ',', ':', '#', ']', ')']).any(|token| token == number)
}

/// Letters of the words of the name that the listing lacks.
fn words_missed(listing: &Listing, product: &Product) -> usize {
    let text = squashed(&typing::folded(&listing.name));
    let missed = |word: &&str| {
        let word = typing::folded(word);
        let stems =
            (4..6).any(|stem| typing::folded(&listing.name).contains(&format!("{}.", &word[..stem.min(word.len())])));
        let is_short = word.len() > 6 && (stems || text.contains(&typing::without_vowels(&word)));
        if is_short { 0 } else { missed_letters(&word, &text) }
    };
    product.name.words.iter().map(missed).sum()
}

/// Least number of letters by which the pattern differs from a part of the text.
fn missed_letters(pattern: &str, text: &str) -> usize {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let mut rows: [Vec<usize>; 3] = [Vec::new(), Vec::new(), vec![0; text.len() + 1]];
    for i in 1..=pattern.len() {
        rows.rotate_left(1);
        rows[2] = vec![i];
        for j in 1..=text.len() {
            let wrong = rows[1][j - 1] + usize::from(pattern[i - 1] != text[j - 1]);
            let mut least = wrong.min(rows[1][j] + 1).min(rows[2][j - 1] + 1);
            if i > 1 && j > 1 && pattern[i - 1] == text[j - 2] && pattern[i - 2] == text[j - 1] {
                least = least.min(rows[0][j - 2] + 1);
            }
            rows[2].push(least);
        }
    }
    rows[2].iter().copied().min().unwrap_or(0)
}

/// The amounts of the options and of the name.
fn read(listing: &Listing) -> Read {
    let mut read = Read::default();
    for text in listing.options.iter().chain([&listing.name]) {
        let spaced: String =
            text.to_lowercase().chars().map(|letter| if "[](),:·|".contains(letter) { ' ' } else { letter }).collect();
        let tokens: Vec<&str> = spaced.split_whitespace().collect();
        for (at, token) in tokens.iter().enumerate() {
            let (before, next) = (at.checked_sub(1).map(|at| tokens[at]), tokens.get(at + 1).copied());
            read_token(&mut read, token, before, next, tokens.get(at + 2).copied());
        }
    }
    read
}

fn read_token(read: &mut Read, token: &str, before: Option<&str>, next: Option<&str>, after: Option<&str>) {
    let digits =
        token.find(|letter: char| !letter.is_ascii_digit() && letter != '.' && letter != '/').unwrap_or(token.len());
    let (Some(value), tail) = (value(&token[..digits]), &token[digits..]) else {
        return single(read, token);
    };
    let is_number = |text: Option<&str>| {
        text.is_some_and(|text| text.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.'))
    };
    match (tail, next) {
        ("", Some("x")) if is_amount(after) => read.packs.push(value as u32),
        ("", _) if before == Some("x") && !is_amount_unit(next) => read.packs.push(value as u32),
        ("", Some(unit)) if !is_number(Some(unit)) => read_unit(read, value, unit),
        _ => read_unit(read, value, tail.trim_start_matches('-')),
    }
}

fn single(read: &mut Read, token: &str) {
    if token == "single" {
        read.packs.push(1);
    }
}

/// The word after a cross may be a number of pieces only where an amount follows.
fn is_amount(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.starts_with(|letter: char| letter.is_ascii_digit() || letter == '.'))
}

fn is_amount_unit(text: Option<&str>) -> bool {
    matches!(text, Some("g" | "gram" | "oz" | "mg" | "ml"))
}

fn read_unit(read: &mut Read, value: f64, unit: &str) {
    match unit {
        "g" | "gram" | "gc" => read.amounts.push(Amount::Mg((value * 1000.0).round() as u32)),
        "oz" => read.amounts.push(Amount::Mg((value * 28_000.0).round() as u32)),
        "mg" => read.amounts.push(Amount::Mg(value.round() as u32)),
        "ml" => read.amounts.push(Amount::Ml(value.round() as u32)),
        "pk" | "pack" | "ct" | "pieces" => read.packs.push(value as u32),
        _ => (),
    }
}

fn value(text: &str) -> Option<f64> {
    match text.split_once('/') {
        Some((part, whole)) => Some(part.parse::<f64>().ok()? / whole.parse::<f64>().ok()?),
        None => text.parse().ok(),
    }
}

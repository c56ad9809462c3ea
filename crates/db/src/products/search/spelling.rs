//! `correct`: finds possible meanings of misspelled words among the words of products. Pure.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Maximum meanings of one word.
const MAX_MEANINGS: usize = 3;
/// Length from which on two wrong letters are as likely as one in a short word.
const LONG: usize = 8;

/// Correction of a search, in both forms as tsqueries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Correction {
    /// All possible meanings.
    pub any: String,
    /// The most likely meanings.
    pub likely: String,
}

/// A typed word, and a similar word of products; None when there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordMatch {
    pub typed: String,
    pub word: Option<String>,
    /// Number of products with the word.
    pub products: i64,
}

/// None when nothing needs a correction.
pub fn correct(alike: &[WordMatch]) -> Option<Correction> {
    let mut words: BTreeMap<&str, Vec<(&str, i64)>> = BTreeMap::new();
    for WordMatch { typed, word, products } in alike {
        words.entry(typed).or_default().extend(word.as_deref().map(|word| (word, *products)));
    }
    if words.iter().all(|(typed, alike)| meant(typed, alike) == [*typed]) {
        return None;
    }
    let meant: Vec<Vec<&str>> = words.iter().map(|(typed, alike)| meant(typed, alike)).collect();
    let any = joined(meant.iter().map(|meant| format!("({})", joined(meant.iter().map(beginning), " | "))), " & ");
    let likely = joined(meant.iter().map(|meant| beginning(&meant[0])), " & ");
    Some(Correction { any, likely })
}

/// The nearest words, the most frequent first; the word itself when products have it, or nothing is near. At
/// least one.
fn meant<'a>(typed: &'a str, alike: &[(&'a str, i64)]) -> Vec<&'a str> {
    let most = if typed.chars().count() < LONG { 1 } else { 2 };
    let near = alike.iter().map(|(word, products)| (strsim::osa_distance(typed, word), Reverse(*products), *word));
    let mut near: Vec<_> = near.filter(|(edits, ..)| *edits <= most).collect();
    near.sort_unstable();
    let Some((least, ..)) = near.first().copied() else { return vec![typed] };
    near.into_iter().take_while(|(edits, ..)| *edits == least).map(|(.., word)| word).take(MAX_MEANINGS).collect()
}

/// Matches longer words that begin with the word, too.
fn beginning(word: &&str) -> String {
    format!("'{}':*", word.replace('\\', r"\\").replace('\'', "''"))
}

fn joined(parts: impl Iterator<Item = String>, operator: &str) -> String {
    parts.collect::<Vec<_>>().join(operator)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// The typed word, a word of products or none, and the number of products with it.
    type Case<'a> = &'a [(&'a str, Option<&'a str>, i64)];

    #[rstest]
    #[case::a_wrong_letter(&[("kuhs", Some("kush"), 5)], "('kush':*)", "'kush':*")]
    #[case::the_most_frequent_is_the_most_likely(
        &[("plm", Some("plum"), 2), ("plm", Some("palm"), 9)],
        "('palm':* | 'plum':*)",
        "'palm':*"
    )]
    #[case::the_nearest_alone(
        &[("tinctures", Some("tincture"), 1), ("tinctures", Some("tincurse"), 9)],
        "('tincture':*)",
        "'tincture':*"
    )]
    #[case::beside_a_right_one(
        &[("bajno", Some("banjo"), 1), ("kush", Some("kush"), 1), ("kush", Some("rush"), 9)],
        "('banjo':*) & ('kush':*)",
        "'banjo':* & 'kush':*"
    )]
    #[case::two_letters_of_a_long_word(&[("chocoaltte", Some("chocolate"), 1)], "('chocolate':*)", "'chocolate':*")]
    #[case::a_quote_is_no_syntax(
        &[("o'\\", None, 0), ("kuhs", Some("kush"), 1)],
        "('kush':*) & ('o''\\\\':*)",
        "'kush':* & 'o''\\\\':*"
    )]
    fn a_misspelled_word_means_its_neighbours(#[case] words: Case, #[case] any: &str, #[case] likely: &str) {
        let expected = Correction { any: any.to_owned(), likely: likely.to_owned() };
        assert_eq!(correct(&alike(words)), Some(expected));
    }

    #[rstest]
    #[case::a_right_word(&[("kush", Some("kush"), 1), ("kush", Some("rush"), 9)])]
    #[case::nothing_near(&[("100mg", None, 0)])]
    #[case::too_far(&[("abcd", Some("abxy"), 1)])]
    #[case::no_word(&[])]
    fn what_is_near_nothing_else_stays_as_it_is(#[case] words: Case) {
        assert_eq!(correct(&alike(words)), None);
    }

    fn alike(words: Case) -> Vec<WordMatch> {
        let of = |(typed, word, products): &(&str, Option<&str>, i64)| WordMatch {
            typed: (*typed).to_owned(),
            word: word.map(str::to_owned),
            products: *products,
        };
        words.iter().map(of).collect()
    }
}

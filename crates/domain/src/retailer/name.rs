//! `Name`: the words by which a shop's name differs from those of others. In: a name and its city. Out: how alike two names are.

use crate::text::{folded, words};

/// Maximum number of characters of a name that are compared, since that takes the square of their number.
const MAX_COMPARED: usize = 48;
/// Names may be of one shop, if something else says so.
const ALIKE: f64 = 0.5;
/// Names are one with little doubt, where their first words are equal.
const CLOSE: f64 = 0.75;

/// Words of the trade, and of the law.
const TRADE: [&str; 48] = [
    "21",
    "a",
    "adult",
    "an",
    "and",
    "at",
    "by",
    "cannabis",
    "cbd",
    "center",
    "centre",
    "club",
    "co",
    "collective",
    "company",
    "coop",
    "corp",
    "corporation",
    "deliveries",
    "delivery",
    "dispensaries",
    "dispensary",
    "for",
    "in",
    "inc",
    "licensed",
    "llc",
    "location",
    "ltd",
    "marijuana",
    "med",
    "medical",
    "menu",
    "mj",
    "mmj",
    "of",
    "online",
    "only",
    "ordering",
    "patients",
    "pickup",
    "rec",
    "recreational",
    "shop",
    "store",
    "the",
    "use",
    "weed",
];

/// Words that the names of many shops have: one of them alone is not in common.
const COMMON: [&str; 20] = [
    "bud", "buds", "buddha", "canna", "care", "farm", "farms", "garden", "good", "grass", "green", "greens", "health",
    "herb", "herbal", "high", "leaf", "natural", "nature", "wellness",
];

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Name {
    /// All but trade words and the city, unless there are no others.
    words: Vec<String>,
    /// The same without blanks.
    joined: String,
}

/// How alike two names are.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(super) struct Likeness {
    /// 0 to 1.
    pub similarity: f64,
    has_same_start: bool,
}

impl Likeness {
    pub fn is_alike(self) -> bool {
        self.similarity >= ALIKE
    }

    pub fn is_close(self) -> bool {
        self.similarity >= CLOSE && self.has_same_start
    }

    pub fn is_same(self) -> bool {
        self.similarity >= 1.0
    }
}

impl Name {
    pub fn new(name: &str, city: &str) -> Name {
        let folded = folded(name);
        let city: Vec<&str> = words(city).collect();
        let all: Vec<&str> = words(&folded).collect();
        let own: Vec<&str> = all.iter().copied().filter(|word| !TRADE.contains(word)).collect();
        let elsewhere = without(&own, &city);
        let kept = [elsewhere, own, all].into_iter().find(|words| !words.is_empty()).unwrap_or_default();
        let joined = kept.concat().chars().take(MAX_COMPARED).collect();
        Name { words: kept.into_iter().map(str::to_owned).collect(), joined }
    }

    /// The first significant word.
    pub fn first(&self) -> Option<&str> {
        self.words.first().map(String::as_str)
    }

    pub fn likeness(&self, other: &Name) -> Likeness {
        if self.joined.is_empty() || other.joined.is_empty() {
            return Likeness::default();
        }
        if self.joined == other.joined {
            return Likeness { similarity: 1.0, has_same_start: true };
        }
        let dice = strsim::sorensen_dice(&self.joined, &other.joined);
        let edits = strsim::normalized_levenshtein(&self.joined, &other.joined);
        let contained = if self.begins(other) || other.begins(self) { 0.8 } else { 0.0 };
        // 1 is for names of the same letters
        let similarity = dice.max(edits).max(contained).min(0.99);
        Likeness { similarity, has_same_start: self.first() == other.first() }
    }

    /// Whether the other name only adds words, such as that of a quarter.
    fn begins(&self, other: &Name) -> bool {
        let is_own =
            self.words.len() > 1 || self.words.iter().any(|word| word.len() > 3 && !COMMON.contains(&word.as_str()));
        is_own && other.words.starts_with(&self.words)
    }
}

/// The words without the first run of those of the city.
fn without<'w>(words: &[&'w str], city: &[&str]) -> Vec<&'w str> {
    let is_city = |at: &usize| words[*at..].starts_with(city);
    match (0..words.len()).find(is_city).filter(|_| !city.is_empty()) {
        Some(at) => [&words[..at], &words[at + city.len()..]].concat(),
        None => words.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::trade_words("The Copper Fern Cannabis Co. (REC)", "Mesa", "copper fern")]
    #[case::city("Copper Fern - Mesa", "mesa", "copper fern")]
    #[case::city_of_two_words("Copper Fern Santa Fe", "santa fe", "copper fern")]
    #[case::only_the_city("Mesa Dispensary", "mesa", "mesa")]
    #[case::only_trade_words("The Dispensary", "mesa", "the dispensary")]
    #[case::emoji("🌿🌿", "mesa", "")]
    fn a_name_is_its_significant_words(#[case] name: &str, #[case] city: &str, #[case] expected: &str) {
        assert_eq!(Name::new(name, city).words.join(" "), expected);
    }

    #[rstest]
    #[case::the_same("Copper Fern", "copper fern dispensary", "same")]
    #[case::blanks("CopperFern", "Copper Fern", "same")]
    #[case::a_quarter("Copper Fern", "Copper Fern Downtown", "close")]
    #[case::typing_error("Copper Fern", "Copper Fren", "close")]
    #[case::typing_error_at_the_start("Copper Fern", "Coper Fern", "alike")]
    #[case::one_common_word("Green", "Green Valley", "alike")]
    #[case::other("Copper Fern", "Tin Lantern", "other")]
    #[case::nothing("🌿", "🌿", "other")]
    fn names_are_alike(#[case] one: &str, #[case] other: &str, #[case] expected: &str) {
        let likeness = Name::new(one, "").likeness(&Name::new(other, ""));
        let found = match likeness {
            _ if likeness.is_same() => "same",
            _ if likeness.is_close() => "close",
            _ if likeness.is_alike() => "alike",
            _ => "other",
        };
        assert_eq!(found, expected, "{likeness:?}");
    }
}

//! `Likeness`: how alike the names of two products are. In: the words of two profiles. Out: a number from 0 to 1 and its level.
//!
//! Words that most names have say little. A word that only says how the product is sold counts little where the other name leaves it out.

use super::lexicon::Meaning;
use super::profile::Profile;
use super::words::{Vocabulary, WordId};

/// Share of its weight that a form or material has where the other name leaves it out.
const LEFT_OUT: f32 = 0.2;
/// Minimum likeness of two words of which one may be the other.
const ABBREVIATED: f32 = 0.9;
const MISSPELT: f32 = 0.95;
const MISSPELT_SHORT: f32 = 0.85;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Other,
    Weak,
    Alike,
    Close,
    Same,
    /// Both names consist of brand and form alone.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Likeness {
    /// 0 to 1.
    pub similarity: f32,
    pub level: Level,
}

impl Likeness {
    /// `names`: the number of names that the vocabulary has counted.
    pub fn new(one: &Profile, other: &Profile, vocabulary: &Vocabulary, names: u32) -> Likeness {
        if one.words.is_empty() && other.words.is_empty() {
            return Likeness { similarity: 1.0, level: Level::None };
        }
        if one.words == other.words {
            return Likeness { similarity: 1.0, level: Level::Same };
        }
        let similarity = Alignment::new(one, other, vocabulary, names).similarity();
        let level = match similarity {
            0.995.. => Level::Same,
            0.86.. => Level::Close,
            0.70.. => Level::Alike,
            0.45.. => Level::Weak,
            _ => Level::Other,
        };
        Likeness { similarity, level }
    }
}

struct Alignment<'p> {
    one: &'p Profile,
    other: &'p Profile,
    vocabulary: &'p Vocabulary,
    names: u32,
    /// Bits of the words that have a counterpart.
    is_paired: [u32; 2],
    weight_of_pairs: f32,
    /// The same, each pair as far as its words are alike.
    paired: f32,
}

impl<'p> Alignment<'p> {
    fn new(one: &'p Profile, other: &'p Profile, vocabulary: &'p Vocabulary, names: u32) -> Alignment<'p> {
        let mut alignment =
            Alignment { one, other, vocabulary, names, is_paired: [0; 2], weight_of_pairs: 0.0, paired: 0.0 };
        alignment.pair_equal();
        alignment.pair_joined();
        alignment.pair_alike();
        alignment
    }

    fn similarity(&self) -> f32 {
        let left = self.left_over(0, self.one, self.other) + self.left_over(1, self.other, self.one);
        // a pair counts on both sides
        let whole = 2.0 * self.weight_of_pairs + left;
        if whole > 0.0 { 2.0 * self.paired / whole } else { 1.0 }
    }

    fn pair_equal(&mut self) {
        for at in 0..self.one.words.len() {
            let equal = self.free(1).find(|there| self.other.words[*there] == self.one.words[at]);
            if let Some(there) = equal {
                self.pair(&[at], &[there], 1.0);
            }
        }
    }

    /// Pairs two words with one that is both without the blank.
    fn pair_joined(&mut self) {
        for side in 0..2 {
            let (split, whole) = if side == 0 { (self.one, self.other) } else { (self.other, self.one) };
            for at in 1..split.words.len() {
                if !self.is_free(side, at - 1) || !self.is_free(side, at) {
                    continue;
                }
                let joined = || self.text(split.words[at - 1]).chars().chain(self.text(split.words[at]).chars());
                let found = self.free(1 - side).find(|there| self.text(whole.words[*there]).chars().eq(joined()));
                match found {
                    Some(there) if side == 0 => self.pair(&[at - 1, at], &[there], 1.0),
                    Some(there) => self.pair(&[there], &[at - 1, at], 1.0),
                    None => {}
                }
            }
        }
    }

    /// Pairs the words that are left, the most alike first.
    fn pair_alike(&mut self) {
        let mut pairs = Vec::new();
        for at in self.free(0) {
            for there in self.free(1) {
                let likeness = word_likeness(self.text(self.one.words[at]), self.text(self.other.words[there]));
                if likeness > 0.0 {
                    pairs.push((likeness, at, there));
                }
            }
        }
        pairs.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)).then(one.2.cmp(&other.2)));
        for (likeness, at, there) in pairs {
            if self.is_free(0, at) && self.is_free(1, there) {
                self.pair(&[at], &[there], likeness);
            }
        }
    }

    /// Whether a word of a side has no counterpart yet.
    fn is_free(&self, side: usize, at: usize) -> bool {
        self.is_paired[side] & (1 << at) == 0
    }

    fn free(&self, side: usize) -> impl Iterator<Item = usize> {
        let words = if side == 0 { &self.one.words } else { &self.other.words };
        (0..words.len()).filter(move |at| self.is_free(side, *at))
    }

    fn pair(&mut self, at: &[usize], there: &[usize], likeness: f32) {
        let weight = self.pair_weight(at, there);
        at.iter().for_each(|at| self.is_paired[0] |= 1 << at);
        there.iter().for_each(|there| self.is_paired[1] |= 1 << there);
        self.weight_of_pairs += weight;
        self.paired += weight * likeness;
    }

    /// The weight of the more frequent spelling: a mistake is rare, but says no more.
    fn pair_weight(&self, at: &[usize], there: &[usize]) -> f32 {
        let one: f32 = at.iter().map(|at| self.weight(self.one.words[*at])).sum();
        let other: f32 = there.iter().map(|there| self.weight(self.other.words[*there])).sum();
        one.min(other)
    }

    fn left_over(&self, side: usize, profile: &Profile, other: &Profile) -> f32 {
        let left = self.free(side).map(|at| profile.words[at]);
        left.map(|word| self.weight(word) * self.share(word, profile, other)).sum()
    }

    /// How much a word counts that the other name lacks.
    fn share(&self, word: WordId, own: &Profile, other: &Profile) -> f32 {
        match self.vocabulary.word(word).meaning {
            Some(Meaning::Form(bit)) if other.forms & bit != 0 => 0.0,
            Some(Meaning::Material(bit)) if other.materials & bit != 0 => 0.0,
            Some(Meaning::Form(bit)) if other.forms == 0 && own.forms & bit != 0 => LEFT_OUT,
            Some(Meaning::Material(bit)) if other.materials == 0 && own.materials & bit != 0 => LEFT_OUT,
            _ => 1.0,
        }
    }

    fn weight(&self, word: WordId) -> f32 {
        self.vocabulary.weight(word, self.names)
    }

    fn text(&self, word: WordId) -> &'p str {
        self.vocabulary.text(word)
    }
}

/// How likely one word is the other, misspelt or abbreviated; 0 = it is another.
fn word_likeness(one: &str, other: &str) -> f32 {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let letters = short.chars().count();
    if letters < 2 || !short.chars().chain(long.chars()).all(char::is_alphabetic) {
        return 0.0;
    }
    let is_same_start = short.chars().next() == long.chars().next();
    if letters >= 3 && is_same_start && (long.starts_with(short) || is_without_vowels(short, long)) {
        return ABBREVIATED;
    }
    match letters {
        // a letter fewer is possible in the shorter one
        7.. if strsim::osa_distance(short, long) <= 2 => MISSPELT,
        5..7 if strsim::osa_distance(short, long) <= 1 => MISSPELT,
        6 if is_same_start && strsim::osa_distance(short, long) <= 2 => MISSPELT_SHORT,
        3..5 if is_same_start && long.len() > 3 && strsim::osa_distance(short, long) <= 1 => MISSPELT_SHORT,
        _ => 0.0,
    }
}

/// Whether the short word is the long one without some of its vowels.
fn is_without_vowels(short: &str, long: &str) -> bool {
    let mut left = short.chars().peekable();
    for letter in long.chars() {
        if left.peek() == Some(&letter) {
            left.next();
        } else if !matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y') {
            return false;
        }
    }
    left.peek().is_none()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::one_letter("meridian", "meridan", true)]
    #[case::two_letters("turbine", "tubrnie", true)]
    #[case::swapped("lantern", "lanetrn", true)]
    #[case::abbreviated("strawberry", "straw", true)]
    #[case::without_vowels("strawberry", "strwbrry", true)]
    #[case::plural("cookie", "cookies", true)]
    #[case::short_words("lime", "time", false)]
    #[case::other("gelato", "sherbet", false)]
    #[case::one_letter_words("a", "b", false)]
    #[case::nothing("", "", false)]
    fn a_word_may_be_another_misspelt(#[case] one: &str, #[case] other: &str, #[case] expected: bool) {
        assert_eq!(word_likeness(one, other) > 0.0, expected);
        assert_eq!(word_likeness(other, one) > 0.0, expected);
    }
}

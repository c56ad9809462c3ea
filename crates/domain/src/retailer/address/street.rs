//! `Street`: its direction, name and kind. In: words in lower case. Out: whether two streets are the same.

use std::fmt::{self, Display, Formatter};

use super::abbreviations::{direction, kind, other};

/// Minimum lengths of names that may differ by one letter, and by two.
const MIN_LENGTHS: [usize; 2] = [4, 8];

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Street {
    direction: Option<&'static str>,
    /// Words without blanks.
    name: String,
    kind: Option<&'static str>,
}

impl Street {
    pub fn new(words: &[&str]) -> Option<Street> {
        let mut words = words;
        let mut own_direction = None;
        if let [rest @ .., last] = words
            && rest.len() > 1
            && let Some(found) = direction(last)
        {
            (own_direction, words) = (Some(found), rest);
        }
        if let [first, rest @ ..] = words
            && let Some(found) = direction(first)
            && rest.iter().any(|word| kind(word).is_none())
        {
            (own_direction, words) = (Some(found), rest);
        }
        let mut own_kind = None;
        if let [rest @ .., last] = words
            && !rest.is_empty()
            && let Some(found) = kind(last)
        {
            (own_kind, words) = (Some(found), rest);
        }
        let name = name(words);
        (!name.is_empty()).then_some(Street { direction: own_direction, name, kind: own_kind })
    }

    /// Whether it is the same street, where a direction or kind that one leaves out does not count.
    pub fn agrees(&self, other: &Street) -> bool {
        self.name == other.name && self.may_be(other)
    }

    /// Whether only a letter or two of the names differ.
    pub fn is_similar(&self, other: &Street) -> bool {
        let has_digit = |street: &Street| street.name.bytes().any(|byte| byte.is_ascii_digit());
        if has_digit(self) || has_digit(other) || !self.may_be(other) {
            return false;
        }
        let length = self.name.len().min(other.name.len());
        let may_differ = MIN_LENGTHS.iter().filter(|min| length >= **min).count();
        may_differ > 0 && strsim::osa_distance(&self.name, &other.name) <= may_differ
    }

    fn may_be(&self, other: &Street) -> bool {
        let agree = |one: Option<&str>, other: Option<&str>| one.is_none() || other.is_none() || one == other;
        agree(self.direction, other.direction) && agree(self.kind, other.kind)
    }
}

impl Display for Street {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let parts = [self.direction, Some(&self.name), self.kind];
        formatter.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
    }
}

/// A word behind the street's kind that can only be a unit: `12 Example Rd A5`.
pub(super) fn trailing_unit(words: &[&str]) -> Option<String> {
    let [name @ .., of_kind, last] = words else { return None };
    let numbered = ["county", "farm", "forest", "ranch", "state"];
    let is_numbered = kind(of_kind)? == "hwy" || name.last().is_none_or(|word| numbered.contains(word));
    let is_unit = last.len() == 1 || last.bytes().any(|byte| byte.is_ascii_digit());
    (!is_numbered && is_unit && direction(last).is_none()).then(|| (*last).to_owned())
}

fn name(words: &[&str]) -> String {
    let has_highway = words.iter().any(|word| is_highway(word));
    let counts = |word: &&&str| {
        let is_owner = has_highway && ["us", "u", "s", "state"].contains(*word);
        !is_owner && !["jr", "junior"].contains(*word)
    };
    words.iter().filter(counts).map(|word| short(word)).collect()
}

fn is_highway(word: &str) -> bool {
    kind(word).or_else(|| other(word)) == Some("hwy")
}

fn short(word: &str) -> String {
    match other(word).or_else(|| kind(word)) {
        Some(short) => short.to_owned(),
        None => without_ordinal(word).to_owned(),
    }
}

pub(super) fn is_ordinal(word: &str) -> bool {
    without_ordinal(word) != word
}

/// `7` of `7th`.
fn without_ordinal(word: &str) -> &str {
    let number = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end));
    number.filter(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).unwrap_or(word)
}

//! `Name`: the name of a product without its maker, form and sizes, as its maker has it.
//!
//! In: numbers of a draw. Out: names in several patterns. Names come from a pool that all makers share, as strains do.

use super::words::{FIRST, SECOND};
use super::{Subject, draw_of};
use crate::draw::Draw;

/// Names of strains and of flavours that makers share; the first ones are the most frequent.
const STRAINS: u64 = 2400;
const FLAVOURS: u64 = 700;
const TRIES: u32 = 100;
/// Two words of a twin differ by more letters than a clerk gets wrong.
const CLEAR_DISTANCE: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Name {
    /// Never empty, all different.
    pub(super) words: Vec<&'static str>,
    /// Index of the first word after the "x" of a cross.
    pub(super) cross: Option<usize>,
    pub(super) number: Option<Number>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Number {
    pub(super) value: u32,
    /// Written "#4", not "33".
    pub(super) has_sign: bool,
}

impl Name {
    /// A name of the shared pool.
    pub(super) fn shared(seed: u64, draw: &mut Draw, is_flavour: bool) -> Name {
        let known = if is_flavour { FLAVOURS } else { STRAINS };
        let last = draw.below(known);
        let nth = draw.below(last + 1);
        Name::new(&mut draw_of(seed, Subject::Name, &[u64::from(is_flavour), nth]))
    }

    pub(super) fn new(draw: &mut Draw) -> Name {
        let (first, second) = (*draw.pick(&FIRST), *draw.pick(&SECOND));
        let mut name = Name { words: vec![first, second], cross: None, number: None };
        match draw.below(100) {
            0..50 => (),
            50..57 => name.words.insert(1, other(draw, &FIRST, first)),
            57..64 => name.words.push(other(draw, &SECOND, second)),
            64..72 => name.number = Some(Number { value: draw.between(2, 99) as u32, has_sign: false }),
            72..79 => {
                name.words.truncate(1);
                name.number = Some(Number { value: draw.between(11, 99) as u32, has_sign: false });
            }
            79..83 => name.number = Some(Number { value: draw.between(1, 12) as u32, has_sign: true }),
            83..88 => name.cross = Some(1),
            88..94 => {
                name.words.extend([other(draw, &FIRST, first), other(draw, &SECOND, second)]);
                name.cross = Some(2);
            }
            _ => name.words.truncate(1),
        }
        name
    }

    /// The same name but for its number.
    pub(super) fn with_other_number(&self, draw: &mut Draw) -> Option<Name> {
        let number = self.number?;
        let value = (0..TRIES).map(|_| draw.between(1, 99) as u32).find(|value| *value != number.value)?;
        Some(Name { number: Some(Number { value, ..number }), ..self.clone() })
    }

    /// The same name but for one word.
    pub(super) fn with_other_word(&self, draw: &mut Draw) -> Option<Name> {
        let at = draw.below(self.words.len() as u64) as usize;
        let old = self.words[at];
        let list: &[&'static str] = if FIRST.contains(&old) { &FIRST } else { &SECOND };
        let is_clear = |word: &&'static str| !self.words.contains(word) && distance(old, word) >= CLEAR_DISTANCE;
        let word = (0..TRIES).map(|_| *draw.pick(list)).find(is_clear)?;
        let mut name = self.clone();
        name.words[at] = word;
        Some(name)
    }

    /// The same for names that a reader cannot tell apart.
    pub(super) fn signature(&self) -> (Vec<&'static str>, Option<u32>) {
        let mut words = self.words.clone();
        words.sort_unstable();
        (words, self.number.map(|number| number.value))
    }
}

/// Number of letters that are wrong, missing, too many or swapped with their neighbour.
pub(super) fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut rows: [Vec<usize>; 3] = [Vec::new(), Vec::new(), (0..=other.len()).collect()];
    for i in 1..=one.len() {
        rows.rotate_left(1);
        rows[2] = vec![i];
        for j in 1..=other.len() {
            let wrong = rows[1][j - 1] + usize::from(one[i - 1] != other[j - 1]);
            let mut least = wrong.min(rows[1][j] + 1).min(rows[2][j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                least = least.min(rows[0][j - 2] + 1);
            }
            rows[2].push(least);
        }
    }
    rows[2][other.len()]
}

fn other(draw: &mut Draw, list: &[&'static str], taken: &'static str) -> &'static str {
    (0..TRIES).map(|_| *draw.pick(list)).find(|word| *word != taken).unwrap_or(taken)
}

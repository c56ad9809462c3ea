//! Words as clerks write them: wrong letters, abbreviations, accents left out.
//!
//! In: a word. Out: the word as it is written. Also how a reader folds and recognises what is written.

use super::names::distance;
use crate::draw::Draw;

/// Letters of a word that an abbreviation keeps.
const STEM: u64 = 4;
/// A reader recognises a word with so many wrong letters, not with more.
pub(super) const READABLE: usize = 2;

/// One letter is wrong, doubled, missing, or swapped with the next; never the first one.
pub(super) fn misspelt(draw: &mut Draw, word: &str) -> String {
    let letters: Vec<char> = word.chars().collect();
    if letters.len() < 4 {
        return word.to_owned();
    }
    let at = draw.between(1, letters.len() as u64 - 2) as usize;
    let (before, after) = (&letters[..at], &letters[at + 1..]);
    let middle = match draw.below(4) {
        0 => vec![char::from(b'a' + draw.below(26) as u8)],
        1 => vec![letters[at], letters[at]],
        2 => Vec::new(),
        _ => return [before, &[letters[at + 1], letters[at]], &after[1..]].concat().into_iter().collect(),
    };
    [before, &middle, after].concat().into_iter().collect()
}

/// "Straw." for "Strawberry".
pub(super) fn cut(draw: &mut Draw, word: &str) -> String {
    let stem: String = word.chars().take(draw.between(STEM, STEM + 1) as usize).collect();
    stem + "."
}

/// "Strwbrry" for "Strawberry".
pub(super) fn without_vowels(word: &str) -> String {
    let is_kept = |(at, letter): &(usize, char)| *at == 0 || !"aeiouAEIOU".contains(*letter);
    word.chars().enumerate().filter(is_kept).map(|(_, letter)| letter).collect()
}

/// Plain letters for those with accents; no apostrophes.
pub(super) fn plain(word: &str) -> String {
    word.chars().filter(|letter| *letter != '\'').map(without_accent).collect()
}

/// Number of letters by which a written word differs from a true one, both folded; an abbreviation counts as none.
/// None: nobody recognises it.
pub(super) fn doubt(written: &str, word: &str) -> Option<usize> {
    if written == word || is_short_for(written, word) {
        return Some(0);
    }
    // a wrong letter is one that went and one that came: most words are told apart without counting further
    if (letters(written) ^ letters(word)).count_ones() as usize > 2 * READABLE {
        return None;
    }
    Some(distance(written, word)).filter(|letters| *letters <= READABLE)
}

pub(super) fn folded(word: &str) -> String {
    plain(word).to_lowercase()
}

/// A bit for each letter that occurs.
fn letters(word: &str) -> u32 {
    word.bytes().fold(0, |bits, letter| bits | 1 << (letter & 31))
}

fn is_short_for(written: &str, word: &str) -> bool {
    match written.strip_suffix('.') {
        Some(stem) => word.starts_with(stem),
        None => written == without_vowels(word),
    }
}

fn without_accent(letter: char) -> char {
    match letter {
        'è' | 'é' => 'e',
        'ñ' => 'n',
        'ç' => 'c',
        'í' => 'i',
        'ó' => 'o',
        'á' => 'a',
        other => other,
    }
}

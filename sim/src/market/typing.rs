//! Mistakes of people who type, and their abbreviations.

use crate::draw::Draw;

/// The text with a letter or two wrong, missing, doubled or swapped; the first letters of words stay.
pub(super) fn mistake(draw: &mut Draw, text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let times = if draw.percent(25) { 2 } else { 1 };
    for _ in 0..times {
        let inner: Vec<usize> = (1..letters.len().saturating_sub(1))
            .filter(|at| letters[*at].is_alphabetic() && letters[at - 1].is_alphabetic())
            .collect();
        if inner.len() < 3 {
            break;
        }
        let at = *draw.pick(&inner);
        match draw.below(4) {
            0 if letters[at + 1].is_alphabetic() => letters.swap(at, at + 1),
            1 => letters.insert(at, letters[at]),
            2 => drop(letters.remove(at)),
            _ => letters[at] = char::from(b'a' + draw.below(26) as u8),
        }
    }
    letters.into_iter().collect()
}

/// The text with its longest word cut, or without its vowels.
pub(super) fn abbreviated(draw: &mut Draw, text: &str) -> String {
    let Some(word) = text.split(' ').max_by_key(|word| word.chars().count()).filter(|word| word.chars().count() >= 6)
    else {
        return text.to_owned();
    };
    let short: String = if draw.percent(50) {
        word.chars().take(4).chain(['.']).collect()
    } else {
        let is_kept = |(at, letter): &(usize, char)| *at == 0 || !matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u');
        word.chars().enumerate().filter(is_kept).map(|(_, letter)| letter).collect()
    };
    text.replacen(word, &short, 1)
}

/// The text with the beginning of each word in capitals, all in capitals, or all small.
pub(super) fn case(draw: &mut Draw, text: String) -> String {
    match draw.below(100) {
        0..6 => text.to_uppercase(),
        6..10 => text.to_lowercase(),
        _ => text,
    }
}

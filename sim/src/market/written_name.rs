//! `WrittenName`: the words of a product's name as one listing writes them.
//!
//! In: a true name. Out: its words, some of them misspelt, abbreviated or left out.

use super::names::{Name, Number};
use super::typing;
use crate::draw::Draw;

const MISSPELT_PERCENT: u64 = 6;
const CUT_PERCENT: u64 = 3;
const VOWELS_PERCENT: u64 = 3;
const DROPPED_WORD_PERCENT: u64 = 4;
const DROPPED_NUMBER_PERCENT: u64 = 2;
const GLUED_PERCENT: u64 = 1;

#[derive(Clone, Debug)]
pub(super) struct WrittenName {
    /// One for each true word; None = left out.
    pub(super) words: Vec<Option<String>>,
    pub(super) number: Option<Number>,
    cross: Option<usize>,
    is_glued: bool,
}

impl WrittenName {
    pub(super) fn right(name: &Name) -> WrittenName {
        WrittenName {
            words: name.words.iter().map(|word| Some((*word).to_owned())).collect(),
            number: name.number,
            cross: name.cross,
            is_glued: false,
        }
    }

    pub(super) fn of(draw: &mut Draw, name: &Name) -> WrittenName {
        let mut written = WrittenName::right(name);
        for word in written.words.iter_mut().flatten() {
            if draw.percent(50) {
                *word = typing::plain(word);
            }
        }
        if draw.percent(MISSPELT_PERCENT) {
            written.misspell(draw);
        } else if draw.percent(CUT_PERCENT) {
            written.change_long_word(8, |word| typing::cut(draw, word));
        } else if draw.percent(VOWELS_PERCENT) {
            written.change_long_word(7, typing::without_vowels);
        }
        if name.words.len() == 3 && draw.percent(DROPPED_WORD_PERCENT) {
            written.words[1 + draw.below(2) as usize] = None;
        }
        if draw.percent(DROPPED_NUMBER_PERCENT) {
            written.number = None;
        }
        written.is_glued = name.cross.is_none() && draw.percent(GLUED_PERCENT);
        written
    }

    pub(super) fn text(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (at, word) in self.words.iter().enumerate() {
            if self.cross == Some(at) {
                parts.push("x".to_owned());
            }
            parts.extend(word.clone());
        }
        let mut text = parts.join(if self.is_glued { "" } else { " " });
        if let Some(Number { value, has_sign }) = self.number {
            text.push_str(&format!(" {}{value}", if has_sign { "#" } else { "" }));
        }
        text
    }

    fn misspell(&mut self, draw: &mut Draw) {
        let times = if draw.percent(25) { 2 } else { 1 };
        for _ in 0..times {
            let at = draw.below(self.words.len() as u64) as usize;
            self.words[at] = self.words[at].as_deref().map(|word| typing::misspelt(draw, word));
        }
    }

    fn change_long_word(&mut self, letters: usize, change: impl FnOnce(&str) -> String) {
        let is_long = |word: &&mut String| word.chars().count() >= letters;
        if let Some(word) = self.words.iter_mut().flatten().find(is_long) {
            *word = change(word);
        }
    }
}

//! Phrases: the words of a name with their meanings. In: tokens. Out: words, phrases that the lexicon knows, and numbers; abbreviations are
//! written out, and misspelt words of the lexicon are corrected.

use super::lexicon::{Lexicon, MAX_PHRASE, Meaning};
use super::tokens::{Kind, Token};
use super::words::Vocabulary;

pub(super) struct Phrase {
    /// Letters without the blanks between them.
    pub text: String,
    pub is_number: bool,
    pub meaning: Option<Meaning>,
}

pub(super) fn phrases(tokens: Vec<Token>, lexicon: &Lexicon, vocabulary: &mut Vocabulary) -> Vec<Phrase> {
    let mut texts: Vec<(String, bool)> = Vec::with_capacity(tokens.len());
    for token in tokens.into_iter().filter(|token| token.kind != Kind::Percent) {
        match lexicon.written_out(&token.text) {
            Some(words) => texts.extend(words.iter().map(|word| (word.clone(), false))),
            None => texts.push((token.text, token.kind != Kind::Word)),
        }
    }
    let mut phrases = Vec::with_capacity(texts.len());
    let mut rest = texts.as_slice();
    while let Some((text, is_number)) = rest.first() {
        let (length, phrase) = match known(rest, lexicon) {
            Some((length, text, meaning)) => (length, Phrase { text, is_number: false, meaning: Some(meaning) }),
            None if *is_number => (1, Phrase { text: text.clone(), is_number: true, meaning: None }),
            None => (1, vocabulary.corrected(text, lexicon)),
        };
        phrases.push(phrase);
        rest = &rest[length..];
    }
    phrases
}

/// The longest phrase of the lexicon that the texts begin with, and its number of texts.
fn known(texts: &[(String, bool)], lexicon: &Lexicon) -> Option<(usize, String, Meaning)> {
    (1..=MAX_PHRASE.min(texts.len())).rev().find_map(|length| {
        let joined: String = texts[..length].iter().map(|(text, _)| text.as_str()).collect();
        lexicon.meaning(&joined).map(|meaning| (length, joined, meaning))
    })
}

//! `Vocabulary`: the words of all names, each once. In: words. Out: small numbers for them, what a misspelt one means, and how much a word
//! says of a product.

use std::collections::HashMap;

use super::lexicon::{Lexicon, Meaning};
use super::phrases::Phrase;

/// Weight of a word that a name of its own has, and that of one which every name has.
const RAREST: f32 = 7.0;
const COMMONEST: f32 = 0.5;

/// Number of a word in a vocabulary.
pub(super) type WordId = u32;

#[derive(Clone, Debug)]
pub(super) struct Word {
    pub text: String,
    pub meaning: Option<Meaning>,
    /// Names that have it.
    pub names: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Vocabulary {
    words: Vec<Word>,
    ids: HashMap<String, WordId>,
    /// Words that are no words of the lexicon, each with the one that is meant.
    corrections: HashMap<String, Option<(String, Meaning)>>,
}

impl Vocabulary {
    pub fn id(&mut self, text: &str, lexicon: &Lexicon) -> WordId {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = self.words.len() as WordId;
        self.words.push(Word { text: text.to_owned(), meaning: lexicon.meaning(text), names: 0 });
        self.ids.insert(text.to_owned(), id);
        id
    }

    /// The word, or the one of the lexicon that is meant. The lexicon is searched once for a word: that takes its time.
    pub fn corrected(&mut self, word: &str, lexicon: &Lexicon) -> Phrase {
        if !self.corrections.contains_key(word) {
            let meant = lexicon.misspelt(word).map(|(known, meaning)| (known.to_owned(), meaning));
            self.corrections.insert(word.to_owned(), meant);
        }
        let (text, meaning) = match self.corrections.get(word) {
            Some(Some((known, meaning))) => (known.as_str(), Some(*meaning)),
            _ => (word, None),
        };
        Phrase { text: text.to_owned(), is_number: false, meaning }
    }

    /// Counts a name that has the word.
    pub fn count(&mut self, id: WordId) {
        self.words[id as usize].names += 1;
    }

    pub fn word(&self, id: WordId) -> &Word {
        &self.words[id as usize]
    }

    pub fn text(&self, id: WordId) -> &str {
        &self.word(id).text
    }

    /// How much the word says, where there are this number of names.
    pub fn weight(&self, id: WordId, names: u32) -> f32 {
        let share = names.max(1) as f32 / self.word(id).names.max(1) as f32;
        share.log2().clamp(COMMONEST, RAREST)
    }
}

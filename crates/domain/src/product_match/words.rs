//! `Vocabulary`: the words of all names, each once. In: words. Out: small numbers for them, and how much a word says of a product.

use std::collections::HashMap;

use super::lexicon::{Lexicon, Meaning};

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

    pub fn count(&mut self, id: WordId, names: u32) {
        let word = &mut self.words[id as usize];
        word.names = word.names.saturating_add(names);
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

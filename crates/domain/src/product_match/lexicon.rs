//! `Lexicon`: the meaning of words that occur in names of many products. In: the lists of the rules. Out: the meaning of a word or of a
//! phrase, and of a long word with one wrong letter.

use std::collections::HashMap;

use super::rules::{Table, joined};

/// Maximum number of forms, and of materials: one bit each.
const MAX_FACETS: usize = 32;
/// Minimum number of letters of a word that is known with a wrong one.
const MIN_MISSPELT: usize = 6;
/// Minimum number of letters of a word that is known without its vowels.
const MIN_CONSONANTS: usize = 4;
/// Maximum number of words of a phrase.
pub(super) const MAX_PHRASE: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The bit of a form.
    Form(u32),
    /// The bit of a material.
    Material(u32),
    Version,
    Strain(Strain),
    Ignored,
}

/// Type of a strain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Strain {
    Indica,
    Sativa,
    Hybrid,
    IndicaHybrid,
    SativaHybrid,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Lexicon {
    meanings: HashMap<String, Meaning>,
    /// Names of the forms, and their categories, in the order of their bits.
    forms: Vec<(String, String)>,
    /// Bits of the forms whose words are flavours, too.
    flavours: u32,
    materials: Vec<String>,
    abbreviations: HashMap<String, Vec<String>>,
    /// Words that may be misspelt, by their number of letters.
    by_length: HashMap<usize, Vec<String>>,
    /// Words by their letters without vowels.
    without_vowels: HashMap<String, String>,
}

/// Strain types as names and platforms write them.
const STRAINS: [(&str, Strain); 18] = [
    ("indica", Strain::Indica),
    ("i", Strain::Indica),
    ("ind", Strain::Indica),
    ("sativa", Strain::Sativa),
    ("s", Strain::Sativa),
    ("sat", Strain::Sativa),
    ("hybrid", Strain::Hybrid),
    ("h", Strain::Hybrid),
    ("hyb", Strain::Hybrid),
    ("indicahybrid", Strain::IndicaHybrid),
    ("indicadominant", Strain::IndicaHybrid),
    ("indicadom", Strain::IndicaHybrid),
    ("ih", Strain::IndicaHybrid),
    ("indicadominanthybrid", Strain::IndicaHybrid),
    ("sativahybrid", Strain::SativaHybrid),
    ("sativadominant", Strain::SativaHybrid),
    ("sativadom", Strain::SativaHybrid),
    ("sh", Strain::SativaHybrid),
];

impl Strain {
    /// Returns the type that a word stands for, if it stands for one.
    pub fn read(text: &str) -> Option<Strain> {
        let text = joined(text);
        STRAINS.iter().find(|(word, _)| *word == text).map(|(_, strain)| *strain)
    }

    /// Whether one product may be called both: shops disagree on hybrids.
    pub fn may_be(self, other: Strain) -> bool {
        use Strain::{Indica, IndicaHybrid, Sativa, SativaHybrid};
        let leans_to_indica = |strain| matches!(strain, Indica | IndicaHybrid);
        let leans_to_sativa = |strain| matches!(strain, Sativa | SativaHybrid);
        !(leans_to_indica(self) && leans_to_sativa(other) || leans_to_sativa(self) && leans_to_indica(other))
    }
}

impl Lexicon {
    /// Returns the lexicon with the faults of its lists.
    pub fn new(table: &Table) -> (Lexicon, Vec<String>) {
        let mut lexicon = Lexicon::default();
        let mut faults = Vec::new();
        for (list, length) in [("forms", table.forms.len()), ("materials", table.materials.len())] {
            if length > MAX_FACETS {
                faults.push(format!("{length} {list}; at most {MAX_FACETS} can be told apart"));
            }
        }
        STRAINS.iter().for_each(|(word, strain)| lexicon.add("strains", word, Meaning::Strain(*strain), &mut faults));
        for (at, (name, form)) in table.forms.iter().enumerate().take(MAX_FACETS) {
            lexicon.forms.push((name.clone(), form.category.clone()));
            lexicon.flavours |= if form.is_flavour { 1 << at } else { 0 };
            form.words.iter().for_each(|word| lexicon.add(name, word, Meaning::Form(1 << at), &mut faults));
        }
        for (at, (name, words)) in table.materials.iter().enumerate().take(MAX_FACETS) {
            lexicon.materials.push(name.clone());
            words.iter().for_each(|word| lexicon.add(name, word, Meaning::Material(1 << at), &mut faults));
        }
        table.versions.words.iter().for_each(|word| lexicon.add("versions", word, Meaning::Version, &mut faults));
        table.ignored.words.iter().for_each(|word| lexicon.add("ignored", word, Meaning::Ignored, &mut faults));
        let abbreviations = table.abbreviations.iter();
        lexicon.abbreviations = abbreviations.map(|(word, meant)| (joined(word), split(meant))).collect();
        for word in lexicon.meanings.keys().filter(|word| word.chars().count() >= MIN_MISSPELT) {
            lexicon.by_length.entry(word.chars().count()).or_default().push(word.clone());
        }
        lexicon.by_length.values_mut().for_each(|words| words.sort_unstable());
        let mut long: Vec<&String> = lexicon.by_length.values().flatten().collect();
        long.sort_unstable();
        lexicon.without_vowels = long.into_iter().map(|word| (consonants(word), word.clone())).collect();
        lexicon.without_vowels.retain(|consonants, _| consonants.chars().count() >= MIN_CONSONANTS);
        (lexicon, faults)
    }

    fn add(&mut self, list: &str, phrase: &str, meaning: Meaning, faults: &mut Vec<String>) {
        let key = joined(phrase);
        if key.is_empty() || split(phrase).len() > MAX_PHRASE {
            faults.push(format!("{list}: '{phrase}' has no letters, or more than {MAX_PHRASE} words"));
            return;
        }
        if self.meanings.insert(key, meaning).is_some_and(|before| before != meaning) {
            faults.push(format!("{list}: '{phrase}' is in another list, too: remove it from one of them"));
        }
    }

    /// The meaning of words without the blanks between them.
    pub fn meaning(&self, joined: &str) -> Option<Meaning> {
        self.meanings.get(joined).copied()
    }

    /// The known word that a word is, but for one letter that is wrong, missing, added or swapped with its neighbour.
    pub fn misspelt(&self, word: &str) -> Option<(&str, Meaning)> {
        let length = word.chars().count();
        if let Some(found) = self.without_vowels.get(word) {
            return self.meaning(found).map(|meaning| (found.as_str(), meaning));
        }
        if length < MIN_MISSPELT - 1 {
            return None;
        }
        let near = [length, length + 1, length - 1].into_iter().filter_map(|length| self.by_length.get(&length));
        let found = near.flatten().find(|known| strsim::osa_distance(known, word) == 1)?;
        self.meaning(found).map(|meaning| (found.as_str(), meaning))
    }

    /// The words that a word stands for.
    pub fn written_out(&self, word: &str) -> Option<&[String]> {
        self.abbreviations.get(word).map(Vec::as_slice)
    }

    /// The category of the first form of a set.
    pub fn category(&self, forms: u32) -> Option<&str> {
        self.forms.get(forms.trailing_zeros() as usize).map(|(_, category)| category.as_str())
    }

    /// The forms of a set that no flavour names.
    pub fn without_flavours(&self, forms: u32) -> u32 {
        forms & !self.flavours
    }

    pub fn form_names(&self, forms: u32) -> Vec<&str> {
        named(forms, self.forms.iter().map(|(name, _)| name.as_str()))
    }

    pub fn material_names(&self, materials: u32) -> Vec<&str> {
        named(materials, self.materials.iter().map(String::as_str))
    }
}

fn named<'n>(set: u32, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    names.enumerate().filter(|(at, _)| set & (1 << at) != 0).map(|(_, name)| name).collect()
}

/// The letters without vowels, but for the first.
fn consonants(word: &str) -> String {
    let is_kept = |(at, letter): &(usize, char)| *at == 0 || !matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u');
    word.chars().enumerate().filter(is_kept).map(|(_, letter)| letter).collect()
}

fn split(phrase: &str) -> Vec<String> {
    crate::text::words(&crate::text::folded(phrase)).map(str::to_owned).collect()
}

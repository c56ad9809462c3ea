//! `nearest`: the known name that was most likely meant. Pure.

/// A name that differs by more edits from every known one is not a misspelling.
const MAX_EDITS: usize = 3;

/// The one of `known` that `name` is nearest to; of equally near ones the first in the alphabet.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a String>) -> Option<&'a str> {
    let near = known.into_iter().map(|known| (strsim::levenshtein(name, known), known.as_str()));
    near.filter(|(edits, _)| *edits <= MAX_EDITS).min().map(|(_, known)| known)
}

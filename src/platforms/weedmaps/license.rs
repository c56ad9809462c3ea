//! The words for the licenses of stores and items, and the menus that a license lets them have.

use crate::platforms::offer::Menus;
use domain::switches::word;

const WORDS: [(&str, Menus); 3] =
    [("recreational", Menus::RECREATIONAL), ("medical", Menus::MEDICAL), ("hybrid", Menus::BOTH)];

/// None: the word is unknown.
pub fn menus(license: &str) -> Option<Menus> {
    word(license, &WORDS)
}

//! `License`: whom a store or an item may be sold by and to: everyone, patients, or both.

use domain::switches::word;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct License {
    pub is_recreational: bool,
    pub is_medical: bool,
}

const RECREATIONAL: License = License { is_recreational: true, is_medical: false };
const MEDICAL: License = License { is_recreational: false, is_medical: true };
const BOTH: License = License { is_recreational: true, is_medical: true };

const WORDS: [(&str, License); 3] = [("recreational", RECREATIONAL), ("medical", MEDICAL), ("hybrid", BOTH)];

impl License {
    /// None: the word is unknown.
    pub fn read(written: &str) -> Option<License> {
        word(written, &WORDS)
    }
}

/// The license of an item that names none.
impl Default for License {
    fn default() -> Self {
        BOTH
    }
}

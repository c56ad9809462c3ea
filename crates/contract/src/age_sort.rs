//! `AgeSort`: the order of a list by the age of its rows, which an index serves however long the list is.

use domain::vocabulary::vocabulary;

vocabulary! {
    /// The newest rows first, or the oldest.
    #[derive(Default)]
    pub enum AgeSort {
        #[default]
        Newest,
        Oldest,
    }
}

impl AgeSort {
    pub fn is_default(&self) -> bool {
        *self == AgeSort::default()
    }
}

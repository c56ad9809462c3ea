//! Kinds of faults that a store's data may have.

use crate::vocabulary::vocabulary;

vocabulary! {
    pub enum QualityKind {
        /// No whole crawl for three intervals of the schedule that crawls it.
        BlindStore,
        /// Its latest menus were so much smaller than the one before that they are not believed yet.
        HalvedMenu,
        /// More than a fifth of at least 20 products of its latest refresh have no price.
        EmptyPrices,
        /// Its latest refresh met keys of upstream that this program does not know.
        UnknownKeys,
        /// The latest answer would close it among most stores of its state, or put most of its products out of stock, and is not
        /// believed yet.
        SuspiciousSwitch,
        /// Upstream uses words for its state, or for its products' states and units, that this program does not know.
        UnknownWords,
    }
}

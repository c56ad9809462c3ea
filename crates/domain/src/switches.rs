//! `Switches`: what one answer of upstream would switch off, and whether it is believed at once. `word`: a word of
//! upstream's vocabulary.
//!
//! Pure. In: the number of things that an answer covers, and the number that it would switch. Out: a judgement. One word of
//! upstream's must not close every store or sell out a menu: a mass change is suspicious, and an unknown word changes
//! nothing. It must not know where several agreeing answers are remembered.

use super::vocabulary::vocabulary;

vocabulary! {
    /// Kind of the things that an answer would switch.
    pub enum SwitchKind {
        /// Stores of a state that would close or vanish.
        Stores,
        /// Products of a store that would go out of stock, or that a menu of about as many others lacks.
        Products,
    }
}

impl SwitchKind {
    /// Minimum number for a suspicion: fewer may all switch at once.
    fn least(self) -> usize {
        match self {
            SwitchKind::Stores => 3,
            SwitchKind::Products => 10,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches {
    pub kind: SwitchKind,
    pub covered: usize,
    pub switched: usize,
}

impl Switches {
    /// Whether more than half of all that the answer covers would switch at once.
    pub fn is_suspicious(&self) -> bool {
        self.covered >= self.kind.least() && 2 * self.switched > self.covered
    }
}

/// The value of the word that upstream wrote, whatever its case and the blanks around it. None = unknown.
pub fn word<T: Copy>(written: &str, known: &[(&str, T)]) -> Option<T> {
    let written = written.trim();
    known.iter().find(|(word, _)| word.eq_ignore_ascii_case(written)).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::two_stores_of_two(SwitchKind::Stores, 2, 2, false)]
    #[case::all_of_three_stores(SwitchKind::Stores, 3, 3, true)]
    #[case::two_of_three_stores(SwitchKind::Stores, 3, 2, true)]
    #[case::half_of_four_stores(SwitchKind::Stores, 4, 2, false)]
    #[case::all_of_nine_products(SwitchKind::Products, 9, 9, false)]
    #[case::six_of_ten_products(SwitchKind::Products, 10, 6, true)]
    #[case::half_of_ten_products(SwitchKind::Products, 10, 5, false)]
    #[case::none(SwitchKind::Products, 1000, 0, false)]
    fn more_than_half_at_once_is_suspicious(
        #[case] kind: SwitchKind,
        #[case] covered: usize,
        #[case] switched: usize,
        #[case] is_suspicious: bool,
    ) {
        assert_eq!(Switches { kind, covered, switched }.is_suspicious(), is_suspicious);
    }

    #[rstest]
    #[case::as_it_is_known("open", Some(true))]
    #[case::capitals("OPEN", Some(true))]
    #[case::blanks(" Closed\t", Some(false))]
    #[case::another_word("ouvert", None)]
    #[case::a_part("op", None)]
    #[case::nothing("", None)]
    fn words_are_read_without_case_and_blanks(#[case] written: &str, #[case] value: Option<bool>) {
        assert_eq!(word(written, &[("open", true), ("closed", false)]), value);
    }

    proptest! {
        #[test]
        fn what_is_accepted_at_once_never_loses_more_than_half_of_many(covered in 0usize..500, flips in prop::collection::vec(any::<bool>(), 500)) {
            for kind in [SwitchKind::Stores, SwitchKind::Products] {
                let switched = flips[..covered].iter().filter(|flip| **flip).count();
                let switches = Switches { kind, covered, switched };
                prop_assert!(switches.is_suspicious() || covered < kind.least() || covered - switched >= switched);
            }
        }
    }
}

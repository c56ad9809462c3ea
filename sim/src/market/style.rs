//! `Style`: how a store, or all stores of a chain, write products; and the single deviations of a listing from it.
//!
//! In: numbers of a draw. Out: a style. Knows no product.

use Slot::{Amounts, Brand, Form, Strain, Title};

use crate::draw::Draw;

/// Chance that a listing has a certain trait otherwise than its store.
const DEVIATION_PERCENT: u64 = 5;
const SEPARATORS: [&str; 7] = [" | ", " - ", ": ", " · ", ", ", " – ", " "];
const BRACKETS: [Option<[&str; 2]>; 4] = [None, None, Some(["[", "]"]), Some(["(", ")"])];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Brand,
    Title,
    Form,
    Amounts,
    Strain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Case {
    AsIs,
    Upper,
    Lower,
}

#[derive(Clone, Debug)]
pub(super) struct Style {
    pub(super) order: &'static [Slot; 5],
    pub(super) separator: &'static str,
    /// The separator stands between all parts of a name, not only beside the brand and the amounts.
    pub(super) is_wide: bool,
    pub(super) case: Case,
    pub(super) brackets: Option<[&'static str; 2]>,
    pub(super) brand: BrandStyle,
    /// Percent of the listings whose name has …
    pub(super) brand_in_name: u64,
    pub(super) form_in_name: u64,
    pub(super) amounts_in_name: u64,
    pub(super) strain_in_name: u64,
    /// Percent of the listings with a subcategory.
    pub(super) subcategory: u64,
    /// "(H)", not "Hybrid".
    pub(super) has_short_strains: bool,
    /// Spellings of `amounts`.
    pub(super) mass: u64,
    pub(super) pack: u64,
    pub(super) dose: u64,
    /// Doses in the THC field are those of a piece.
    pub(super) states_thc_per_piece: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct BrandStyle {
    pub(super) drops_end: bool,
    pub(super) has_and: bool,
    pub(super) case: Case,
}

const ORDERS: [[Slot; 5]; 7] = [
    [Brand, Title, Form, Amounts, Strain],
    [Brand, Title, Form, Strain, Amounts],
    [Brand, Form, Title, Strain, Amounts],
    [Title, Form, Amounts, Strain, Brand],
    [Title, Strain, Form, Amounts, Brand],
    [Brand, Amounts, Title, Form, Strain],
    [Brand, Form, Amounts, Title, Strain],
];

impl Style {
    pub(super) fn of(draw: &mut Draw) -> Style {
        Style {
            order: order(draw),
            separator: draw.pick::<&str>(&SEPARATORS),
            is_wide: draw.percent(35),
            case: case(draw),
            brackets: *draw.pick(&BRACKETS),
            brand: BrandStyle { drops_end: draw.percent(15), has_and: draw.percent(12), case: case(draw) },
            brand_in_name: *draw.pick(&[2, 10, 30, 60, 92]),
            form_in_name: *draw.pick(&[45, 70, 85, 95]),
            amounts_in_name: *draw.pick(&[25, 50, 75, 95]),
            strain_in_name: *draw.pick(&[0, 1, 5, 60]),
            subcategory: *draw.pick(&[20, 60, 85, 95]),
            has_short_strains: draw.percent(50),
            mass: draw.below(6),
            pack: draw.below(5),
            dose: draw.below(4),
            states_thc_per_piece: draw.percent(12),
        }
    }

    pub(super) fn deviate(&mut self, draw: &mut Draw) {
        let mut deviates = || draw.percent(DEVIATION_PERCENT);
        let deviations = [deviates(), deviates(), deviates(), deviates(), deviates()];
        let other = Style::of(draw);
        if deviations[0] {
            self.order = other.order;
        }
        if deviations[1] {
            (self.separator, self.is_wide) = (other.separator, other.is_wide);
        }
        if deviations[2] {
            self.case = other.case;
        }
        if deviations[3] {
            self.brand = other.brand;
        }
        if deviations[4] {
            (self.mass, self.pack, self.dose, self.brackets) = (other.mass, other.pack, other.dose, other.brackets);
        }
    }
}

impl Case {
    pub(super) fn apply(self, text: String) -> String {
        match self {
            Case::AsIs => text,
            Case::Upper => text.to_uppercase(),
            Case::Lower => text.to_lowercase(),
        }
    }
}

fn order(draw: &mut Draw) -> &'static [Slot; 5] {
    &ORDERS[draw.below(ORDERS.len() as u64) as usize]
}

fn case(draw: &mut Draw) -> Case {
    match draw.below(100) {
        0..82 => Case::AsIs,
        82..95 => Case::Upper,
        _ => Case::Lower,
    }
}

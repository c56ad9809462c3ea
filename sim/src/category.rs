//! The goods, by kind: subcategories, the option labels a product may come in, and the price of one unit. `odd` has
//! goods that are hard to compare.

use crate::size::NamedSize;

pub(crate) struct Category {
    pub(crate) name: &'static str,
    /// "" and null both occur upstream; none = null.
    pub(crate) subcategories: &'static [Option<&'static str>],
    /// Each list is the `Options` of a product; labels may repeat within one. `size` reads them.
    pub(crate) options: &'static [&'static [&'static str]],
    /// Cents of the first option; the next ones cost more.
    pub(crate) cents: (u64, u64),
    /// Unit of its potency.
    pub(crate) potency: Potency,
    pub(crate) measure: Measure,
    /// The greatest strength in that unit; None = a plausible one.
    pub(crate) full_strength: Option<f64>,
    /// Ends of names, of which a product has one.
    pub(crate) names: &'static [NamedSize],
}

/// The amount by which goods are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Measure {
    Mass,
    /// Goods that are dosed.
    Thc,
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Potency {
    Percentage,
    Milligrams,
    MilligramsPerGram,
    Nothing,
}

/// The base of kinds that are compared by mass.
pub(crate) const WEIGHED: Category = Category {
    name: "",
    subcategories: &[None],
    options: &[],
    cents: (0, 0),
    potency: Potency::Percentage,
    measure: Measure::Mass,
    full_strength: None,
    names: &[],
};
/// The base of kinds that are compared by THC.
pub(crate) const DOSED: Category = Category { potency: Potency::Milligrams, measure: Measure::Thc, ..WEIGHED };
/// The base of kinds that are not compared.
pub(crate) const UNMEASURED: Category = Category { potency: Potency::Nothing, measure: Measure::Nothing, ..WEIGHED };

pub(crate) static CATEGORIES: &[Category] = &[
    Category {
        name: "Flower",
        subcategories: &[Some("whole-flower"), Some("small-buds"), Some(""), None],
        options: &[&["1/8oz"], &["1/8oz", "1/4oz", "1/2oz", "1oz"], &["1g", "1/8oz"], &["28.3g"], &["1g", "1g"]],
        cents: (1500, 5500),
        ..WEIGHED
    },
    Category {
        name: "Vaporizers",
        subcategories: &[Some("cartridges"), Some("disposables"), None],
        options: &[&[".5g"], &["1g"], &[".5g", "1g"]],
        cents: (2000, 7000),
        ..WEIGHED
    },
    Category {
        name: "Concentrate",
        subcategories: &[Some("sugar"), Some("badder"), Some("live-resin")],
        options: &[&["1gC"], &["2gC"], &["1gC", "2gC"]],
        cents: (2500, 6500),
        ..WEIGHED
    },
    Category {
        name: "Edible",
        subcategories: &[Some("gummies"), Some("chocolates"), None],
        options: &[&["100mg"], &["10pk"], &["N/A"]],
        cents: (500, 3500),
        ..DOSED
    },
    Category {
        name: "Pre-Rolls",
        subcategories: &[Some("singles"), Some("infused-pre-rolls"), Some("")],
        options: &[&["1g"], &["0.5g", "1g"], &["5pk"]],
        cents: (600, 4000),
        ..WEIGHED
    },
    Category {
        name: "Tincture",
        subcategories: &[None],
        options: &[&["30mL"], &["15mL", "30mL"]],
        cents: (2000, 6000),
        potency: Potency::MilligramsPerGram,
        ..DOSED
    },
    Category {
        name: "Accessories",
        subcategories: &[Some("batteries"), None],
        options: &[&["N/A"]],
        cents: (300, 12_000),
        ..UNMEASURED
    },
];

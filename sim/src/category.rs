//! The goods, by kind: subcategories, the option labels a product may come in, and the price of one unit.

pub(crate) struct Category {
    pub(crate) name: &'static str,
    /// "" and null both occur upstream; none = null.
    pub(crate) subcategories: &'static [Option<&'static str>],
    /// Each list is the `Options` of a product; labels may repeat within one. `size` reads them.
    pub(crate) options: &'static [&'static [&'static str]],
    /// Cents of the first option; the next ones cost more.
    pub(crate) cents: (u64, u64),
    pub(crate) potency: Potency,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Potency {
    Percentage,
    Milligrams,
    MilligramsPerGram,
    Nothing,
}

pub(crate) static CATEGORIES: &[Category] = &[
    Category {
        name: "Flower",
        subcategories: &[Some("whole-flower"), Some("small-buds"), Some(""), None],
        options: &[&["1/8oz"], &["1/8oz", "1/4oz", "1/2oz", "1oz"], &["1g", "1/8oz"], &["28.3g"], &["1g", "1g"]],
        cents: (1500, 5500),
        potency: Potency::Percentage,
    },
    Category {
        name: "Vaporizers",
        subcategories: &[Some("cartridges"), Some("disposables"), None],
        options: &[&[".5g"], &["1g"], &[".5g", "1g"]],
        cents: (2000, 7000),
        potency: Potency::Percentage,
    },
    Category {
        name: "Concentrate",
        subcategories: &[Some("sugar"), Some("badder"), Some("live-resin")],
        options: &[&["1gC"], &["2gC"], &["1gC", "2gC"]],
        cents: (2500, 6500),
        potency: Potency::Percentage,
    },
    Category {
        name: "Edible",
        subcategories: &[Some("gummies"), Some("chocolates"), None],
        options: &[&["100mg"], &["10pk"], &["N/A"]],
        cents: (500, 3500),
        potency: Potency::Milligrams,
    },
    Category {
        name: "Pre-Rolls",
        subcategories: &[Some("singles"), Some("infused-pre-rolls"), Some("")],
        options: &[&["1g"], &["0.5g", "1g"], &["5pk"]],
        cents: (600, 4000),
        potency: Potency::Percentage,
    },
    Category {
        name: "Tincture",
        subcategories: &[None],
        options: &[&["30mL"], &["15mL", "30mL"]],
        cents: (2000, 6000),
        potency: Potency::MilligramsPerGram,
    },
    Category {
        name: "Accessories",
        subcategories: &[Some("batteries"), None],
        options: &[&["N/A"]],
        cents: (300, 12_000),
        potency: Potency::Nothing,
    },
];

//! `Rules`: the weights and words by which products are compared. In: the table of `config/matching.toml`. Out: the same, checked.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::lexicon::Lexicon;
use crate::text::{folded, words};

/// Maximum number of bits of a weight: more of them decide no better.
const MAX_BITS: f64 = 50.0;

/// The table. Weights and limits are bits of evidence.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    pub version: u32,
    pub link: f64,
    pub review: f64,
    /// Categories where materials are what is sold; elsewhere they make a version.
    pub material_categories: Vec<String>,
    /// Categories whose goods are dosed: milligrams are their strength, not their size.
    pub dosed_categories: Vec<String>,
    pub weights: Weights,
    pub forms: BTreeMap<String, Form>,
    pub materials: BTreeMap<String, Vec<String>>,
    pub versions: Words,
    pub ignored: Words,
    /// Words that stand for others, such as `lr` for `live resin`.
    pub abbreviations: BTreeMap<String, String>,
    pub brands: BrandWords,
}

/// How a product is sold.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Form {
    /// The category of `config/categories.toml` that it belongs to, whatever the platform says.
    pub category: String,
    /// Its words are words of names, too.
    #[serde(default)]
    pub is_flavour: bool,
    pub words: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Words {
    pub words: Vec<String>,
}

/// Words of a maker's name that shops leave out.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrandWords {
    pub legal: Vec<String>,
    pub trade: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    pub brand: BrandWeights,
    pub category: CategoryWeights,
    pub name: NameWeights,
    pub number: SameOrMissing,
    pub size: SizeWeights,
    pub strength: Same,
    pub pack: SameOrMissing,
    pub form: Same,
    pub material: Same,
    pub strain: SameOrOther,
    pub potency: SameOrOther,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrandWeights {
    pub same: f64,
    pub unknown: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CategoryWeights {
    pub same: f64,
    /// Different ones, both of dosed goods.
    pub dosed: f64,
    pub other: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NameWeights {
    pub same: f64,
    pub close: f64,
    pub alike: f64,
    pub weak: f64,
    pub other: f64,
    pub none: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizeWeights {
    pub same: f64,
    pub shared: f64,
    pub other: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Same {
    pub same: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SameOrOther {
    pub same: f64,
    pub other: f64,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SameOrMissing {
    pub same: f64,
    pub missing: f64,
}

/// A checked table.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(super) table: Table,
    pub(super) lexicon: Lexicon,
}

impl Rules {
    /// Returns every fault of the table at once.
    pub fn new(table: Table) -> Result<Rules, Vec<String>> {
        let mut faults = Vec::new();
        let is_ordered = table.link.is_finite() && table.review.is_finite() && table.review <= table.link;
        if !is_ordered {
            faults.push(format!("review ({}) must not be greater than link ({})", table.review, table.link));
        }
        let odd = table.weights.all().into_iter().filter(|(_, bits)| bits.is_nan() || bits.abs() > MAX_BITS);
        faults.extend(odd.map(|(name, bits)| format!("weights.{name}: {bits} is not from -{MAX_BITS} to {MAX_BITS}")));
        let (lexicon, lexicon_faults) = Lexicon::new(&table);
        faults.extend(lexicon_faults);
        if faults.is_empty() { Ok(Rules { table, lexicon }) } else { Err(faults) }
    }

    /// Number that is raised with each change of the table.
    pub fn version(&self) -> u32 {
        self.table.version
    }

    /// Whether milligrams are the strength of the category's goods, not their size.
    pub(super) fn is_dosed(&self, category: &str) -> bool {
        self.table.dosed_categories.iter().any(|dosed| dosed == category)
    }

    /// Whether materials are what the category sells.
    pub(super) fn has_materials(&self, category: &str) -> bool {
        self.table.material_categories.iter().any(|known| known == category)
    }

    pub(super) fn weights(&self) -> &Weights {
        &self.table.weights
    }
}

impl Weights {
    fn all(&self) -> [(&'static str, f64); 25] {
        [
            ("brand.same", self.brand.same),
            ("brand.unknown", self.brand.unknown),
            ("category.same", self.category.same),
            ("category.dosed", self.category.dosed),
            ("category.other", self.category.other),
            ("name.same", self.name.same),
            ("name.close", self.name.close),
            ("name.alike", self.name.alike),
            ("name.weak", self.name.weak),
            ("name.other", self.name.other),
            ("name.none", self.name.none),
            ("number.same", self.number.same),
            ("number.missing", self.number.missing),
            ("size.same", self.size.same),
            ("size.shared", self.size.shared),
            ("size.other", self.size.other),
            ("strength.same", self.strength.same),
            ("pack.same", self.pack.same),
            ("pack.missing", self.pack.missing),
            ("form.same", self.form.same),
            ("material.same", self.material.same),
            ("strain.same", self.strain.same),
            ("strain.other", self.strain.other),
            ("potency.same", self.potency.same),
            ("potency.other", self.potency.other),
        ]
    }
}

/// The words of a phrase without blanks, as the lexicon has them.
pub(super) fn joined(phrase: &str) -> String {
    words(&folded(phrase)).collect()
}

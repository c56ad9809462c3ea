//! `Stated`: all that a listing says of its product, and whether a careful reader who has the catalogues can decide.
//!
//! In: facts that were written, the products of the maker. Out: decidable or not. The reader excludes products that
//! contradict a fact, takes the nearest name, and where several are left the one with the least that the listing does
//! not say: a listing without a version is of the product without one, and pre-rolls without a number are single. A dose
//! may be that of a piece or of the package, whatever the field.

use domain::store::Platform;

use super::amounts::Fact;
use super::catalogue::Product;
use super::kinds::{Family, Version};
use super::written_name::WrittenName;
use super::{platform_words, typing};

/// THC as stated is near the dose: batches vary, and rounding does.
const DOSE_TOLERANCE: f64 = 0.12;

pub(super) struct Stated<'a> {
    pub(super) platform: Platform,
    pub(super) has_brand: bool,
    pub(super) name: &'a WrittenName,
    /// Words of `name`, folded.
    pub(super) folded_words: Vec<String>,
    pub(super) version: Option<Version>,
    /// Index of the kind, where the name has a form of it.
    pub(super) kind: Option<usize>,
    /// None = it is wrong, which the form in the name shows.
    pub(super) family: Option<Family>,
    pub(super) subcategory: Option<&'static str>,
    pub(super) facts: Vec<Fact>,
    pub(super) thc_mg: Option<f64>,
}

/// Reasons against a product that does not contradict the listing; less is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Doubt {
    wrong_letters: usize,
    /// Number of its words, numbers and versions, and of packs of goods that are not dosed, that the listing lacks.
    unstated: usize,
}

impl Stated<'_> {
    /// Whether nothing else of the maker fits as well as the truth.
    pub(super) fn decides<'p>(&self, truth: &Product, mut of_maker: impl Iterator<Item = &'p Product>) -> bool {
        let Some(own) = self.doubt(truth).filter(|_| self.has_brand) else {
            return false;
        };
        of_maker.all(|other| std::ptr::eq(other, truth) || self.doubt(other).is_none_or(|doubt| own < doubt))
    }

    fn doubt(&self, product: &Product) -> Option<Doubt> {
        if !self.fits_goods(product) || !self.fits_amounts(product) || !self.fits_version(product) {
            return None;
        }
        let (wrong_letters, unstated_words) = self.name_doubt(product)?;
        let states_pack = product.pack == 1 || product.dose.is_some() || self.facts.iter().any(is_pack);
        let states_version = product.version.is_none() || self.version.is_some();
        let states_number = product.name.number.is_none() || self.name.number.is_some();
        let unstated = [states_pack, states_version, states_number].iter().filter(|states| !**states).count();
        Some(Doubt { wrong_letters, unstated: unstated + unstated_words })
    }

    fn fits_goods(&self, product: &Product) -> bool {
        let category = |family| platform_words::category(self.platform, family);
        self.kind.is_none_or(|kind| product.kind == kind)
            && self.family.is_none_or(|family| category(family) == category(product.family()))
            && self.subcategory.is_none_or(|subcategory| product.subcategory() == subcategory)
    }

    fn fits_amounts(&self, product: &Product) -> bool {
        let fits = |fact: &Fact| match *fact {
            Fact::Amount(amount) => product.has(amount),
            Fact::Pack(pack) => product.pack == pack,
        };
        let is_near = |thc: f64, mg: u32| (thc - f64::from(mg)).abs() <= DOSE_TOLERANCE * f64::from(mg);
        let fits_thc = match (self.thc_mg, product.dose) {
            (Some(thc), Some(each)) => is_near(thc, each) || is_near(thc, each * product.pack),
            _ => true,
        };
        fits_thc && self.facts.iter().all(fits)
    }

    fn fits_version(&self, product: &Product) -> bool {
        self.version.is_none_or(|version| product.version == Some(version))
    }

    /// Wrong letters and missing words, if each written word is one of the product's.
    fn name_doubt(&self, product: &Product) -> Option<(usize, usize)> {
        let number = self.name.number.map(|number| number.value);
        let own_number = product.name.number.map(|number| number.value);
        if number.is_some() && number != own_number {
            return None;
        }
        let mut left: Vec<&str> = product.folded_words.iter().map(String::as_str).collect();
        let mut wrong_letters = 0;
        for written in &self.folded_words {
            let doubts = left.iter().enumerate().filter_map(|(at, word)| Some((typing::doubt(written, word)?, at)));
            let (doubt, at) = doubts.min()?;
            wrong_letters += doubt;
            left.swap_remove(at);
        }
        Some((wrong_letters, left.len()))
    }
}

fn is_pack(fact: &Fact) -> bool {
    matches!(fact, Fact::Pack(_))
}

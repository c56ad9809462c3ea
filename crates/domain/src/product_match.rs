//! Products: which listings of all stores are one product. Pure.
//!
//! In: listings, brands with their spellings, the products that are known, and the rules of `config/matching.toml`. Out: the product of each
//! listing, with the evidence, and the listings that a person decides on. It must not know how a listing was found, nor where
//! products are kept.
//!
//! [`brands`] finds the makers first. Then each listing becomes a profile: its name without brand, amounts and words of no meaning, and the
//! facts that name, options and platform state. Equal profiles are decided on once. A product is compared with the listings that
//! share a block with it; the evidence is added up in bits, and a difference in brand, form, material, version, number, pack or
//! strength decides alone.

mod brand_index;
mod brand_name;
pub mod brands;
mod candidates;
mod comparison;
mod evidence;
mod groups;
mod lexicon;
mod likeness;
mod matcher;
mod phrases;
mod profile;
pub mod rules;
mod stated;
#[cfg(test)]
mod tests;
mod tokens;
mod words;

pub use brand_index::BrandIndex;
pub use evidence::Evidence;
pub use matcher::{Evident, Matcher, Matches, Product};

use crate::menu::product::{Potency, ProductId};
use crate::vocabulary::vocabulary;

pub type BrandId = i64;
pub type CanonicalProductId = i64;

vocabulary! {
    /// How a listing belongs to its product.
    pub enum LinkState {
        /// The evidence is sure.
        Linked,
        /// A product of its own, until a person decides whether it is another one.
        Review,
        /// A product of its own.
        Alone,
        /// A person said so.
        Pinned,
    }
}

/// A brand as a platform writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spelling {
    pub platform: String,
    pub name: String,
    /// The platform's id of the brand.
    pub brand_id: Option<String>,
    /// Number of listings with it.
    pub listings: u32,
}

/// A product of a store.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    pub id: ProductId,
    pub platform: String,
    pub name: String,
    /// The brand's name, as the platform writes it.
    pub brand: Option<String>,
    /// Name of a category of `config/categories.toml`.
    pub category: Option<String>,
    /// The platform's word.
    pub subcategory: Option<String>,
    /// The platform's word.
    pub strain_type: Option<String>,
    /// Labels of its options.
    pub options: Vec<String>,
    pub thc: Option<Potency>,
    /// Id of the product in all stores of a chain.
    pub enterprise_product_id: Option<String>,
    /// Product that it is linked to.
    pub product: Option<CanonicalProductId>,
    /// Whether a person said so.
    pub is_pinned: bool,
}

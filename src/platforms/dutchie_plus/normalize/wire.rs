//! Dutchie Plus' menu as it comes: every field is kept as raw JSON text.

use serde::Deserialize;

use crate::platforms::reading::Raw;
use crate::platforms::reading::first_of::FirstOf;

/// Maximum products of a menu: ten times the largest real one's.
pub const MAX_PRODUCTS: usize = 15_000;

/// A whole response body.
#[derive(Deserialize)]
pub struct Answer<'a> {
    #[serde(borrow)]
    pub data: Option<Data<'a>>,
    #[serde(borrow)]
    pub errors: Raw<'a>,
}

#[derive(Deserialize)]
pub struct Data<'a> {
    #[serde(borrow)]
    pub menu: Option<Menu<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Menu<'a> {
    #[serde(borrow)]
    pub products: Option<FirstOf<'a, MAX_PRODUCTS>>,
    /// Answered where the document asks for it.
    #[serde(borrow)]
    pub products_count: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct WireProduct<'a> {
    #[serde(borrow)]
    pub id: Raw<'a>,
    #[serde(borrow)]
    pub name: Raw<'a>,
    #[serde(borrow)]
    pub enterprise_product_id: Raw<'a>,
    #[serde(borrow)]
    pub brand: Raw<'a>,
    #[serde(borrow)]
    pub category: Raw<'a>,
    #[serde(borrow)]
    pub subcategory: Raw<'a>,
    #[serde(borrow)]
    pub strain_type: Raw<'a>,
    #[serde(borrow)]
    pub image: Raw<'a>,
    #[serde(borrow)]
    pub potency_thc: Raw<'a>,
    #[serde(borrow)]
    pub potency_cbd: Raw<'a>,
    #[serde(borrow)]
    pub variants: Raw<'a>,
}

/// `id` is `<product id>~<option>`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct WireVariant<'a> {
    #[serde(borrow)]
    pub id: Raw<'a>,
    #[serde(borrow)]
    pub option: Raw<'a>,
    #[serde(borrow)]
    pub price_rec: Raw<'a>,
    #[serde(borrow)]
    pub price_med: Raw<'a>,
    #[serde(borrow)]
    pub special_price_rec: Raw<'a>,
    #[serde(borrow)]
    pub special_price_med: Raw<'a>,
    #[serde(borrow)]
    pub quantity: Raw<'a>,
}

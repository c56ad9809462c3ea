//! Dutchie Plus' menu as it comes: every field is kept as raw JSON text.

use serde::Deserialize;

use crate::platforms::reading::Raw;
use crate::platforms::reading::first_of::FirstOf;

/// Maximum products of a menu: ten times the largest real one's.
pub const MAX_PRODUCTS: usize = 15_000;

/// A whole response body.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct Answer<'a> {
    pub data: Option<Data<'a>>,
    pub errors: Raw<'a>,
}

#[derive(Deserialize)]
pub struct Data<'a> {
    #[serde(borrow)]
    pub menu: Option<Menu<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct Menu<'a> {
    pub products: Option<FirstOf<'a, MAX_PRODUCTS>>,
    /// Answered where the document asks for it.
    pub products_count: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct WireProduct<'a> {
    pub id: Raw<'a>,
    pub name: Raw<'a>,
    pub enterprise_product_id: Raw<'a>,
    pub brand: Raw<'a>,
    pub category: Raw<'a>,
    pub subcategory: Raw<'a>,
    pub strain_type: Raw<'a>,
    pub image: Raw<'a>,
    pub potency_thc: Raw<'a>,
    pub potency_cbd: Raw<'a>,
    pub variants: Raw<'a>,
}

/// `id` is `<product id>~<option>`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct WireVariant<'a> {
    pub id: Raw<'a>,
    pub option: Raw<'a>,
    pub price_rec: Raw<'a>,
    pub price_med: Raw<'a>,
    pub special_price_rec: Raw<'a>,
    pub special_price_med: Raw<'a>,
    pub quantity: Raw<'a>,
}

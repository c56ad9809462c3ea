//! Dutchie Plus' menu as it comes: every field is kept as raw JSON text.

use serde::Deserialize;

use crate::platforms::reading::Raw;
use crate::platforms::reading::first_of::FirstOf;
use crate::platforms::reading::items::{WireItem, raw_object};

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

raw_object! {
    #[serde(rename_all = "camelCase")]
    WireProduct {
        id, name, enterprise_product_id, brand, category, subcategory, strain_type, image, potency_thc, potency_cbd, variants,
    }
}

impl<'a> WireItem<'a> for WireProduct<'a> {
    fn id(&self) -> Raw<'a> {
        self.id
    }

    fn name(&self) -> Raw<'a> {
        self.name
    }
}

raw_object! {
    /// `id` is `<product id>~<option>`.
    #[serde(rename_all = "camelCase")]
    WireVariant {
        id, option, price_rec, price_med, special_price_rec, special_price_med, quantity,
    }
}

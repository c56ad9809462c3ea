//! `WireProduct`: one element of a menu page, with each field that is read as raw JSON text.
//!
//! In: an element of `products`, whatever it is. Out: a product, or none if it is not an object. It must not
//! know what fields mean.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::platforms::reading::Raw;
use crate::platforms::reading::key::Key;

/// Maximum number of unknown keys that are kept of one product.
const MAX_UNKNOWN_KEYS_PER_PRODUCT: usize = 64;

/// The fields that are read, and the JSON keys they come from.
macro_rules! wire_product {
    ($($field:ident = $key:literal),* $(,)?) => {
        #[derive(Default)]
        pub struct WireProduct<'a> {
            $(pub $field: Raw<'a>,)*
            /// Keys that are neither read nor known to be there.
            pub unknown: Vec<Cow<'a, str>>,
        }

        impl<'a> WireProduct<'a> {
            #[cfg(test)]
            pub const KEYS: [&'static str; [$($key),*].len()] = [$($key),*];

            fn field(&mut self, key: &[u8]) -> Option<&mut Raw<'a>> {
                $(if key == $key.as_bytes() {
                    return Some(&mut self.$field);
                })*
                None
            }
        }
    };
}

wire_product! {
    id = "_id",
    id_alias = "id",
    dispensary_id = "DispensaryID",
    name = "Name",
    c_name = "cName",
    brand = "brand",
    brand_name = "brandName",
    category = "type",
    subcategory = "subcategory",
    strain_type = "strainType",
    options = "Options",
    prices = "Prices",
    medical_only = "medicalOnly",
    rec_prices = "recPrices",
    medical_prices = "medicalPrices",
    rec_special_prices = "recSpecialPrices",
    medical_special_prices = "medicalSpecialPrices",
    special_data = "specialData",
    pos_meta_data = "POSMetaData",
    manual_inventory = "manualInventory",
    thc_content = "THCContent",
    cbd_content = "CBDContent",
    measurements = "measurements",
    image = "Image",
    images = "images",
    created_at = "createdAt",
    updated_at = "updatedAt",
    status = "Status",
    enterprise_product_id = "enterpriseProductId",
}

/// Keys that real pages carry and nothing here needs.
fn is_known_and_unused(key: &[u8]) -> bool {
    matches!(
        key,
        b"AdditionalOptions"
            | b"CBD"
            | b"THC"
            | b"__typename"
            | b"bottleDepositTaxCents"
            | b"brandId"
            | b"brandLogo"
            | b"cannabinoidsV2"
            | b"certificateOfAnalysisEnabled"
            | b"collectionCardBadge"
            | b"comingSoon"
            | b"description"
            | b"descriptionHtml"
            | b"duplicatedProductId"
            | b"effects"
            | b"featured"
            | b"isBelowKioskThreshold"
            | b"isBelowThreshold"
            | b"libraryProductId"
            | b"libraryProductScore"
            | b"limitsPerCustomer"
            | b"nonArmsLength"
            | b"optionsBelowKioskThreshold"
            | b"optionsBelowThreshold"
            | b"pastCNames"
            | b"pricingTierData"
            | b"provider"
            | b"rawOptions"
            | b"recOnly"
            | b"special"
            | b"specialIdsPerOption"
            | b"tags"
            | b"terpenes"
            | b"useBetterPotencyTaxes"
            | b"vapeTaxApplicable"
            | b"weight"
            | b"wholesalePrices"
    )
}

/// One element; none when it is not an object, so that its neighbours are still read.
pub struct Element<'a>(pub Option<WireProduct<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Element<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ProductVisitor).map(Element)
    }
}

struct ProductVisitor;

impl<'de> Visitor<'de> for ProductVisitor {
    type Value = Option<WireProduct<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a product")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut product = WireProduct::default();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            if let Some(field) = product.field(&key.0) {
                *field = map.next_value()?;
                continue;
            }
            map.next_value::<IgnoredAny>()?;
            if !is_known_and_unused(&key.0) && product.unknown.len() < MAX_UNKNOWN_KEYS_PER_PRODUCT {
                product.unknown.push(key.into_text());
            }
        }
        Ok(Some(product))
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<Self::Value, S::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }
}

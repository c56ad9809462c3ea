//! Dutchie's menu page as it comes: every field is kept as raw JSON text, so that one of a wrong type spoils nothing but itself,
//! and a page is scanned once.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

pub type Raw<'a> = Option<&'a RawValue>;

/// A whole response body.
#[derive(Deserialize)]
pub struct Answer<'a> {
    #[serde(borrow)]
    data: Option<Data<'a>>,
    #[serde(borrow)]
    errors: Raw<'a>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(borrow, rename = "filteredProducts")]
    filtered_products: Option<FilteredProducts<'a>>,
}

#[derive(Deserialize)]
struct FilteredProducts<'a> {
    #[serde(borrow)]
    products: Option<Vec<WireProduct<'a>>>,
    #[serde(rename = "queryInfo")]
    query_info: Option<QueryInfo>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct QueryInfo {
    total_count: Option<usize>,
    total_pages: Option<u32>,
}

/// One menu page.
pub struct Page<'a> {
    pub products: Vec<WireProduct<'a>>,
    pub total_count: Option<usize>,
    pub total_pages: Option<u32>,
}

impl<'a> Answer<'a> {
    pub fn has_errors(&self) -> bool {
        self.errors.is_some_and(|errors| errors.get() != "[]")
    }

    pub fn into_page(self) -> Option<Page<'a>> {
        let menu = self.data?.filtered_products?;
        let QueryInfo { total_count, total_pages } = menu.query_info.unwrap_or_default();
        Some(Page { products: menu.products?, total_count, total_pages })
    }
}

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
            fn slot(&mut self, key: &str) -> Option<&mut Raw<'a>> {
                match key {
                    $($key => Some(&mut self.$field),)*
                    _ => None,
                }
            }
        }
    };
}

wire_product! {
    id = "_id",
    id_alias = "id",
    name = "Name",
    c_name = "cName",
    brand = "brand",
    brand_name = "brandName",
    category = "type",
    subcategory = "subcategory",
    strain_type = "strainType",
    options = "Options",
    prices = "Prices",
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
fn is_known_and_unused(key: &str) -> bool {
    matches!(
        key,
        "AdditionalOptions"
            | "CBD"
            | "DispensaryID"
            | "THC"
            | "__typename"
            | "bottleDepositTaxCents"
            | "brandId"
            | "brandLogo"
            | "cannabinoidsV2"
            | "certificateOfAnalysisEnabled"
            | "collectionCardBadge"
            | "comingSoon"
            | "description"
            | "descriptionHtml"
            | "duplicatedProductId"
            | "effects"
            | "featured"
            | "isBelowKioskThreshold"
            | "isBelowThreshold"
            | "libraryProductId"
            | "libraryProductScore"
            | "limitsPerCustomer"
            | "medicalOnly"
            | "nonArmsLength"
            | "optionsBelowKioskThreshold"
            | "optionsBelowThreshold"
            | "pastCNames"
            | "pricingTierData"
            | "provider"
            | "rawOptions"
            | "recOnly"
            | "special"
            | "specialIdsPerOption"
            | "tags"
            | "terpenes"
            | "useBetterPotencyTaxes"
            | "vapeTaxApplicable"
            | "weight"
            | "wholesalePrices"
    )
}

impl<'de: 'a, 'a> Deserialize<'de> for WireProduct<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ProductVisitor)
    }
}

/// Takes anything: an item that is no object becomes an item without fields, so that its neighbours are still read.
struct ProductVisitor;

impl<'de> Visitor<'de> for ProductVisitor {
    type Value = WireProduct<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a product")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut product = WireProduct::default();
        while let Some(Key(key)) = map.next_key()? {
            if let Some(slot) = product.slot(&key) {
                *slot = map.next_value()?;
                continue;
            }
            map.next_value::<IgnoredAny>()?;
            if !is_known_and_unused(&key) {
                product.unknown.push(key);
            }
        }
        Ok(product)
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut items: S) -> Result<Self::Value, S::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(WireProduct::default())
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(WireProduct::default())
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(WireProduct::default())
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(WireProduct::default())
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(WireProduct::default())
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(WireProduct::default())
    }

    fn visit_str<E: de::Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(WireProduct::default())
    }
}

/// A key without a copy, unless it is written with escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl<'de> Visitor<'de> for KeyVisitor {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E: de::Error>(self, key: &'de str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Borrowed(key)))
            }

            fn visit_str<E: de::Error>(self, key: &str) -> Result<Self::Value, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Brand<'a> {
    #[serde(borrow)]
    pub name: Raw<'a>,
    #[serde(borrow)]
    pub image_url: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Image<'a> {
    #[serde(borrow)]
    pub url: Raw<'a>,
    #[serde(borrow)]
    pub active: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PosMetaData<'a> {
    #[serde(borrow)]
    pub children: Raw<'a>,
    #[serde(borrow)]
    pub canonical_brand_name: Raw<'a>,
}

/// A row of `POSMetaData.children` or of `manualInventory`.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct StockRow<'a> {
    #[serde(borrow)]
    pub option: Raw<'a>,
    #[serde(borrow)]
    pub quantity: Raw<'a>,
    #[serde(borrow)]
    pub quantity_available: Raw<'a>,
    #[serde(borrow)]
    pub inventory: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Content<'a> {
    #[serde(borrow)]
    pub unit: Raw<'a>,
    #[serde(borrow)]
    pub range: Raw<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Measurements<'a> {
    #[serde(borrow)]
    pub net_weight: Option<NetWeight<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct NetWeight<'a> {
    #[serde(borrow)]
    pub unit: Raw<'a>,
    #[serde(borrow)]
    pub values: Raw<'a>,
}

//! Dutchie's menu page as it comes: every field is kept as raw JSON text, so that one of a wrong type spoils nothing but itself,
//! and a page is scanned once.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::decimal;

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
    products: Option<Items<'a>>,
    #[serde(borrow, rename = "queryInfo")]
    query_info: Option<QueryInfo<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct QueryInfo<'a> {
    #[serde(borrow)]
    total_count: Raw<'a>,
    #[serde(borrow)]
    total_pages: Raw<'a>,
}

/// One menu page.
pub struct Page<'a> {
    pub items: Items<'a>,
    pub total_count: Option<usize>,
    pub total_pages: Option<usize>,
}

/// The elements of a page. Those that are no objects are counted, not kept.
#[derive(Default)]
pub struct Items<'a> {
    pub products: Vec<WireProduct<'a>>,
    pub not_objects: usize,
}

impl Items<'_> {
    pub fn len(&self) -> usize {
        self.products.len() + self.not_objects
    }
}

/// A product takes half a kilobyte before any of it is read: a page of empty ones must not fill the memory.
pub const MAX_ITEMS: usize = 4000;
/// Unknown keys that are kept of one product.
const MAX_UNKNOWN_KEYS_PER_PRODUCT: usize = 64;

impl<'a> Answer<'a> {
    pub fn has_errors(&self) -> bool {
        has_errors(self.errors)
    }

    pub fn into_page(self) -> Option<Page<'a>> {
        let menu = self.data?.filtered_products?;
        let QueryInfo { total_count, total_pages } = menu.query_info.unwrap_or_default();
        let total = |raw: Raw<'_>| decimal::total(raw?.get());
        Some(Page { items: menu.products?, total_count: total(total_count), total_pages: total(total_pages) })
    }
}

/// Whether `errors` of an answer holds any.
pub fn has_errors(errors: Raw<'_>) -> bool {
    errors.is_some_and(|errors| errors.get() != "[]")
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
            #[cfg(test)]
            pub const KEYS: [&'static str; [$($key),*].len()] = [$($key),*];

            fn field(&mut self, key: &str) -> Option<&mut Raw<'a>> {
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
fn is_known_and_unused(key: &str) -> bool {
    matches!(
        key,
        "AdditionalOptions"
            | "CBD"
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

impl<'de: 'a, 'a> Deserialize<'de> for Items<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemsVisitor;
        impl<'de> Visitor<'de> for ItemsVisitor {
            type Value = Items<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of products")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<Items<'de>, S::Error> {
                let mut items = Items::default();
                while let Some(Element(product)) = elements.next_element()? {
                    match product {
                        Some(product) => items.products.push(product),
                        None => items.not_objects += 1,
                    }
                    if items.len() > MAX_ITEMS {
                        return Err(de::Error::custom(format!("more than {MAX_ITEMS} products on one page")));
                    }
                }
                Ok(items)
            }
        }
        deserializer.deserialize_seq(ItemsVisitor)
    }
}

/// One element; none when it is no object, so that its neighbours are still read.
struct Element<'a>(Option<WireProduct<'a>>);

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
        while let Some(Key(key)) = map.next_key()? {
            if let Some(field) = product.field(&key) {
                *field = map.next_value()?;
                continue;
            }
            map.next_value::<IgnoredAny>()?;
            if !is_known_and_unused(&key) && product.unknown.len() < MAX_UNKNOWN_KEYS_PER_PRODUCT {
                product.unknown.push(key);
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

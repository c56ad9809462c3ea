//! Dutchie's menu page as it comes: every field is kept as raw JSON text, so that one of a wrong type spoils
//! nothing but itself, and a page is scanned once.

mod product;

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

use product::Element;

pub use product::WireProduct;

use crate::platforms::reading::items::raw_object;
use crate::platforms::reading::{Raw, decimal, errors};
use domain::menu::NormaliseError;

/// A whole response body, whose elements are read as `I`.
#[derive(Deserialize)]
pub struct Answer<'a, I> {
    #[serde(borrow, bound(deserialize = "I: Deserialize<'de>"))]
    data: Option<Data<'a, I>>,
    #[serde(borrow)]
    errors: Raw<'a>,
}

#[derive(Deserialize)]
struct Data<'a, I> {
    #[serde(borrow, rename = "filteredProducts", bound(deserialize = "I: Deserialize<'de>"))]
    filtered_products: Option<FilteredProducts<'a, I>>,
}

#[derive(Deserialize)]
struct FilteredProducts<'a, I> {
    products: Option<I>,
    #[serde(borrow, rename = "queryInfo")]
    query_info: Option<QueryInfo<'a>>,
}

raw_object! {
    #[serde(rename_all = "camelCase")]
    QueryInfo {
        total_count, total_pages,
    }
}

/// One menu page.
pub struct Page<'a> {
    pub items: Items<'a>,
    pub total_count: Option<usize>,
    pub total_pages: Option<usize>,
    /// A total is present, but is not a count.
    pub has_odd_total: bool,
}

/// The elements of a page; None = not an object. They are read as they are scanned; an invalid value ends the reading.
#[derive(Default)]
pub struct Items<'a>(Vec<Option<WireProduct<'a>>>);

/// The same, each element scanned before it is read: one that cannot be read is counted as no object. It
/// costs a second scan.
pub struct ScannedItems<'a>(Items<'a>);

impl<'a> From<ScannedItems<'a>> for Items<'a> {
    fn from(ScannedItems(items): ScannedItems<'a>) -> Self {
        items
    }
}

impl<'a> Items<'a> {
    fn add<E: de::Error>(&mut self, product: Option<WireProduct<'a>>) -> Result<(), E> {
        self.0.push(product);
        match self.len() > MAX_ITEMS {
            true => Err(de::Error::custom(format!("more than {MAX_ITEMS} products on one page"))),
            false => Ok(()),
        }
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn products(&self) -> impl Iterator<Item = &WireProduct<'a>> {
        self.0.iter().flatten()
    }

    /// Number of the elements that cannot be read.
    pub fn unreadable(&self) -> usize {
        self.0.iter().filter(|product| product.is_none()).count()
    }

    /// Leaves out the elements of which a field failed.
    fn without(mut self, failed: &BTreeSet<usize>) -> Items<'a> {
        for index in failed {
            if let Some(product) = self.0.get_mut(*index) {
                *product = None;
            }
        }
        self
    }
}

/// A product takes half a kilobyte before any of it is read: a page of empty ones must not fill the memory.
pub const MAX_ITEMS: usize = 4000;
/// Number of products on a page as it is asked for.
const USUAL_ITEMS: usize = 100;

impl<'a, I: Into<Items<'a>>> Answer<'a, I> {
    pub fn into_page(self, number: usize) -> Result<Page<'a>, NormaliseError> {
        let cost = errors::cost(self.errors, &["filteredProducts", "products"]);
        let page = self.data.and_then(|data| data.filtered_products).and_then(FilteredProducts::into_page);
        let items = page.as_ref().map_or(0, |page| page.items.len());
        let failed = cost.failed_of(items).ok_or(NormaliseError::HasErrors { page: number })?;
        let why = || "no filteredProducts in it".to_owned();
        let page = page.ok_or_else(|| NormaliseError::NotAMenu { page: number, why: why() })?;
        Ok(Page { items: page.items.without(&failed), ..page })
    }
}

impl<'a, I: Into<Items<'a>>> FilteredProducts<'a, I> {
    fn into_page(self) -> Option<Page<'a>> {
        let QueryInfo { total_count, total_pages } = self.query_info.unwrap_or_default();
        let total = |raw: Raw<'_>| decimal::total(raw?.get());
        let is_odd = |raw: Raw<'_>| raw.is_some() && total(raw).is_none();
        Some(Page {
            items: self.products?.into(),
            total_count: total(total_count),
            total_pages: total(total_pages),
            has_odd_total: is_odd(total_count) || is_odd(total_pages),
        })
    }
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
                let mut items = Items(Vec::with_capacity(USUAL_ITEMS));
                while let Some(Element(product)) = elements.next_element()? {
                    items.add(product)?;
                }
                Ok(items)
            }
        }
        deserializer.deserialize_seq(ItemsVisitor)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ScannedItems<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ItemsVisitor;
        impl<'de> Visitor<'de> for ItemsVisitor {
            type Value = ScannedItems<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of products")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut elements: S) -> Result<ScannedItems<'de>, S::Error> {
                let mut items = Items::default();
                while let Some(element) = elements.next_element::<&RawValue>()? {
                    let read = serde_json::from_str(element.get());
                    items.add(read.ok().and_then(|Element(product)| product))?;
                }
                Ok(ScannedItems(items))
            }
        }
        deserializer.deserialize_seq(ItemsVisitor)
    }
}

raw_object! {
    Image {
        url, active,
    }
}

raw_object! {
    #[serde(rename_all = "camelCase")]
    PosMetaData {
        children, canonical_brand_name,
    }
}

raw_object! {
    /// A row of `POSMetaData.children` or of `manualInventory`.
    #[serde(rename_all = "camelCase")]
    StockRow {
        option, quantity, quantity_available, inventory,
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Measurements<'a> {
    #[serde(borrow)]
    pub net_weight: Option<NetWeight<'a>>,
}

raw_object! {
    NetWeight {
        unit, values,
    }
}

//! A menu page as the platform writes it, borrowed from its text; only the fields that are read.

use std::borrow::Cow;
use std::fmt;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::{self, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

type Text<'a> = Option<Cow<'a, str>>;

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    data: Data<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow)]
    filtered_products: Page<'a>,
}

#[derive(Deserialize)]
pub struct Page<'a> {
    #[serde(borrow)]
    pub products: Vec<Product<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Product<'a> {
    #[serde(rename = "_id")]
    pub id: &'a str,
    #[serde(rename = "Name", borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow)]
    pub brand: Option<Brand<'a>>,
    #[serde(borrow)]
    pub brand_name: Text<'a>,
    #[serde(rename = "type")]
    pub category: &'a str,
    #[serde(borrow)]
    pub subcategory: Text<'a>,
    #[serde(borrow)]
    pub strain_type: Text<'a>,
    #[serde(rename = "Image", borrow)]
    pub image: Text<'a>,
    #[serde(borrow)]
    pub images: Vec<Image<'a>>,
    #[serde(rename = "Options", borrow)]
    pub options: Vec<Cow<'a, str>>,
    #[serde(rename = "Prices")]
    pub prices: Vec<f64>,
    pub rec_prices: Vec<f64>,
    pub medical_prices: Vec<f64>,
    pub rec_special_prices: Vec<f64>,
    pub medical_special_prices: Vec<f64>,
    #[serde(rename = "POSMetaData", borrow)]
    pub pos: Option<Pos<'a>>,
    #[serde(borrow)]
    pub manual_inventory: Option<Vec<StockRow<'a>>>,
    #[serde(borrow)]
    pub measurements: Option<Measurements<'a>>,
    #[serde(rename = "THCContent")]
    pub thc: Potency,
    #[serde(rename = "CBDContent")]
    pub cbd: Potency,
    #[serde(rename = "Status")]
    pub status: &'a str,
}

#[derive(Deserialize)]
pub struct Brand<'a> {
    #[serde(borrow)]
    pub name: Text<'a>,
}

#[derive(Deserialize)]
pub struct Image<'a> {
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    pub active: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Pos<'a> {
    #[serde(borrow)]
    pub canonical_brand_name: Text<'a>,
    #[serde(borrow)]
    pub children: Option<Vec<StockRow<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StockRow<'a> {
    #[serde(borrow)]
    pub option: Cow<'a, str>,
    #[serde(default)]
    pub quantity: Option<i32>,
    #[serde(default)]
    pub quantity_available: Option<i32>,
    #[serde(default)]
    pub inventory: Option<i32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Measurements<'a> {
    #[serde(borrow)]
    pub net_weight: Option<NetWeight<'a>>,
}

#[derive(Deserialize)]
pub struct NetWeight<'a> {
    pub unit: &'a str,
    pub values: Vec<i64>,
}

/// Lowest and highest value: of a range, of a bare number, or of a text such as `18%`.
#[derive(Clone, Copy, Default)]
pub struct Potency {
    pub min: Option<f64>,
    pub max: Option<f64>,
}

pub fn products(text: &[u8]) -> Result<Vec<Product<'_>>> {
    let answer: Answer<'_> = sonic_rs::from_slice(text)?;
    Ok(answer.data.filtered_products.products)
}

pub fn page_count(text: &[u8]) -> Result<usize> {
    let count = sonic_rs::get(text, &["data", "filteredProducts", "queryInfo", "totalPages"])?;
    count.as_raw_str().parse().context("totalPages")
}

impl<'de> Deserialize<'de> for Potency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PotencyVisitor)
    }
}

struct PotencyVisitor;

impl<'de> Visitor<'de> for PotencyVisitor {
    type Value = Potency;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a potency")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Potency, E> {
        Ok(Potency::default())
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Potency, E> {
        Ok(Potency { min: Some(value), max: Some(value) })
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Potency, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Potency, E> {
        self.visit_f64(value as f64)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Potency, E> {
        match text.trim_end_matches('%').parse() {
            Ok(value) => self.visit_f64(value),
            Err(_) => Ok(Potency::default()),
        }
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Potency, M::Error> {
        let mut potency = Potency::default();
        while let Some(key) = map.next_key::<&str>()? {
            if key == "range" {
                potency = map.next_value::<Option<Range>>()?.map(|range| range.0).unwrap_or_default();
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(potency)
    }
}

struct Range(Potency);

impl<'de> Deserialize<'de> for Range {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RangeVisitor;
        impl<'de> Visitor<'de> for RangeVisitor {
            type Value = Range;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a range")
            }

            fn visit_seq<S: SeqAccess<'de>>(self, mut values: S) -> Result<Range, S::Error> {
                let mut range = Potency::default();
                while let Some(value) = values.next_element::<f64>()? {
                    range.min = Some(range.min.map_or(value, |min| min.min(value)));
                    range.max = Some(range.max.map_or(value, |max| max.max(value)));
                }
                Ok(Range(range))
            }
        }
        deserializer.deserialize_seq(RangeVisitor)
    }
}

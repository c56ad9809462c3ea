//! `CapturedPage`: a real `FilteredProducts` response, served as the whole menu of a store of its own.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::value::RawValue;

pub(crate) struct CapturedPage {
    pub(crate) dispensary_id: String,
    pub(crate) total_count: usize,
    /// The products as they were captured, byte for byte.
    pub(crate) products: Vec<Box<RawValue>>,
}

impl CapturedPage {
    /// Fails when the file cannot be read, is not such a response, or mixes dispensaries.
    pub(crate) fn read(path: &Path) -> Result<CapturedPage> {
        let text = std::fs::read(path).with_context(|| format!("captured page {}", path.display()))?;
        CapturedPage::parse(&text).with_context(|| format!("captured page {}", path.display()))
    }

    fn parse(text: &[u8]) -> Result<CapturedPage> {
        let products = serde_json::from_slice::<Envelope>(text)?.data.filtered_products.products;
        let keys: Vec<Key> = products.iter().map(|raw| serde_json::from_str(raw.get())).collect::<Result<_, _>>()?;
        let dispensary_id = keys.first().context("holds no products")?.dispensary_id.clone();
        anyhow::ensure!(
            keys.iter().all(|key| key.dispensary_id == dispensary_id),
            "holds products of several dispensaries"
        );
        let total_count = keys.iter().map(|key| &key.id).collect::<HashSet<_>>().len();
        Ok(CapturedPage { dispensary_id, total_count, products })
    }
}

#[derive(Deserialize)]
struct Envelope {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    #[serde(rename = "filteredProducts")]
    filtered_products: Products,
}

#[derive(Deserialize)]
struct Products {
    products: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Key {
    #[serde(rename = "_id")]
    id: String,
    #[serde(rename = "DispensaryID")]
    dispensary_id: String,
}

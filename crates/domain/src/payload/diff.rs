//! `PayloadDiff`: the changes in a store's menu from one of its payloads to another: products, prices, stock
//! and options.
//!
//! In: either menu's offers, as [`ProductOffer`]s: a fraction of a [`Product`]. Out: exact counts, and
//! details in the field names of the API. It compares prices, stock and options only: a new name or potency
//! does not count as a difference.

mod size;

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Payload, PayloadId};
use crate::menu::NormalMenu;
use crate::menu::product::{Product, Variant};

/// Entries of one list of details; the counts continue.
pub const MAX_DETAILS: usize = 10_000;

/// Prices of a product or option on a menu, in cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    pub price_rec: Option<i32>,
    pub price_med: Option<i32>,
    pub special_price_rec: Option<i32>,
    pub special_price_med: Option<i32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StockLevel {
    pub is_in_stock: bool,
    pub quantity: Option<i32>,
    /// `quantity` is the platform's cap: the real number may be higher.
    pub quantity_censored: bool,
}

/// One product of a menu, as far as the comparison needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProductOffer {
    /// The platform's.
    pub id: String,
    pub name: String,
    pub brand: Option<String>,
    pub category: Option<String>,
    #[serde(flatten)]
    pub prices: Prices,
    #[serde(flatten)]
    pub stock: StockLevel,
    pub options: Vec<OptionOffer>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OptionOffer {
    pub label: String,
    /// The n-th option of that label, from 0: labels repeat.
    pub nth: i16,
    #[serde(flatten)]
    pub prices: Prices,
    #[serde(flatten)]
    pub stock: StockLevel,
}

/// The API's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PayloadDiff {
    pub success: bool,
    pub from: ComparedPayload,
    pub to: ComparedPayload,
    pub diff: DiffCounts,
    pub details: DiffDetails,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedPayload {
    pub id: PayloadId,
    pub fetched_at: DateTime<Utc>,
    pub product_count: i32,
}

/// Numbers of products, except for fields named after options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffCounts {
    pub added: usize,
    pub removed: usize,
    /// Products whose own price changed, or that of an option on both menus.
    pub price_changes: usize,
    pub stock_changes: usize,
    /// Products that gained or lost an option.
    pub option_changes: usize,
    /// Number of products on both menus without any of these changes.
    pub same: usize,
    pub options_with_price_changes: usize,
    pub options_with_stock_changes: usize,
}

/// Changes of prices and stock with the largest first, the others in the order of the newer menu, `removed` in that of the older one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffDetails {
    pub added: Vec<ProductOffer>,
    pub removed: Vec<ProductOffer>,
    pub price_changes: Vec<ProductChange<Prices>>,
    pub stock_changes: Vec<ProductChange<StockLevel>>,
    pub option_changes: Vec<OptionsChange>,
    /// A list has reached [`MAX_DETAILS`]: it is incomplete, the counts are complete.
    pub truncated: bool,
}

/// `from` and `to` are the product's own, which may be equal where only options changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ProductChange<T> {
    pub id: String,
    pub name: String,
    pub brand: Option<String>,
    pub from: T,
    pub to: T,
    pub options: Vec<OptionChange<T>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OptionChange<T> {
    pub label: String,
    pub nth: i16,
    pub from: T,
    pub to: T,
}

/// The options that a product has gained and lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OptionsChange {
    pub id: String,
    pub name: String,
    pub brand: Option<String>,
    pub added: Vec<OptionOffer>,
    pub removed: Vec<OptionOffer>,
}

/// Offers of a menu; the rest of it is dropped.
pub fn offers(menu: NormalMenu) -> Vec<ProductOffer> {
    let mut offers: Vec<ProductOffer> = menu.products.into_iter().map(ProductOffer::from).collect();
    // collected in place, they would keep the room of the whole products
    offers.shrink_to_fit();
    offers
}

impl PayloadDiff {
    /// Products of either side have distinct ids.
    pub fn new(from: (&Payload, Vec<ProductOffer>), to: (&Payload, Vec<ProductOffer>)) -> PayloadDiff {
        let (diff, details) = compare(from.1, to.1);
        PayloadDiff { success: true, from: from.0.into(), to: to.0.into(), diff, details }
    }
}

fn compare(from: Vec<ProductOffer>, to: Vec<ProductOffer>) -> (DiffCounts, DiffDetails) {
    let mut found = DiffBuilder::default();
    let before: HashMap<&str, &ProductOffer> = from.iter().map(|product| (product.id.as_str(), product)).collect();
    for product in &to {
        match before.get(product.id.as_str()) {
            Some(before) => found.compare(before, product),
            None => found.add(product),
        }
    }
    let after: HashSet<&str> = to.iter().map(|product| product.id.as_str()).collect();
    from.iter().filter(|product| !after.contains(product.id.as_str())).for_each(|product| found.remove(product));
    size::largest_first(&mut found.details.price_changes, size::of_prices);
    size::largest_first(&mut found.details.stock_changes, size::of_stock);
    (found.counts, found.details)
}

#[derive(Default)]
struct DiffBuilder {
    counts: DiffCounts,
    details: DiffDetails,
}

impl DiffBuilder {
    fn add(&mut self, product: &ProductOffer) {
        self.counts.added += 1;
        keep(&mut self.details.added, &mut self.details.truncated, || product.clone());
    }

    fn remove(&mut self, product: &ProductOffer) {
        self.counts.removed += 1;
        keep(&mut self.details.removed, &mut self.details.truncated, || product.clone());
    }

    fn compare(&mut self, before: &ProductOffer, after: &ProductOffer) {
        let prices = changed_options(before, after, |option| option.prices);
        let stock = changed_options(before, after, |option| option.stock);
        let (added, removed) = (missing_in(before, after), missing_in(after, before));
        let has_price_change = !prices.is_empty() || before.prices != after.prices;
        let has_stock_change = !stock.is_empty() || before.stock != after.stock;
        let has_option_change = !added.is_empty() || !removed.is_empty();

        let (counts, details) = (&mut self.counts, &mut self.details);
        counts.options_with_price_changes += prices.len();
        counts.options_with_stock_changes += stock.len();
        counts.price_changes += usize::from(has_price_change);
        counts.stock_changes += usize::from(has_stock_change);
        counts.option_changes += usize::from(has_option_change);
        counts.same += usize::from(!(has_price_change || has_stock_change || has_option_change));
        if has_price_change {
            let change = || product_change(after, (before.prices, after.prices), prices);
            keep(&mut details.price_changes, &mut details.truncated, change);
        }
        if has_stock_change {
            let change = || product_change(after, (before.stock, after.stock), stock);
            keep(&mut details.stock_changes, &mut details.truncated, change);
        }
        if has_option_change {
            let change = || OptionsChange {
                id: after.id.clone(),
                name: after.name.clone(),
                brand: after.brand.clone(),
                added,
                removed,
            };
            keep(&mut details.option_changes, &mut details.truncated, change);
        }
    }
}

fn keep<T>(list: &mut Vec<T>, truncated: &mut bool, entry: impl FnOnce() -> T) {
    if list.len() < MAX_DETAILS {
        list.push(entry());
    } else {
        *truncated = true;
    }
}

fn product_change<T>(product: &ProductOffer, (from, to): (T, T), options: Vec<OptionChange<T>>) -> ProductChange<T> {
    ProductChange {
        id: product.id.clone(),
        name: product.name.clone(),
        brand: product.brand.clone(),
        from,
        to,
        options,
    }
}

/// Options that both sides have, where the values of `read` differ.
fn changed_options<T: PartialEq>(
    before: &ProductOffer,
    after: &ProductOffer,
    read: impl Fn(&OptionOffer) -> T,
) -> Vec<OptionChange<T>> {
    let change = |option: &OptionOffer| {
        let (from, to) = (read(before.option_like(option)?), read(option));
        (from != to).then(|| OptionChange { label: option.label.clone(), nth: option.nth, from, to })
    };
    after.options.iter().filter_map(change).collect()
}

/// The options of `there` that `here` lacks.
fn missing_in(here: &ProductOffer, there: &ProductOffer) -> Vec<OptionOffer> {
    there.options.iter().filter(|option| here.option_like(option).is_none()).cloned().collect()
}

impl ProductOffer {
    /// Its option with the key of `other`.
    fn option_like(&self, other: &OptionOffer) -> Option<&OptionOffer> {
        self.options.iter().find(|option| option.nth == other.nth && option.label == other.label)
    }
}

impl From<&Payload> for ComparedPayload {
    fn from(payload: &Payload) -> Self {
        ComparedPayload { id: payload.id, fetched_at: payload.fetched_at, product_count: payload.product_count }
    }
}

impl From<Product> for ProductOffer {
    fn from(product: Product) -> Self {
        ProductOffer {
            id: product.provider_product_id,
            name: product.name_raw,
            brand: product.brand_name_raw,
            category: product.category,
            prices: Prices {
                price_rec: product.price_rec,
                price_med: product.price_med,
                special_price_rec: product.special_price_rec,
                special_price_med: product.special_price_med,
            },
            stock: StockLevel {
                is_in_stock: product.is_in_stock,
                quantity: product.quantity,
                quantity_censored: product.quantity_censored,
            },
            options: product.variants.into_iter().map(OptionOffer::from).collect(),
        }
    }
}

impl From<Variant> for OptionOffer {
    fn from(variant: Variant) -> Self {
        OptionOffer {
            label: variant.option_label,
            nth: variant.nth,
            prices: Prices {
                price_rec: variant.price_rec,
                price_med: variant.price_med,
                special_price_rec: variant.special_price_rec,
                special_price_med: variant.special_price_med,
            },
            stock: StockLevel {
                is_in_stock: variant.is_in_stock,
                quantity: variant.quantity,
                quantity_censored: variant.quantity_censored,
            },
        }
    }
}

#[cfg(test)]
mod tests;

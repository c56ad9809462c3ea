//! What is offered: a variant per option with its prices and stock, and what that makes of the product as a whole.

use std::collections::HashMap;

use super::decimal;
use super::reader::Reader;
use super::size::{self, Size};
use super::stock::{self, OptionStock};
use super::wire::{Measurements, PosMetaData, Raw, WireProduct};
use crate::domain::product::{StockStatus, UpstreamStatus, Variant};

/// The label of an option that has none.
const NO_LABEL: &str = "N/A";

pub struct Offer {
    pub variants: Vec<Variant>,
    /// Of the option that costs least, for everyone and for patients.
    pub rec: LowestPrice,
    pub med: LowestPrice,
    /// Summed over the options that have one; none where nothing is left of those and another's is unknown.
    pub quantity: Option<i32>,
    pub stock_status: StockStatus,
    pub upstream_status: Option<UpstreamStatus>,
}

/// Price and special price of one and the same option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LowestPrice {
    pub price: Option<i32>,
    pub special: Option<i32>,
}

pub fn offer(item: &WireProduct<'_>, pos: &PosMetaData<'_>, read: &mut Reader<'_>) -> Offer {
    let prices = Prices::read(item, read);
    let labels = labels(item, &prices, read);
    let stocks = stock::by_option(item, pos, &labels, read);
    let weights = net_weights(item, labels.len(), read);
    let Listing { is_sold, upstream_status } = listing(item, read);

    let stock_status = product_status(is_sold, &stocks);
    let quantity = stocks.iter().filter_map(|stock| stock.quantity).reduce(i32::saturating_add);
    let quantity = quantity.filter(|_| stock_status != StockStatus::Unknown);
    let nths = nths(&labels);
    let variants = labels.into_iter().zip(nths).enumerate();
    let variants = variants.map(|(index, (option_label, nth))| {
        let size = size::size(&option_label).or(weights.get(index).copied().flatten().map(Size::Mg));
        let (price, stock) = (prices.at(index), stocks[index]);
        Variant {
            option_label,
            nth,
            size_mg: size.and_then(|size| if let Size::Mg(mg) = size { Some(mg) } else { None }),
            size_ml: size.and_then(|size| if let Size::Ml(ml) = size { Some(ml) } else { None }),
            price_rec: price.rec,
            price_med: price.med,
            special_price_rec: price.special_rec,
            special_price_med: price.special_med,
            quantity: stock.quantity,
            quantity_censored: stock.censored,
            is_in_stock: status(is_sold, stock.quantity).is_sellable(),
        }
    });
    let variants: Vec<Variant> = variants.collect();
    Offer {
        rec: lowest(variants.iter().map(|variant| (variant.price_rec, variant.special_price_rec))),
        med: lowest(variants.iter().map(|variant| (variant.price_med, variant.special_price_med))),
        variants,
        quantity,
        stock_status,
        upstream_status,
    }
}

/// A price of nothing is a placeholder, unless there is no other.
fn lowest(prices: impl Iterator<Item = (Option<i32>, Option<i32>)>) -> LowestPrice {
    let prices = prices.filter_map(|(price, special)| Some((price?, special)));
    let lowest = prices.min_by_key(|(price, special)| (*price == 0, special.unwrap_or(*price)));
    lowest.map(|(price, special)| LowestPrice { price: Some(price), special }).unwrap_or_default()
}

fn status(is_sold: bool, quantity: Option<i32>) -> StockStatus {
    match (is_sold, quantity) {
        (false, _) | (true, Some(..=0)) => StockStatus::Oos,
        (true, None) => StockStatus::Unknown,
        (true, Some(_)) => StockStatus::InStock,
    }
}

/// A product is as well in stock as the best of its options; one without options says nothing of its stock.
fn product_status(is_sold: bool, stocks: &[OptionStock]) -> StockStatus {
    let rank = |status: &StockStatus| match status {
        StockStatus::InStock => 2,
        StockStatus::Unknown => 1,
        StockStatus::Oos => 0,
    };
    let best = stocks.iter().map(|stock| status(is_sold, stock.quantity)).max_by_key(rank);
    best.unwrap_or_else(|| status(is_sold, None))
}

struct Listing {
    is_sold: bool,
    upstream_status: Option<UpstreamStatus>,
}

/// `Status` Active is sold; one that is missing says nothing against the product, one that is unknown does.
fn listing(item: &WireProduct<'_>, read: &mut Reader<'_>) -> Listing {
    let Some(status) = read.text(item.status, "Status") else {
        return Listing { is_sold: true, upstream_status: None };
    };
    let upstream_status = match status.as_str() {
        "Active" => Some(UpstreamStatus::Active),
        "Inactive" => Some(UpstreamStatus::Inactive),
        _ => None,
    };
    if upstream_status.is_none() {
        read.warn("unknown_status", &status);
    }
    Listing { is_sold: upstream_status == Some(UpstreamStatus::Active), upstream_status }
}

fn labels(item: &WireProduct<'_>, prices: &Prices, read: &mut Reader<'_>) -> Vec<String> {
    let options = read.list(item.options, "Options");
    if options.is_empty() {
        return vec![NO_LABEL.to_owned(); prices.longest()];
    }
    if prices.longest() > options.len() {
        read.warn("misaligned_prices", &format!("{} prices for {} options", prices.longest(), options.len()));
    }
    options.into_iter().map(|raw| read.label(raw, "Options").unwrap_or_else(|| NO_LABEL.to_owned())).collect()
}

/// For each label, how many equal ones stand before it.
fn nths(labels: &[String]) -> Vec<i16> {
    let mut seen: HashMap<&str, i16> = HashMap::new();
    let nth = |label| {
        let count = seen.entry(label).or_default();
        *count = count.saturating_add(1);
        *count - 1
    };
    labels.iter().map(String::as_str).map(nth).collect()
}

/// The real mass of each option in mg, where it is stated for every one of them.
fn net_weights(item: &WireProduct<'_>, options: usize, read: &mut Reader<'_>) -> Vec<Option<i64>> {
    let measurements: Option<Measurements<'_>> = read.object(item.measurements, "measurements");
    let Some(weight) = measurements.and_then(|measurements| measurements.net_weight) else { return Vec::new() };
    let values = read.list(weight.values, "measurements.netWeight");
    let in_milligrams = read.text(weight.unit, "measurements.netWeight").as_deref() == Some("MILLIGRAMS");
    if !in_milligrams || values.len() != options {
        return Vec::new();
    }
    let mg = |raw: &serde_json::value::RawValue| decimal::count(raw.get()).filter(|mg| *mg > 0).map(i64::from);
    values.into_iter().map(mg).collect()
}

/// The price lists, aligned with the options by index. They are the truth: nothing is recomputed from specials.
struct Prices {
    rec: Vec<Option<i32>>,
    med: Vec<Option<i32>>,
    special_rec: Vec<Option<i32>>,
    special_med: Vec<Option<i32>>,
}

#[derive(Clone, Copy)]
struct OptionPrice {
    rec: Option<i32>,
    med: Option<i32>,
    special_rec: Option<i32>,
    special_med: Option<i32>,
}

impl Prices {
    fn read(item: &WireProduct<'_>, read: &mut Reader<'_>) -> Self {
        let is_medical_only = item.medical_only.is_some_and(|raw| raw.get() == "true");
        let mut rec = amounts(item.rec_prices, "recPrices", read);
        if rec.iter().all(Option::is_none) && !is_medical_only {
            rec = amounts(item.prices, "Prices", read);
        }
        Prices {
            rec,
            med: amounts(item.medical_prices, "medicalPrices", read),
            special_rec: amounts(item.rec_special_prices, "recSpecialPrices", read),
            special_med: amounts(item.medical_special_prices, "medicalSpecialPrices", read),
        }
    }

    fn longest(&self) -> usize {
        self.rec.len().max(self.med.len())
    }

    fn at(&self, index: usize) -> OptionPrice {
        let at = |list: &[Option<i32>]| list.get(index).copied().flatten();
        let (rec, med) = (at(&self.rec), at(&self.med));
        OptionPrice {
            rec,
            med,
            special_rec: sale(rec, at(&self.special_rec)),
            special_med: sale(med, at(&self.special_med)),
        }
    }
}

/// 0 means no sale, and a sale that is not lower is none.
fn sale(price: Option<i32>, special: Option<i32>) -> Option<i32> {
    special.filter(|special| *special > 0 && price.is_some_and(|price| *special < price))
}

fn amounts(raw: Raw<'_>, field: &'static str, read: &mut Reader<'_>) -> Vec<Option<i32>> {
    let amounts = read.list(raw, field);
    amounts
        .into_iter()
        .map(|raw| match raw.get() {
            "null" => None,
            json => decimal::cents(json).or_else(|| read.bad_field(field, "an amount")),
        })
        .collect()
}

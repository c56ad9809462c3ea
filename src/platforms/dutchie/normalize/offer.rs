//! The options of a product: labels, prices and net weights, which are lists aligned by index, and stock.

use serde_json::value::RawValue;

use super::stock;
use super::wire::{Measurements, PosMetaData, WireProduct};
use crate::platforms::offer::{NO_LABEL, OptionOffer, OptionPrice};
use crate::platforms::reading::reader::Reader;
use crate::platforms::reading::{Raw, decimal};
use domain::amounts::counted;
use domain::switches::word;

pub fn options(item: &WireProduct<'_>, pos: &PosMetaData<'_>, read: &mut Reader<'_>) -> Vec<OptionOffer> {
    let prices = Prices::read(item, read);
    let labels = labels(item, &prices, read);
    let stocks = stock::by_option(item, pos, &labels, read);
    let weights = net_weights(item, labels.len(), read);
    let options = labels.into_iter().zip(stocks).enumerate();
    let options = options.map(|(index, (label, stock))| OptionOffer {
        label,
        net_weight_mg: weights.get(index).copied().flatten(),
        price: prices.at(index),
        stock,
    });
    options.collect()
}

fn labels(item: &WireProduct<'_>, prices: &Prices, read: &mut Reader<'_>) -> Vec<String> {
    let options = read.list(item.options, "Options");
    if options.is_empty() {
        return vec![NO_LABEL.to_owned(); prices.longest()];
    }
    if prices.longest() > options.len() {
        read.warn(
            "misaligned_prices",
            &format!("{} for {}", counted(prices.longest(), "price"), counted(options.len(), "option")),
        );
    }
    options.into_iter().map(|raw| read.label(raw, "Options").unwrap_or_else(|| NO_LABEL.to_owned())).collect()
}

/// The real mass of each option in mg, where it is stated for every one of them.
fn net_weights(item: &WireProduct<'_>, options: usize, read: &mut Reader<'_>) -> Vec<Option<i64>> {
    let measurements: Option<Measurements<'_>> = read.object(item.measurements, "measurements");
    let Some(weight) = measurements.and_then(|measurements| measurements.net_weight) else { return Vec::new() };
    let values = read.list(weight.values, "measurements.netWeight");
    let unit = read.text(weight.unit, "measurements.netWeight");
    let in_milligrams = unit.as_deref().is_some_and(|unit| word(unit, &[("MILLIGRAMS", ())]).is_some());
    if !in_milligrams && !values.is_empty() {
        read.unknown_unit(unit.as_deref(), "measurements.netWeight");
    }
    if !in_milligrams || values.len() != options {
        return Vec::new();
    }
    let mg = |raw: &RawValue| decimal::count(raw.get()).filter(|mg| *mg > 0).map(i64::from);
    values.into_iter().map(mg).collect()
}

/// The price lists. They are the truth: nothing is recomputed from specials.
struct Prices {
    rec: Vec<Option<i32>>,
    med: Vec<Option<i32>>,
    special_rec: Vec<Option<i32>>,
    special_med: Vec<Option<i32>>,
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
        OptionPrice {
            rec: at(&self.rec),
            med: at(&self.med),
            special_rec: at(&self.special_rec),
            special_med: at(&self.special_med),
        }
    }
}

fn amounts(raw: Raw<'_>, field: &'static str, read: &mut Reader<'_>) -> Vec<Option<i32>> {
    let amounts = read.list(raw, field);
    amounts.into_iter().map(|raw| read.amount(Some(raw), field)).collect()
}

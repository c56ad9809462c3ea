//! `Offer`: a product as a whole, computed from its options.
//!
//! In: each option with its prices and stock, in the menu's order. Out: the variants, and the product's own
//! price, quantity and stock. The rules are every platform's; it must not know where an option's fields are
//! in an answer.

use domain::menu::product::{StockStatus, Variant};
use domain::menu::size::{self, Size};

/// The label of an option that has none.
pub const NO_LABEL: &str = "N/A";

pub struct Offer {
    pub variants: Vec<Variant>,
    /// Prices of the option that costs least, for everyone and for patients.
    pub rec: LowestPrice,
    pub med: LowestPrice,
    /// Summed over the options that have one; none where their sum is 0 and another option's is unknown.
    pub quantity: Option<i32>,
    pub stock_status: StockStatus,
}

/// Price and special price of one and the same option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LowestPrice {
    pub price: Option<i32>,
    pub special: Option<i32>,
}

pub struct OptionOffer {
    pub label: String,
    /// Net weight, where the label states no size.
    pub net_weight_mg: Option<i64>,
    pub price: OptionPrice,
    pub stock: OptionStock,
}

/// Prices in cents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct OptionPrice {
    pub rec: Option<i32>,
    pub med: Option<i32>,
    pub special_rec: Option<i32>,
    pub special_med: Option<i32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptionStock {
    pub quantity: Option<i32>,
    /// `quantity` is upstream's cap: the real number may be higher.
    pub censored: bool,
}

impl Offer {
    /// `is_sold`: whether the platform lists the product as one that can be bought.
    pub fn new(options: Vec<OptionOffer>, is_sold: bool) -> Offer {
        let stock_status = product_status(is_sold, options.iter().map(|option| option.stock));
        let quantity = options.iter().filter_map(|option| option.stock.quantity).reduce(i32::saturating_add);
        let nths = nths(&options);
        let variants = options.into_iter().zip(nths).map(|(option, nth)| option.into_variant(nth, is_sold));
        let variants: Vec<Variant> = variants.collect();
        Offer {
            rec: lowest(variants.iter().map(|variant| (variant.price_rec, variant.special_price_rec))),
            med: lowest(variants.iter().map(|variant| (variant.price_med, variant.special_price_med))),
            quantity: quantity.filter(|_| stock_status != StockStatus::Unknown),
            stock_status,
            variants,
        }
    }

    pub fn is_on_special(&self) -> bool {
        self.variants.iter().any(|variant| variant.special_price_rec.is_some() || variant.special_price_med.is_some())
    }

    pub fn is_quantity_censored(&self) -> bool {
        self.variants.iter().any(|variant| variant.quantity_censored)
    }
}

impl OptionOffer {
    fn into_variant(self, nth: i16, is_sold: bool) -> Variant {
        let size = size::size(&self.label).or(self.net_weight_mg.map(Size::Mg));
        let OptionPrice { rec, med, special_rec, special_med } = self.price;
        Variant {
            option_label: self.label,
            nth,
            size_mg: size.and_then(|size| if let Size::Mg(mg) = size { Some(mg) } else { None }),
            size_ml: size.and_then(|size| if let Size::Ml(ml) = size { Some(ml) } else { None }),
            price_rec: rec,
            price_med: med,
            special_price_rec: sale(rec, special_rec),
            special_price_med: sale(med, special_med),
            quantity: self.stock.quantity,
            quantity_censored: self.stock.censored,
            is_in_stock: status(is_sold, self.stock.quantity).is_sellable(),
        }
    }
}

/// A price of nothing is a placeholder, unless there is no other.
fn lowest(prices: impl Iterator<Item = (Option<i32>, Option<i32>)>) -> LowestPrice {
    let prices = prices.filter_map(|(price, special)| Some((price?, special)));
    let lowest = prices.min_by_key(|(price, special)| (*price == 0, special.unwrap_or(*price)));
    lowest.map(|(price, special)| LowestPrice { price: Some(price), special }).unwrap_or_default()
}

/// 0 means no sale; neither is a sale that is not lower.
fn sale(price: Option<i32>, special: Option<i32>) -> Option<i32> {
    special.filter(|special| *special > 0 && price.is_some_and(|price| *special < price))
}

fn status(is_sold: bool, quantity: Option<i32>) -> StockStatus {
    match (is_sold, quantity) {
        (false, _) | (true, Some(..=0)) => StockStatus::Oos,
        (true, None) => StockStatus::Unknown,
        (true, Some(_)) => StockStatus::InStock,
    }
}

/// A product is as well in stock as the best of its options; one without options says nothing of its stock.
fn product_status(is_sold: bool, stocks: impl Iterator<Item = OptionStock>) -> StockStatus {
    let rank = |status: &StockStatus| match status {
        StockStatus::InStock => 2,
        StockStatus::Unknown => 1,
        StockStatus::Oos => 0,
    };
    let best = stocks.map(|stock| status(is_sold, stock.quantity)).max_by_key(rank);
    best.unwrap_or_else(|| status(is_sold, None))
}

/// Counts for each option how many of the same label precede it.
fn nths(options: &[OptionOffer]) -> Vec<i16> {
    let nth = |(at, option): (usize, &OptionOffer)| {
        let same = options[..at].iter().filter(|before| before.label == option.label);
        i16::try_from(same.count()).unwrap_or(i16::MAX)
    };
    options.iter().enumerate().map(nth).collect()
}

//! `Offer`: a product as a whole, computed from its options.
//!
//! In: each option with its prices and stock, in the menu's order. Out: the variants, and the product's own
//! price, quantity and stock. The rules are every platform's; it must not know where an option's fields are
//! in an answer.

use domain::menu::product::{Product, StockStatus, Variant};
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

/// The menus that have a product, or all of a store's menus: the one for everyone, the one for patients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Menus {
    pub is_recreational: bool,
    pub is_medical: bool,
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

    /// The product, with nothing but the fields that follow from its options.
    pub fn into_product(self) -> Product {
        let is_on_special = |variant: &Variant| variant.special_price_rec.or(variant.special_price_med).is_some();
        Product {
            price_rec: self.rec.price,
            price_med: self.med.price,
            special_price_rec: self.rec.special,
            special_price_med: self.med.special,
            is_on_special: self.variants.iter().any(is_on_special),
            quantity: self.quantity,
            quantity_censored: self.variants.iter().any(|variant| variant.quantity_censored),
            is_in_stock: self.stock_status.is_sellable(),
            stock_status: self.stock_status,
            variants: self.variants,
            ..Product::default()
        }
    }
}

impl Menus {
    pub const RECREATIONAL: Menus = Menus { is_recreational: true, is_medical: false };
    pub const MEDICAL: Menus = Menus { is_recreational: false, is_medical: true };
    pub const BOTH: Menus = Menus { is_recreational: true, is_medical: true };

    /// The price of an option that costs the same on each of the menus.
    pub fn price(self, regular: Option<i32>, special: Option<i32>) -> OptionPrice {
        OptionPrice {
            rec: regular.filter(|_| self.is_recreational),
            med: regular.filter(|_| self.is_medical),
            special_rec: special.filter(|_| self.is_recreational),
            special_med: special.filter(|_| self.is_medical),
        }
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

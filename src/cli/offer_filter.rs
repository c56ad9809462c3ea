//! `OfferFilter`: the flags of prices and stock by which products are selected, of the commands that list them.

use clap::Args;

use super::values;

#[derive(Debug, Args)]
pub struct OfferFilter {
    /// Only products in stock
    #[arg(long)]
    in_stock: bool,
    /// Only products on special
    #[arg(long)]
    on_special: bool,
    /// Lowest price, in dollars
    #[arg(long, value_name = "PRICE", value_parser = values::cents)]
    min_price: Option<i32>,
    /// Highest price, in dollars
    #[arg(long, value_name = "PRICE", value_parser = values::cents)]
    max_price: Option<i32>,
    /// Highest price by gram, in dollars
    #[arg(long, value_name = "PRICE", value_parser = values::millicents)]
    max_per_gram: Option<i64>,
}

impl OfferFilter {
    /// Filters by the names that the API has for them.
    pub fn named(&self) -> [(&'static str, Option<String>); 5] {
        let flag = |is_given: bool| is_given.then(|| "true".to_owned());
        [
            ("in_stock", flag(self.in_stock)),
            ("on_special", flag(self.on_special)),
            ("min_price", self.min_price.map(|cents| cents.to_string())),
            ("max_price", self.max_price.map(|cents| cents.to_string())),
            ("max_unit_price", self.max_per_gram.map(|price| price.to_string())),
        ]
    }
}

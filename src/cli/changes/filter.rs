//! `ChangeFilter`: the flags by which changes are selected, of every command about changes.

use crate::cli::store_name::StoreName;
use crate::cli::values;

#[derive(Debug, clap::Args)]
pub struct ChangeFilter {
    /// Only the store with this id, slug or name
    #[arg(long, value_name = "STORE", allow_negative_numbers = true)]
    pub store: Option<StoreName>,
    /// Only stores of this group
    #[arg(long)]
    pub group: Option<String>,
    /// Only stores in this state, such as AZ
    #[arg(long)]
    pub state: Option<String>,
    /// Only products of this brand
    #[arg(long)]
    pub brand: Option<String>,
    /// Only products of this category, in the platform's word or a canonical one, such as pre_roll
    #[arg(long)]
    pub category: Option<String>,
    /// Only changes of the price by this percentage or more
    #[arg(long, value_name = "PERCENT", value_parser = values::percentage)]
    pub min_percent: Option<f64>,
    /// Only changes of the price by this much or more, in dollars
    #[arg(long, value_name = "PRICE", value_parser = values::cents)]
    pub min_change: Option<i32>,
}

//! `drover export`: writes a dataset, such as all changes, as CSV, JSON lines or Parquet. Out: stdout, or a file that is
//! written whole or not at all.

mod file;
mod new_file;
pub mod sink;

use std::path::PathBuf;

use chrono::{DateTime, Utc};

use super::store_name::{self, StoreName};
use super::values::{self, Since};
use super::{Env, ExitCode};
use contract::exports::{Dataset, ExportFormat};
use contract::prices::{PriceChangeSort, PriceDirection, PriceUnit, PricesBy};
use domain::menu::changes::ChangeKind;
use domain::menu::product::ProductId;
use domain::store::Platform;
use foundation::clock::Clock;

pub use file::ExportFile;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// changes, option_history (each change of an option's price, quantity or stock), options, price_changes (prices that differ
    /// from those of another time), products, stores or unit_prices (prices by gram and other units)
    #[arg(value_name = "DATASET", value_parser = values::word::<Dataset>)]
    dataset: Dataset,
    /// csv, jsonl (an object per line) or parquet [default: csv, with --json jsonl]
    #[arg(long, value_name = "FORMAT", value_parser = values::word::<ExportFormat>)]
    format: Option<ExportFormat>,
    /// Write this file, replacing it once all rows are written [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Only these columns, in this order, separated by commas [default: all]
    #[arg(long, value_name = "COLUMN,…")]
    columns: Option<String>,
    #[command(flatten)]
    only: CommonFilters,
    #[command(flatten)]
    of_products: ProductFilters,
    #[command(flatten)]
    of_changes: ChangeFilters,
    #[command(flatten)]
    of_prices: PriceFilters,
}

/// Flags of filters that most datasets have.
#[derive(Debug, clap::Args)]
struct CommonFilters {
    /// Only the store with this id, slug or name
    #[arg(long, value_name = "STORE", allow_negative_numbers = true)]
    store: Option<StoreName>,
    /// Only stores of this group
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// Only stores in this state, such as AZ
    #[arg(long)]
    state: Option<String>,
    /// Only stores in this city
    #[arg(long, value_name = "NAME")]
    city: Option<String>,
    /// Only stores of this platform
    #[arg(long)]
    platform: Option<Platform>,
    /// Only products of this brand, in any letter case; of the dataset products, brands that begin so
    #[arg(long, value_name = "NAME")]
    brand: Option<String>,
    /// Only products of this category, in the platform's word or a canonical one, such as pre_roll
    #[arg(long, value_name = "NAME")]
    category: Option<String>,
    /// changes, option_history: only since this day (UTC) or time, or of this span until now, such as 7d; price_changes: the day
    /// or time whose prices are compared
    #[arg(long, value_name = "DAY|TIME|SPAN", value_parser = values::since_or_span)]
    since: Option<Since>,
    /// changes, option_history: only until the end of this day (UTC), or before this time
    #[arg(long, value_name = "DAY|TIME", value_parser = values::until)]
    until: Option<DateTime<Utc>>,
}

#[derive(Debug, clap::Args)]
struct ProductFilters {
    /// products, price_changes: only products that the search finds by these words
    #[arg(long, value_name = "TEXT")]
    words: Option<String>,
    /// products, price_changes: only those in stock
    #[arg(long)]
    in_stock: bool,
    /// products, price_changes: only those on special
    #[arg(long)]
    on_special: bool,
    /// products, price_changes: lowest price, in dollars
    #[arg(long, value_name = "PRICE", value_parser = values::cents)]
    min_price: Option<i32>,
    /// products, changes, price_changes: highest price, in dollars; of a change, the price after it
    #[arg(long, value_name = "PRICE", value_parser = values::cents)]
    max_price: Option<i32>,
    /// products, changes, price_changes: highest price by gram, in dollars
    #[arg(long, value_name = "PRICE", value_parser = values::millicents)]
    max_per_gram: Option<i64>,
}

#[derive(Debug, clap::Args)]
struct ChangeFilters {
    /// changes: only this kind (several: separated by commas), such as price_drop
    #[arg(long, value_delimiter = ',', value_parser = values::word::<ChangeKind>)]
    kind: Vec<ChangeKind>,
    /// changes: only of the product with this id
    #[arg(long, value_name = "ID", allow_negative_numbers = true, value_parser = values::id)]
    product: Option<ProductId>,
    /// changes: only those of the price by this percentage or more
    #[arg(long, value_name = "PERCENT", value_parser = values::percentage)]
    min_percent: Option<f64>,
    /// changes: only those of the price by this much or more, in dollars
    #[arg(long, value_name = "PRICE", value_parser = values::cents)]
    min_change: Option<i32>,
}

#[derive(Debug, clap::Args)]
struct PriceFilters {
    /// price_changes: only prices that went this way: drop or rise
    #[arg(long, value_parser = values::word::<PriceDirection>)]
    direction: Option<PriceDirection>,
    /// price_changes: order: percent, cents or newest [default: percent]
    #[arg(long, value_parser = values::word::<PriceChangeSort>)]
    sort: Option<PriceChangeSort>,
    /// unit_prices: rows: category, brand, state or week [default: category]
    #[arg(long, value_parser = values::word::<PricesBy>)]
    by: Option<PricesBy>,
    /// unit_prices: g (a gram), ml (a millilitre) or mg_thc (a milligram of THC) [default: g]
    #[arg(long, value_parser = values::word::<PriceUnit>)]
    unit: Option<PriceUnit>,
    /// unit_prices: a day of the week to show [default: the newest week]
    #[arg(long, value_name = "DAY")]
    week: Option<String>,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let flags = &[("q", "--words"), ("max_unit_price", "--max-per-gram"), ("min_cents", "--min-change")];
    let api = env.api_to_read().await?.naming(flags);
    let store = store_name::id_of(args.only.store.as_ref(), &api).await?;
    let filters = args.only.named().into_iter().chain(args.of_products.named()).chain(args.of_changes.named());
    let filters = filters.chain(args.of_prices.named());
    let filters =
        [("store", store.map(|store| store.to_string())), ("columns", args.columns)].into_iter().chain(filters);
    ExportFile { dataset: args.dataset, format: args.format, out: args.out }.write(&api, filters, env).await
}

/// Filters by the names that the API has for them.
type Named<const N: usize> = [(&'static str, Option<String>); N];

impl CommonFilters {
    /// All but the store, whose id is looked up.
    fn named(self) -> Named<8> {
        let CommonFilters { store: _, group, state, city, platform, brand, category, since, until } = self;
        let now = Clock::system().utc();
        [
            ("group", group),
            ("state", state),
            ("city", city),
            ("platform", platform.map(|platform| platform.name().to_owned())),
            ("brand", brand),
            ("category", category),
            ("since", since.map(|since| since.beginning(now).to_rfc3339())),
            ("until", until.map(|until| until.to_rfc3339())),
        ]
    }
}

impl ProductFilters {
    fn named(self) -> Named<6> {
        let flag = |is_given: bool| is_given.then(|| "true".to_owned());
        [
            ("q", self.words),
            ("in_stock", flag(self.in_stock)),
            ("on_special", flag(self.on_special)),
            ("min_price", self.min_price.map(|cents| cents.to_string())),
            ("max_price", self.max_price.map(|cents| cents.to_string())),
            ("max_unit_price", self.max_per_gram.map(|price| price.to_string())),
        ]
    }
}

impl ChangeFilters {
    fn named(self) -> Named<4> {
        let kinds: Vec<&str> = self.kind.iter().map(|kind| kind.name()).collect();
        [
            ("kind", Some(kinds.join(",")).filter(|kinds| !kinds.is_empty())),
            ("product", self.product.map(|product| product.to_string())),
            ("min_percent", self.min_percent.map(|percent| percent.to_string())),
            ("min_cents", self.min_change.map(|cents| cents.to_string())),
        ]
    }
}

impl PriceFilters {
    fn named(self) -> Named<5> {
        let PriceFilters { direction, sort, by, unit, week } = self;
        [
            ("direction", direction.map(|direction| direction.name().to_owned())),
            ("sort", sort.map(|sort| sort.name().to_owned())),
            ("by", by.map(|by| by.name().to_owned())),
            ("unit", unit.map(|unit| unit.name().to_owned())),
            ("week", week),
        ]
    }
}

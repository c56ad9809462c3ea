//! `drover prices by-unit`.

use crate::cli::{Env, ExitCode, time, unit_price, values, with_query};
use contract::prices::{PriceUnit, PricesBy, UnitPricePage, UnitPrices};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Rows: category, brand, state or week [default: category]
    #[arg(long, value_parser = values::word::<PricesBy>)]
    by: Option<PricesBy>,
    /// The unit: g (a gram), ml (a millilitre) or mg_thc (a milligram of THC) [default: g]
    #[arg(long, value_parser = values::word::<PriceUnit>)]
    unit: Option<PriceUnit>,
    /// Only stores in this state, such as AZ
    #[arg(long)]
    state: Option<String>,
    /// Only this canonical category, such as pre_roll
    #[arg(long)]
    category: Option<String>,
    /// Only this brand
    #[arg(long)]
    brand: Option<String>,
    /// A day of the week to show [default: the newest week]
    #[arg(long, value_name = "DAY")]
    week: Option<String>,
    /// Maximum number of rows
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
    limit: i64,
}

const HEADERS: [&str; 12] = [
    "week",
    "state",
    "category",
    "brand",
    "stores",
    "menus",
    "options",
    "lowest",
    "quarter",
    "median",
    "3 quarters",
    "highest",
];

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?.naming(&[("week", "--week")]);
    let query = [
        ("by", args.by.map(|by| by.name().to_owned())),
        ("unit", args.unit.map(|unit| unit.name().to_owned())),
        ("state", args.state),
        ("category", args.category),
        ("brand", args.brand),
        ("week", args.week),
        ("limit", Some(args.limit.to_string())),
    ];
    let page: UnitPricePage = api.get(&with_query("/api/analytics/unit-prices", query)).await?;
    env.out.list(&page, &page.prices, &HEADERS, cells)?;
    match page.as_of {
        None => env.out.note("nothing to compare yet: each refresh of analytics computes prices by unit"),
        Some(as_of) => env.out.note(format_args!("as of the refresh of {}", time(as_of))),
    }
    env.out.note_of_more(page.next_cursor.is_some(), args.limit);
    Ok(ExitCode::Ok)
}

fn cells(row: &UnitPrices) -> Vec<String> {
    let price = |millicents: Option<i64>| {
        millicents.and_then(|millicents| unit_price::of_unit(&row.unit, millicents)).unwrap_or_default()
    };
    vec![
        row.week.to_string(),
        row.state.clone().unwrap_or_default(),
        row.category.clone().unwrap_or_default(),
        row.brand.clone().unwrap_or_default(),
        row.stores.to_string(),
        format!("{:.1} %", 100.0 * row.share),
        row.options.to_string(),
        price(row.min),
        price(row.p25),
        price(row.median),
        price(row.p75),
        price(row.max),
    ]
}

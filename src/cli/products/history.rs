//! `drover products history ID`: prints a line per crawl, or, for an option, a line per change.

use chrono::{DateTime, Utc};

use crate::cli::{Env, ExitCode, amount, time, values, with_query};
use contract::products::{OfferPoint, OptionHistory, ProductHistory};
use domain::amounts::money;
use domain::menu::product::ProductId;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Product id, as shown by `products search`
    #[arg(allow_negative_numbers = true, value_parser = values::id)]
    id: ProductId,
    /// Start at this day (UTC) or time [default: 90 days ago]
    #[arg(long, value_name = "DAY|TIME", value_parser = values::since)]
    since: Option<DateTime<Utc>>,
    /// End after this day (UTC), or before this time [default: now]
    #[arg(long, value_name = "DAY|TIME", value_parser = values::until)]
    until: Option<DateTime<Utc>>,
    /// Show the option with this label, as shown by `products show`, instead of the product
    #[arg(long, value_name = "LABEL")]
    option: Option<String>,
    /// Show the n-th option with that label, counted from 0
    #[arg(long, value_name = "N", default_value_t = 0, requires = "option", allow_negative_numbers = true, value_parser = values::number(0..=i16::MAX))]
    nth: i16,
    /// Maximum number of lines; crawls without a change are left out first
    #[arg(long, value_name = "N", default_value_t = 100, allow_negative_numbers = true, value_parser = values::number(1..=1000_i64))]
    points: i64,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let nth = args.option.is_some().then(|| args.nth.to_string());
    let query = [
        ("from", args.since.map(|from| from.to_rfc3339())),
        ("to", args.until.map(|to| to.to_rfc3339())),
        ("points", Some(args.points.to_string())),
        ("option", args.option),
        ("nth", nth),
    ];
    let path = format!("/api/products/{}/history", args.id);
    let api = env.api_to_read().await?.naming(&[("from", "--since"), ("to", "--until")]);
    let history: ProductHistory = api.get(&with_query(&path, query)).await?;
    let lines = lines(&history);
    let headers = ["crawled", "price", "special", "medical", "medical special", "stock", "quantity"];
    env.out.list(&history, &lines, &headers, Clone::clone)?;
    env.out.note_of_none(&lines, "no prices to show: each crawl of its store that finds a change adds a line");
    Ok(ExitCode::Ok)
}

fn lines(history: &ProductHistory) -> Vec<Vec<String>> {
    if let Some(OptionHistory { points, .. }) = &history.option {
        let lines = points.iter().map(|point| line(point.crawled_at, &point.offer, point.gone));
        return lines.collect();
    }
    history.points.iter().map(|point| line(point.crawled_at, &point.offer, false)).collect()
}

fn line(at: DateTime<Utc>, offer: &OfferPoint, gone: bool) -> Vec<String> {
    let shown = |cents: Option<i32>| cents.map(money).unwrap_or_default();
    let stock = match offer.is_in_stock {
        _ if gone => "gone",
        true => "yes",
        false => "no",
    };
    vec![
        time(at),
        shown(offer.price_rec),
        shown(offer.special_price_rec),
        shown(offer.price_med),
        shown(offer.special_price_med),
        stock.to_owned(),
        amount(offer.quantity, offer.quantity_censored).unwrap_or_default(),
    ]
}

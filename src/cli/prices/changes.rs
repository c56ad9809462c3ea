//! `drover prices changes`.

use crate::cli::offer_filter::OfferFilter;
use crate::cli::store_name::{self, StoreName};
use crate::cli::values::Since;
use crate::cli::{Env, ExitCode, time, unit_price, values, with_query};
use contract::prices::{PriceChangeSort, PriceDifference, PriceDifferences, PriceDirection};
use contract::products::MatchKind;
use domain::amounts::money;
use domain::store::Platform;
use foundation::clock::Clock;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Words or beginnings of words of the name and brand [default: all products that match the options]
    words: Vec<String>,
    /// A day (UTC), a time, or a span back from now, such as 7d [default: 7d]
    #[arg(long, value_name = "TIME", value_parser = values::since_or_span)]
    since: Option<Since>,
    /// Only prices that went this way: drop or rise
    #[arg(long, value_parser = values::word::<PriceDirection>)]
    direction: Option<PriceDirection>,
    /// Order: percent, cents or newest [default: percent]
    #[arg(long, value_parser = values::word::<PriceChangeSort>)]
    sort: Option<PriceChangeSort>,
    /// Only stores in this state, such as AZ
    #[arg(long)]
    state: Option<String>,
    /// Only stores in this city
    #[arg(long)]
    city: Option<String>,
    /// Only stores of this platform
    #[arg(long)]
    platform: Option<Platform>,
    /// Only stores of this group
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// Only the store with this id, slug or name
    #[arg(long, value_name = "STORE", allow_negative_numbers = true)]
    store: Option<StoreName>,
    /// Only products of this canonical category, such as pre_roll
    #[arg(long)]
    category: Option<String>,
    /// Only this brand
    #[arg(long)]
    brand: Option<String>,
    #[command(flatten)]
    offer: OfferFilter,
    /// Maximum number of options
    #[arg(long, value_name = "N", default_value_t = 20, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
    limit: i64,
}

const HEADERS: [&str; 11] =
    ["id", "product", "brand", "option", "before", "now", "change", "%", "per unit", "store", "changed"];

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?;
    let store = store_name::id_of(args.store.as_ref(), &api).await?;
    let query = [
        ("q", Some(args.words.join(" ")).filter(|words| !words.is_empty())),
        ("since", args.since.map(|since| since.beginning(Clock::system().utc()).to_rfc3339())),
        ("direction", args.direction.map(|direction| direction.name().to_owned())),
        ("sort", args.sort.map(|sort| sort.name().to_owned())),
        ("state", args.state),
        ("city", args.city),
        ("platform", args.platform.map(|platform| platform.name().to_owned())),
        ("group", args.group),
        ("store", store.map(|store| store.to_string())),
        ("category", args.category),
        ("brand", args.brand),
        ("limit", Some(args.limit.to_string())),
    ];
    let query = query.into_iter().chain(args.offer.named());
    let api = api.naming(&[("q", "WORDS"), ("max_unit_price", "--max-per-gram")]);
    let found: PriceDifferences = api.get(&with_query("/api/analytics/price-changes", query)).await?;
    env.out.list(&found, &found.changes, &HEADERS, cells)?;
    note(&found, env);
    Ok(ExitCode::Ok)
}

fn note(found: &PriceDifferences, env: &Env) {
    let Some(as_of) = found.as_of else {
        return env.out.note("nothing to compare yet: each refresh of analytics looks at the changes before it");
    };
    env.out.note(format_args!("compared with {}, as of the refresh of {}", time(found.since), time(as_of)));
    env.out.note_of_none(&found.changes, "no price differs");
    if matches!(found.r#match, MatchKind::Corrected | MatchKind::Trigrams) && !found.changes.is_empty() {
        env.out.note("no product has these words: these are spelled alike");
    }
    if found.truncated {
        env.out.note("only the largest changes since then were compared: add a filter");
    }
}

fn cells(row: &PriceDifference) -> Vec<String> {
    let sign = if row.cents > 0 { "+" } else { "-" };
    let by_unit = row.unit.as_ref().zip(row.unit_price).and_then(|(unit, price)| unit_price::of_unit(unit, price));
    vec![
        row.product_id.to_string(),
        row.product_name.clone(),
        row.brand.clone().unwrap_or_default(),
        row.option.label.clone(),
        money(row.price_before),
        money(row.price),
        format!("{sign}{}", money(row.cents.saturating_abs())),
        row.percent.map(|percent| format!("{percent:+.1}")).unwrap_or_default(),
        by_unit.unwrap_or_default(),
        row.store_name.clone(),
        time(row.changed_at),
    ]
}

//! `drover products search`.

use crate::cli::offer_filter::OfferFilter;
use crate::cli::store_name::{self, StoreName};
use crate::cli::{Env, ExitCode, Output, time, unit_price, values, with_query};
use contract::products::{FoundPage, FoundProduct, MatchKind, ProductView, SearchSort};
use domain::amounts::{counted, money};
use domain::store::Platform;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Words or beginnings of words [default: all products that match the options]
    words: Vec<String>,
    /// Only stores in this state, such as AZ
    #[arg(long)]
    state: Option<String>,
    /// Only stores in this city
    #[arg(long)]
    city: Option<String>,
    /// Only stores of this platform
    #[arg(long)]
    platform: Option<Platform>,
    /// Only the store with this id, slug or name
    #[arg(long, value_name = "STORE", allow_negative_numbers = true)]
    store: Option<StoreName>,
    /// Only products of this category, in the platform's word or a canonical one, such as pre_roll
    #[arg(long)]
    category: Option<String>,
    /// Only brands that begin with this text
    #[arg(long)]
    brand: Option<String>,
    #[command(flatten)]
    offer: OfferFilter,
    /// Order: relevance (default with words), name (default without), price, price_desc, unit_price (by gram, then by
    /// milligram of THC), price_change (unchanged ones last) or newest
    #[arg(long, value_parser = values::word::<SearchSort>)]
    sort: Option<SearchSort>,
    /// Maximum number of products
    #[arg(long, value_name = "N", default_value_t = 20, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
    limit: i64,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?;
    let store = store_name::id_of(args.store.as_ref(), &api).await?;
    let query = [
        ("q", Some(args.words.join(" ")).filter(|words| !words.is_empty())),
        ("state", args.state),
        ("city", args.city),
        ("platform", args.platform.map(|platform| platform.name().to_owned())),
        ("store", store.map(|store| store.to_string())),
        ("category", args.category),
        ("brand", args.brand),
        ("sort", args.sort.map(|sort| <&str>::from(sort).to_owned())),
        ("limit", Some(args.limit.to_string())),
    ];
    let query = query.into_iter().chain(args.offer.named());
    let found: FoundPage = api.naming(&[("q", "WORDS")]).get(&with_query("/api/products/search", query)).await?;
    let mut headers = vec!["id", "product", "brand", "category", "price", "per unit", "stock", "store", "state"];
    let shows_change = args.sort == Some(SearchSort::PriceChange);
    if shows_change {
        headers.extend(["before", "changed"]);
    }
    let row = |found: &FoundProduct| {
        let change = if shows_change { change_cells(found) } else { Vec::new() };
        [cells(&found.product), change].concat()
    };
    env.out.list(&found, &found.products, &headers, row)?;
    note(&found, &env.out);
    Ok(ExitCode::Ok)
}

/// Says on stderr how the list differs from the request; the JSON has it in fields.
fn note(found: &FoundPage, out: &Output) {
    let is_alike = matches!(found.r#match, MatchKind::Corrected | MatchKind::Trigrams);
    if found.products.is_empty() {
        out.note("no product matches");
        if !found.forgives_spelling {
            out.note("spelling mistakes are not corrected yet: the index of words is built after the first crawls");
        }
    } else if is_alike {
        out.note("no product has all of these words; these have a similar spelling");
    }
    if found.truncated {
        out.note("too many products match, so only some were searched; add more words");
    }
    if found.stores_waiting > 0 {
        let stores = counted(found.stores_waiting, "store");
        out.note(format_args!(
            "not in the search yet: the latest crawls of {stores}, which a running drover adds automatically"
        ));
    }
}

fn cells(product: &ProductView) -> Vec<String> {
    vec![
        product.id.to_string(),
        product.name.clone(),
        product.brand.clone().unwrap_or_default(),
        product.category.clone().unwrap_or_default(),
        product.price.map(money).unwrap_or_default(),
        unit_price::of_product(product).unwrap_or_default(),
        if product.is_in_stock { "yes" } else { "no" }.to_owned(),
        product.dispensary_name.clone(),
        product.state.clone().unwrap_or_default(),
    ]
}

/// The price before the latest change, and when it changed.
fn change_cells(found: &FoundProduct) -> Vec<String> {
    vec![
        found.price_before.map(money).unwrap_or_default(),
        found.price_changed_at.map_or_else(|| "never".to_owned(), time),
    ]
}

//! `drover payload diff STORE`: the changes from one payload of a store to another.

use crate::cli::{Env, ExitCode, StoreName, amount, time, values, with_query};
use domain::amounts::{counted, money};
use domain::payload::PayloadId;
use domain::payload::diff::{
    ComparedPayload, DiffDetails, OptionOffer, PayloadDiff, Prices, ProductChange, ProductOffer, StockLevel,
};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Id, slug or name of the store
    #[arg(allow_negative_numbers = true)]
    store: StoreName,
    /// Older payload, as shown by `payload list` [default: the one before --to]
    #[arg(long, value_name = "ID", allow_negative_numbers = true, value_parser = values::id)]
    from: Option<PayloadId>,
    /// Newer payload [default: the latest of the store]
    #[arg(long, value_name = "ID", allow_negative_numbers = true, value_parser = values::id)]
    to: Option<PayloadId>,
}

/// One line of the table: the change, the product with its option, before and after.
type Line = [String; 4];

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?;
    let path = format!("/api/payloads/store/{}/diff", args.store.id(&api).await?);
    let query = [("from", args.from), ("to", args.to)];
    let diff: PayloadDiff = api.get(&with_query(&path, query)).await?;
    if !env.out.is_json() {
        env.out.line(summary(&diff))?;
    }
    let lines = lines(&diff.details);
    if env.out.is_json() || !lines.is_empty() {
        env.out.list(&diff, &lines, &["change", "product", "from", "to"], |line| line.to_vec())?;
    }
    if diff.details.truncated {
        tracing::warn!("the list is incomplete; the counts are complete");
    }
    Ok(ExitCode::Ok)
}

fn summary(diff: &PayloadDiff) -> String {
    let shown = |payload: &ComparedPayload| {
        format!(
            "payload {} of {} ({})",
            payload.id,
            time(payload.fetched_at),
            counted(payload.product_count, "product")
        )
    };
    let counts = &diff.diff;
    format!(
        "{} → {}\nadded {}, removed {}, price changes {}, stock changes {}, option changes {}, same {}",
        shown(&diff.from),
        shown(&diff.to),
        counts.added,
        counts.removed,
        counts.price_changes,
        counts.stock_changes,
        counts.option_changes,
        counts.same
    )
}

fn lines(details: &DiffDetails) -> Vec<Line> {
    let added = details.added.iter().map(|offer| line("added", named(offer), String::new(), shown_offer(offer)));
    let removed = details.removed.iter().map(|offer| line("removed", named(offer), shown_offer(offer), String::new()));
    let of_price = details.price_changes.iter().flat_map(|change| changes("price", change, prices));
    let of_stock = details.stock_changes.iter().flat_map(|change| changes("stock", change, stock));
    let of_options = details.option_changes.iter().flat_map(|change| {
        let name = |option: &OptionOffer| format!("{} · {}", change.name, option.label);
        let gained = change
            .added
            .iter()
            .map(move |option| line("option added", name(option), String::new(), prices(&option.prices)));
        let lost = change
            .removed
            .iter()
            .map(move |option| line("option removed", name(option), prices(&option.prices), String::new()));
        gained.chain(lost)
    });
    added.chain(removed).chain(of_price).chain(of_stock).chain(of_options).collect()
}

/// A product's own change, unless only its options changed, and a line for each of these.
fn changes<T: PartialEq>(kind: &str, change: &ProductChange<T>, shown: impl Fn(&T) -> String) -> Vec<Line> {
    let of = |name: String, from: &T, to: &T| line(kind, name, shown(from), shown(to));
    let own = (change.from != change.to).then(|| of(change.name.clone(), &change.from, &change.to));
    let options =
        change.options.iter().map(|option| of(format!("{} · {}", change.name, option.label), &option.from, &option.to));
    own.into_iter().chain(options).collect()
}

fn line(kind: &str, product: String, from: String, to: String) -> Line {
    [kind.to_owned(), product, from, to]
}

fn named(offer: &ProductOffer) -> String {
    match &offer.brand {
        Some(brand) => format!("{} ({brand})", offer.name),
        None => offer.name.clone(),
    }
}

fn shown_offer(offer: &ProductOffer) -> String {
    [prices(&offer.prices), stock(&offer.stock)]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

/// `$10.00, special $9.00, medical $8.00`
fn prices(prices: &Prices) -> String {
    let parts = [
        ("", prices.price_rec),
        ("special ", prices.special_price_rec),
        ("medical ", prices.price_med),
        ("medical special ", prices.special_price_med),
    ];
    let parts = parts.into_iter().filter_map(|(name, cents)| Some(format!("{name}{}", money(cents?))));
    parts.collect::<Vec<_>>().join(", ")
}

fn stock(stock: &StockLevel) -> String {
    match (stock.is_in_stock, amount(stock.quantity, stock.quantity_censored)) {
        (false, _) => "out of stock".to_owned(),
        (true, Some(amount)) => amount,
        (true, None) => "in stock".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::payload::diff::OptionChange;

    #[test]
    fn a_product_whose_options_alone_changed_has_no_line_of_its_own() {
        let cost = |cents| Prices { price_rec: Some(cents), ..Prices::default() };
        let option = OptionChange { label: "1g".to_owned(), nth: 0, from: cost(1000), to: cost(900) };
        let change = ProductChange {
            id: "a".to_owned(),
            name: "Blue Dream".to_owned(),
            brand: None,
            from: cost(1000),
            to: cost(1000),
            options: vec![option],
        };
        assert_eq!(changes("price", &change, prices), [["price", "Blue Dream · 1g", "$10.00", "$9.00"]]);
    }

    #[test]
    fn a_quantity_at_the_platforms_cap_may_be_more() {
        let shown = |quantity_censored| stock(&StockLevel { is_in_stock: true, quantity: Some(20), quantity_censored });
        assert_eq!((shown(false), shown(true)), ("20".to_owned(), "20 or more".to_owned()));
    }
}

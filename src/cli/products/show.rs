//! `drover products show ID`: a product with its options.

use crate::cli::{Env, ExitCode, amount, time, unit_price};
use contract::products::{OptionView, ProductDetail, ProductView};
use domain::amounts::{counted, money};
use domain::menu::attributes::Attributes;
use domain::menu::product::ProductId;

pub async fn run(id: ProductId, env: &Env) -> anyhow::Result<ExitCode> {
    let detail: ProductDetail = env.api_to_read().await?.get(&format!("/api/products/{id}")).await?;
    env.out.either(&detail, text)?;
    Ok(ExitCode::Ok)
}

fn text(detail: &ProductDetail) -> String {
    let product = &detail.product;
    let attributes = detail.attributes.clone().unwrap_or_default();
    let fields = [
        ("product", Some(format!("{} {}", product.id, product.name))),
        ("brand", product.brand.clone()),
        ("category", joined([&product.category, &product.subcategory, &product.strain_type])),
        ("store", Some(store(product))),
        ("platform", Some(format!("{} {}", product.platform, product.provider_product_id))),
        ("price", price(product.price_rec, product.special_price_rec)),
        ("medical", price(product.price_med, product.special_price_med)),
        ("thc", potency(product.thc_min, product.thc_max, product.thc_unit.as_deref())),
        ("cbd", potency(product.cbd_min, product.cbd_max, product.cbd_unit.as_deref())),
        ("stock", Some(stock(product))),
        ("seen", Some(format!("{} to {}", time(product.first_seen_at), time(product.last_seen_at)))),
        ("strain", attributes.strain_name.clone()),
        ("terpenes", terpenes(&attributes)),
        ("tags", listed(&attributes.tags)),
        ("rating", rating(&attributes)),
        ("page", attributes.item_url),
        ("image", product.image_url.clone()),
    ];
    let fields = fields.into_iter().filter_map(|(name, value)| Some(format!("{name:<10}{}", value?)));
    fields.chain(detail.options.iter().map(option)).collect::<Vec<_>>().join("\n")
}

/// `Myrcene 0.4 %, Pinene`
fn terpenes(attributes: &Attributes) -> Option<String> {
    let percent = |percent| format!(" {percent} %");
    let named =
        attributes.terpenes.iter().map(|of| format!("{}{}", of.name, of.percent.map(percent).unwrap_or_default()));
    listed(&named.collect::<Vec<_>>())
}

/// `4.7 of 5 (12 reviews)`
fn rating(attributes: &Attributes) -> Option<String> {
    let reviews = attributes.reviews.map(|reviews| format!(" ({})", counted(reviews, "review"))).unwrap_or_default();
    Some(format!("{} of 5{reviews}", attributes.rating?))
}

fn listed(texts: &[String]) -> Option<String> {
    (!texts.is_empty()).then(|| texts.join(", "))
}

fn store(product: &ProductView) -> String {
    let place = joined([&product.city, &product.state]).map(|place| format!(" ({place})")).unwrap_or_default();
    format!("{} {}{place}", product.dispensary_id, product.dispensary_name)
}

/// `$10.00 instead of $12.00`
fn price(regular: Option<i32>, special: Option<i32>) -> Option<String> {
    match (regular, special) {
        (Some(regular), Some(special)) if special < regular => {
            Some(format!("{} instead of {}", money(special), money(regular)))
        }
        (regular, special) => regular.or(special).map(money),
    }
}

fn potency(min: Option<f64>, max: Option<f64>, unit: Option<&str>) -> Option<String> {
    let range = match (min, max) {
        (Some(min), Some(max)) if min < max => format!("{min}–{max}"),
        (min, max) => max.or(min)?.to_string(),
    };
    Some(format!("{range} {}", unit.unwrap_or_default()).trim_end().to_owned())
}

fn stock(product: &ProductView) -> String {
    let amount = amount(product.quantity, product.quantity_censored).map(|amount| format!(", {amount}"));
    let missed = (product.consecutive_misses > 0)
        .then(|| format!(", not seen for {}", counted(product.consecutive_misses, "crawl")));
    let status = match product.is_in_stock {
        true => "in stock",
        false => "out of stock",
    };
    format!("{status}{}{}", amount.filter(|_| product.is_in_stock).unwrap_or_default(), missed.unwrap_or_default())
}

/// `option    1g  $10.00  medical $9.00  5`
fn option(option: &OptionView) -> String {
    let medical = price(option.price_med, option.special_price_med).map(|price| format!("medical {price}"));
    let stock = match option.is_in_stock {
        true => amount(option.quantity, option.quantity_censored),
        false => Some("out of stock".to_owned()),
    };
    let (unit, bundle) = (unit_price::of_option(option), unit_price::of_bundle(option));
    let parts = [price(option.price_rec, option.special_price_rec), medical, unit, bundle, stock];
    let parts: String = parts.into_iter().flatten().map(|part| format!("  {part}")).collect();
    format!("{:<10}{}{parts}", "option", option.option_label)
}

fn joined<const N: usize>(parts: [&Option<String>; N]) -> Option<String> {
    let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::regular(Some(1250), None, Some("$12.50"))]
    #[case::special(Some(1250), Some(1000), Some("$10.00 instead of $12.50"))]
    #[case::no_better(Some(1000), Some(1000), Some("$10.00"))]
    #[case::special_alone(None, Some(999), Some("$9.99"))]
    #[case::none(None, None, None)]
    fn a_special_is_shown_with_what_it_replaces(
        #[case] regular: Option<i32>,
        #[case] special: Option<i32>,
        #[case] shown: Option<&str>,
    ) {
        assert_eq!(price(regular, special).as_deref(), shown);
    }

    #[rstest]
    #[case::range(Some(20.1), Some(23.4), "20.1–23.4 PERCENTAGE")]
    #[case::one(Some(20.0), Some(20.0), "20 PERCENTAGE")]
    #[case::only_a_least(Some(5.5), None, "5.5 PERCENTAGE")]
    fn a_potency_is_a_number_or_a_range(#[case] min: Option<f64>, #[case] max: Option<f64>, #[case] shown: &str) {
        assert_eq!(potency(min, max, Some("PERCENTAGE")).unwrap(), shown);
    }
}

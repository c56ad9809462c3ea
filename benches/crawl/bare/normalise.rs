//! Rows of a menu: prices in cents, sizes in milligrams and millilitres, stock joined by label. The last of
//! equal ids wins, in the place of the first.

use std::borrow::Cow;
use std::collections::HashMap;

use anyhow::Result;

use super::wire::{self, Potency, Product, StockRow};

const POS_CAP: i32 = 25;

pub struct Row<'a> {
    pub id: &'a str,
    pub name: Cow<'a, str>,
    pub brand: Option<Cow<'a, str>>,
    pub category: &'a str,
    pub subcategory: Option<Cow<'a, str>>,
    pub strain_type: Option<Cow<'a, str>>,
    pub image_url: Option<Cow<'a, str>>,
    pub rec: Price,
    pub med: Price,
    pub thc: Potency,
    pub cbd: Potency,
    pub quantity: Option<i32>,
    pub quantity_censored: bool,
    pub stock_status: &'static str,
    pub options: Vec<OptionRow<'a>>,
}

pub struct OptionRow<'a> {
    pub label: Cow<'a, str>,
    pub size_mg: Option<i64>,
    pub size_ml: Option<f64>,
    pub rec: Price,
    pub med: Price,
    pub quantity: Option<i32>,
}

#[derive(Clone, Copy, Default)]
pub struct Price {
    pub regular: Option<i32>,
    pub special: Option<i32>,
}

pub fn menu(pages: &[Vec<u8>]) -> Result<Vec<Row<'_>>> {
    let mut products: Vec<Product<'_>> = Vec::new();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    for page in pages {
        for product in wire::products(page)? {
            match positions.get(product.id) {
                Some(at) => products[*at] = product,
                None => {
                    positions.insert(product.id, products.len());
                    products.push(product);
                }
            }
        }
    }
    Ok(products.into_iter().map(row).collect())
}

fn row(mut product: Product<'_>) -> Row<'_> {
    let (options, is_pos) = options(&mut product);
    let is_active = product.status == "Active";
    let quantities = || options.iter().filter_map(|option| option.quantity);
    let stock_status = match () {
        () if !is_active => "oos",
        () if options.iter().all(|option| option.quantity == Some(0)) => "oos",
        () if quantities().any(|quantity| quantity > 0) => "in_stock",
        () => "unknown",
    };
    Row {
        id: product.id,
        name: product.name,
        brand: brand(product.brand, product.brand_name, product.pos.and_then(|pos| pos.canonical_brand_name)),
        category: product.category,
        subcategory: text(product.subcategory),
        strain_type: text(product.strain_type).filter(|strain| strain != "N/A"),
        image_url: text(product.image)
            .or_else(|| product.images.into_iter().find(|image| image.active).map(|image| image.url)),
        rec: lowest(options.iter().map(|option| option.rec)),
        med: lowest(options.iter().map(|option| option.med)),
        thc: product.thc,
        cbd: product.cbd,
        quantity: quantities().reduce(|sum, quantity| sum + quantity),
        quantity_censored: is_pos && quantities().any(|quantity| quantity >= POS_CAP),
        stock_status,
        options,
    }
}

/// Reads the options, and whether their stock comes from the point of sale.
fn options<'a>(product: &mut Product<'a>) -> (Vec<OptionRow<'a>>, bool) {
    let labels = std::mem::take(&mut product.options);
    let rec = if product.rec_prices.is_empty() { &product.prices } else { &product.rec_prices };
    let weights = product.measurements.as_ref().and_then(|measurements| measurements.net_weight.as_ref());
    let weights = weights.filter(|weight| weight.unit == "MILLIGRAMS" && weight.values.len() == labels.len());
    let pos = product.pos.as_ref().and_then(|pos| pos.children.as_deref()).unwrap_or_default();
    let rows = if pos.is_empty() { product.manual_inventory.as_deref().unwrap_or_default() } else { pos };
    let quantities = quantities(&labels, rows);
    let option = |(at, label): (usize, Cow<'a, str>)| {
        let (mut size_mg, size_ml) = size(&label);
        if size_mg.is_none() && size_ml.is_none() {
            size_mg = weights.map(|weight| weight.values[at]);
        }
        OptionRow {
            label,
            size_mg,
            size_ml,
            rec: price(rec, &product.rec_special_prices, at),
            med: price(&product.medical_prices, &product.medical_special_prices, at),
            quantity: quantities[at],
        }
    };
    (labels.into_iter().enumerate().map(option).collect(), !pos.is_empty())
}

/// Matches rows by label; a row whose label no option has belongs to the option at its position.
fn quantities(labels: &[Cow<'_, str>], rows: &[StockRow<'_>]) -> Vec<Option<i32>> {
    let mut found: Vec<Option<i32>> = vec![None; labels.len()];
    for (at, row) in rows.iter().enumerate() {
        let named = (0..labels.len()).find(|option| labels[*option] == row.option && found[*option].is_none());
        if let Some(place) = named.or(Some(at)).and_then(|at| found.get_mut(at)) {
            *place = row.quantity_available.or(row.quantity).or(row.inventory);
        }
    }
    found
}

fn price(regular: &[f64], special: &[f64], at: usize) -> Price {
    let regular = regular.get(at).map(|price| cents(*price));
    let special = special.get(at).map(|price| cents(*price));
    Price { regular, special: special.filter(|special| *special > 0 && regular.is_some_and(|price| *special < price)) }
}

fn lowest(prices: impl Iterator<Item = Price>) -> Price {
    prices
        .filter(|price| price.regular.is_some())
        .min_by_key(|price| price.special.or(price.regular))
        .unwrap_or_default()
}

/// Rounds halves up: prices have at most three decimals.
fn cents(dollars: f64) -> i32 {
    ((dollars * 1000.0).round() as i32 + 5) / 10
}

/// Milligrams, or millilitres, that a label states.
fn size(label: &str) -> (Option<i64>, Option<f64>) {
    let label = label.to_ascii_lowercase();
    let Some(unit_at) = label.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '/')) else {
        return (None, None);
    };
    let (number, unit) = label.split_at(unit_at);
    let amount = match number.split_once('/') {
        Some((part, whole)) => {
            part.parse::<f64>().ok().zip(whole.parse::<f64>().ok()).map(|(part, whole)| part / whole)
        }
        None => number.parse().ok(),
    };
    let mg = |per_unit: f64| (amount.map(|amount| (amount * per_unit).round() as i64), None);
    match unit {
        "mg" => mg(1.0),
        "g" | "gc" => mg(1000.0),
        "oz" => mg(28_000.0),
        "ml" => (None, amount),
        _ => (None, None),
    }
}

fn brand<'a>(
    object: Option<wire::Brand<'a>>,
    name: Option<Cow<'a, str>>,
    canonical: Option<Cow<'a, str>>,
) -> Option<Cow<'a, str>> {
    text(object.and_then(|brand| brand.name)).or_else(|| text(name)).or_else(|| text(canonical))
}

/// Trims the text; None where nothing is left.
fn text(text: Option<Cow<'_, str>>) -> Option<Cow<'_, str>> {
    let trimmed = match text? {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    };
    (!trimmed.is_empty()).then_some(trimmed)
}

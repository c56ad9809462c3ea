//! Price and stock of a product and its options over time. Reads only.
//!
//! A product's series holds its snapshots, one per crawl. An option's series holds its changes: each lasts
//! until the next one.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::statements::{named, read_all, rows};
use crate::{Client, DbError};
use contract::products::{OfferPoint, OptionPoint, ProductPoint};
use domain::counts::series::thin;
use domain::menu::product::ProductId;

/// Maximum rows read for a series, the newest: a crawl every hour for two years.
const MAX_ROWS: i64 = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesRange {
    pub from: DateTime<Utc>,
    /// Exclusive.
    pub to: DateTime<Utc>,
    /// Maximum number of points.
    pub points: usize,
}

/// One option of a product.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionKey {
    pub label: String,
    pub nth: i16,
}

/// Oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series<T> {
    pub points: Vec<T>,
    /// Rows from which the points were chosen; of more rows, repetitions were left out first.
    pub rows: usize,
    /// The time range holds more rows than were read: the oldest are missing.
    pub truncated: bool,
}

/// A product's crawls. Empty when the product does not exist.
pub async fn of_product(client: &Client, id: ProductId, range: &SeriesRange) -> Result<Series<ProductPoint>, DbError> {
    let rows = named!(client.query_planned(
        "products/snapshots/series.sql",
        product = id,
        from = range.from,
        to = range.to,
        limit = MAX_ROWS
    ))
    .await?;
    let mut points: Vec<ProductPoint> = read_all(&rows)?;
    points.reverse();
    let is_same =
        |one: &ProductPoint, other: &ProductPoint| *one == ProductPoint { crawled_at: one.crawled_at, ..other.clone() };
    Ok(Series::new(points, range.points, is_same))
}

/// An option's changes. The first one may be older than `range.from`: it was valid then.
pub async fn of_option(
    client: &Client,
    id: ProductId,
    option: &OptionKey,
    range: &SeriesRange,
) -> Result<Series<OptionPoint>, DbError> {
    let rows = named!(client.query_planned(
        "products/variant_history/series.sql",
        product = id,
        label = option.label,
        nth = option.nth,
        before = range.to,
        limit = MAX_ROWS
    ))
    .await?;
    let mut points: Vec<OptionPoint> = read_all(&rows)?;
    points.reverse();
    let held = points.partition_point(|point| point.crawled_at <= range.from).saturating_sub(1);
    Ok(Series::new(points.split_off(held), range.points, |_, _| false))
}

impl<T> Series<T> {
    fn new(points: Vec<T>, most: usize, is_same: impl Fn(&T, &T) -> bool) -> Series<T> {
        let rows = points.len();
        Series { points: thin(points, most, is_same), rows, truncated: rows as i64 >= MAX_ROWS }
    }
}

rows! {
    OfferPoint {
        price_rec, price_med, special_price_rec, special_price_med, quantity, quantity_censored,
        is_in_stock,
    }

    ProductPoint { crawled_at, offer: row, is_on_special, stock_status }
    OptionPoint {
        crawled_at, size_mg, size_ml, rec_per_g, med_per_g, rec_per_ml, med_per_ml, rec_per_mg_thc,
        med_per_mg_thc,
        offer: row,
        gone,
    }
}

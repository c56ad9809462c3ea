//! Prices by unit, by category, brand, state or week. Reads only.

use chrono::{Datelike, NaiveDate, TimeDelta};
use tokio_postgres::Row;

use super::{MarketPage, refresh, refreshed_at};
use crate::statements::{named, page, read_all, rows, word};
use crate::{Client, DbError};
use contract::prices::{UnitPriceCursor, UnitPriceQuestion, UnitPrices};

/// Prices by unit of things in stock, those of most stores first, or week by week.
pub async fn unit_prices(
    client: &Client,
    question: &UnitPriceQuestion,
    after: Option<&UnitPriceCursor>,
    limit: i64,
) -> Result<MarketPage<UnitPrices, UnitPriceCursor>, DbError> {
    let as_of = refreshed_at(client, refresh::UNIT_PRICES).await?;
    let (rows, next) = page_of_rows(client, question, after, limit).await?;
    Ok(MarketPage { rows: read_all(&rows)?, next, as_of })
}

/// Rows of a page, with the columns of a file; and the position of the next page, None on the last one.
pub(crate) async fn page_of_rows(
    client: &Client,
    question: &UnitPriceQuestion,
    after: Option<&UnitPriceCursor>,
    limit: i64,
) -> Result<(Vec<Row>, Option<UnitPriceCursor>), DbError> {
    let UnitPriceQuestion { state, category, brand, .. } = question;
    let (by, unit) = (question.by.unwrap_or_default().name(), question.unit.unwrap_or_default().name());
    let (week, rows) = (question.week.map(monday), limit.saturating_add(1));
    let (after_age, after_stores) = (after.map(|after| after.age), after.map(|after| after.stores));
    let (after_state, after_category) = (after.map(|after| &after.state), after.map(|after| &after.category));
    let after_brand = after.map(|after| &after.brand);
    let mut found = named!(client.query_planned(
        "analytics/unit_prices.sql",
        by,
        unit,
        state,
        category,
        brand,
        week,
        after_age,
        after_stores,
        after_state,
        after_category,
        after_brand,
        rows
    ))
    .await?;
    let (shown, last) = page(&found, limit);
    let (shown, next) = (shown.len(), last.map(cursor).transpose()?);
    found.truncate(shown);
    Ok((found, next))
}

fn cursor(row: &Row) -> Result<UnitPriceCursor, DbError> {
    let text = |column: &str| row.try_get::<_, Option<String>>(column).map(Option::unwrap_or_default);
    Ok(UnitPriceCursor {
        age: row.try_get("age")?,
        stores: row.try_get("stores")?,
        state: text("state")?,
        category: text("category")?,
        brand: row.try_get("brand_key")?,
    })
}

fn monday(day: NaiveDate) -> NaiveDate {
    let days = day.weekday().num_days_from_monday();
    day.checked_sub_signed(TimeDelta::days(i64::from(days))).unwrap_or(day)
}

rows! {
    UnitPrices {
        week: "monday",
        state, category, brand, stores, share,
        unit: word,
        options,
        min: "price_min", p25: "price_p25", median: "price_median", p75: "price_p75", max: "price_max",
    }
}

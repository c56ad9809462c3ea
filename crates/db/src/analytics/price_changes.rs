//! Prices now, compared with those of another time: the options whose price differs. Reads only.

use tokio_postgres::Row;

use super::refresh;
use crate::statements::{FromRow, first_column, named, optional_word, rows, sql};
use crate::{Client, DbError};
use contract::changes::ChangedOption;
use contract::prices::{PriceChangeQuestion, PriceDifference, PriceDifferences};

/// Maximum number of changes that a comparison looks at, the largest first: each takes a few reads.
const MAX_CANDIDATES: i64 = 2_000;

/// Options whose price differs from that of `since`, the largest difference first.
pub async fn price_changes(client: &Client, question: &PriceChangeQuestion) -> Result<PriceDifferences, DbError> {
    let PriceChangeQuestion { since, state, store, category, brand, in_stock, on_special, .. } = question;
    let PriceChangeQuestion { min_price, max_price, max_unit_price, .. } = question;
    let found = named!(client.query_planned(
        "analytics/price_changes.sql",
        since,
        state,
        store,
        category,
        brand,
        in_stock,
        on_special,
        min_price,
        max_price,
        max_unit_price,
        direction = question.direction.map(|direction| direction.name()),
        sort = question.sort.unwrap_or_default().name(),
        max_days = refresh::MAX_DAYS,
        max_candidates = MAX_CANDIDATES,
        rows = question.limit.rows()
    ))
    .await?;
    let as_of = client.query_opt(sql!("analytics/as_of.sql"), &[&refresh::PRICE_CHANGES]).await?;
    // without a difference there is one row without a product
    let first = found.first().ok_or_else(|| DbError::Other("a comparison of prices has no answer".to_owned()))?;
    let is_empty = first.try_get::<_, Option<i64>>("id")?.is_none();
    Ok(PriceDifferences {
        changes: if is_empty { Vec::new() } else { crate::statements::read_all(&found)? },
        since: first.try_get("since")?,
        truncated: first.try_get("truncated")?,
        as_of: as_of.as_ref().map(first_column).transpose()?,
    })
}

impl FromRow for ChangedOption {
    fn from_row(row: &Row) -> Result<ChangedOption, DbError> {
        Ok(ChangedOption { label: row.try_get("option_label")?, nth: row.try_get("nth")? })
    }
}

rows! {
    PriceDifference {
        product_id: "id",
        product_name: "name_raw",
        brand: "brand_name_raw",
        category, canonical_category,
        store_id: "dispensary_id",
        store_name, city, state,
        option: row,
        is_in_stock, price_before, price, cents, percent,
        unit: optional_word,
        unit_price_before, unit_price,
        changed_at: "last_changed_at",
    }
}

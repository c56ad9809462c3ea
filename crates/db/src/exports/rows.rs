//! The rows of heads: one statement a dataset, and the position at which it goes on within a head.

use std::ops::ControlFlow;

use tokio_postgres::Row;

use super::{ExportRows, MAX_ROWS, pin_plans};
use crate::statements::{Micros, column, named};
use crate::{DbError, Tx};
use contract::exports::{Dataset, ExportQuery};
use domain::payload::PayloadId;

/// Position of a row among those of its head, as far as its dataset has several.
#[derive(Debug, Default)]
pub struct RowKey {
    n: Option<i32>,
    label: Option<String>,
    nth: Option<i16>,
    at: Option<Micros>,
    crawl: Option<PayloadId>,
}

impl RowKey {
    pub fn of(dataset: Dataset, row: &Row) -> Result<RowKey, DbError> {
        let none = RowKey::default();
        Ok(match dataset {
            Dataset::Stores | Dataset::Products | Dataset::PriceChanges | Dataset::UnitPrices => none,
            Dataset::Changes => RowKey { n: row.try_get("n")?, ..none },
            Dataset::Options => RowKey { label: row.try_get("option_label")?, nth: row.try_get("nth")?, ..none },
            Dataset::OptionHistory => RowKey {
                label: row.try_get("option_label")?,
                nth: row.try_get("nth")?,
                at: row.try_get("crawled_at")?,
                crawl: row.try_get("crawl_id")?,
                ..none
            },
        })
    }
}

impl ExportRows {
    /// Passes the rows of the heads to `read`, in their order; of the first head those behind the last one that was read.
    pub(super) async fn read_heads(
        &self,
        tx: &Tx,
        read: impl FnMut(&Row) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), DbError> {
        pin_plans(tx).await?;
        let ExportRows { dataset, query, heads, last_row: last, .. } = self;
        let (limit, is_begun, ids) = (MAX_ROWS as i64, last.is_some(), ids(*dataset, heads)?);
        let none = RowKey::default();
        let RowKey { n, label, nth, at, crawl } = last.as_ref().unwrap_or(&none);
        let ExportQuery { since, until, .. } = query;
        match dataset {
            // their heads are whole rows
            Dataset::PriceChanges | Dataset::UnitPrices => Ok(()),
            Dataset::Stores => {
                let (sql, values) = named!("exports/stores/rows.sql", stores = ids, is_begun, limit);
                tx.read_planned(sql, &values, read).await
            }
            Dataset::Products => {
                let (sql, values) = named!("exports/products/rows.sql", products = ids, is_begun, limit);
                tx.read_planned(sql, &values, read).await
            }
            Dataset::Options => {
                let (sql, values) = named!("exports/options/rows.sql", products = ids, label, nth, limit);
                tx.read_planned(sql, &values, read).await
            }
            Dataset::OptionHistory => {
                let (sql, values) = named!(
                    "exports/option_history/rows.sql",
                    products = ids,
                    since,
                    until,
                    label,
                    nth,
                    at,
                    crawl,
                    limit
                );
                tx.read_planned(sql, &values, read).await
            }
            Dataset::Changes => {
                let times: Vec<Micros> =
                    heads.iter().map(|head| head.try_get("crawled_at")).collect::<Result<_, _>>()?;
                let kinds = query.kind.as_ref().map(|kinds| column(kinds, |kind| kind.name()));
                let ExportQuery { product, brand, category, min_percent, min_cents, max_price, max_unit_price, .. } =
                    query;
                let (sql, values) = named!(
                    "exports/changes/rows.sql",
                    crawls = ids,
                    times,
                    n,
                    kinds,
                    product,
                    brand,
                    category,
                    min_percent,
                    min_cents,
                    max_price,
                    max_unit_price,
                    limit
                );
                tx.read_planned(sql, &values, read).await
            }
        }
    }
}

/// The ids of the heads.
fn ids(dataset: Dataset, heads: &[Row]) -> Result<Vec<i64>, DbError> {
    let name = match dataset {
        Dataset::Stores => "store_id",
        Dataset::Products | Dataset::Options | Dataset::OptionHistory => "product_id",
        Dataset::Changes => "crawl_id",
        Dataset::PriceChanges | Dataset::UnitPrices => return Ok(Vec::new()),
    };
    Ok(heads.iter().map(|head| head.try_get(name)).collect::<Result<_, _>>()?)
}

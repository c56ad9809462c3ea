//! `HistoryRow`: a row of the history as an export has it, with its product.

use tokio_postgres::Row;

use crate::DbError;
use crate::statements::{Micros, rows};
use domain::menu::product::ProductId;
use domain::payload::PayloadId;
use domain::store::StoreId;

/// A product and its store, which all rows of its history share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryProduct {
    pub id: ProductId,
    pub store_id: StoreId,
    pub store: String,
    pub state: Option<String>,
    pub name: String,
    pub brand: Option<String>,
    pub category: Option<String>,
    pub subcategory: Option<String>,
}

/// State of an option from one crawl on. Money is cents.
#[derive(Clone, Copy, Debug)]
pub struct HistoryRow<'a> {
    pub product: &'a HistoryProduct,
    pub option_label: &'a str,
    pub nth: i16,
    pub crawl_id: PayloadId,
    /// Microseconds of UTC since 1970.
    pub crawled_at: i64,
    pub size_mg: Option<i64>,
    pub size_ml: Option<f64>,
    pub price_rec: Option<i32>,
    pub price_med: Option<i32>,
    pub special_price_rec: Option<i32>,
    pub special_price_med: Option<i32>,
    pub quantity: Option<i32>,
    pub quantity_censored: bool,
    pub is_in_stock: bool,
    pub gone: bool,
    /// Prices by unit, in millicents.
    pub rec_per_g: Option<i64>,
    pub med_per_g: Option<i64>,
    pub rec_per_ml: Option<i64>,
    pub med_per_ml: Option<i64>,
    pub rec_per_mg_thc: Option<i64>,
    pub med_per_mg_thc: Option<i64>,
    pub unit_basis: Option<&'a str>,
}

/// Position of a row in the history of its product.
pub(super) struct RowKey {
    pub label: String,
    pub nth: i16,
    pub crawled_at: Micros,
    pub crawl_id: PayloadId,
}

/// A row of the statement: the history alone.
pub(super) struct HistoryChange<'a> {
    /// Number of its product in the chunk.
    pub place: usize,
    row: &'a Row,
    label: &'a str,
    nth: i16,
    crawl_id: PayloadId,
    crawled_at: Micros,
}

impl<'a> HistoryChange<'a> {
    /// Columns are read by number, which is faster than by name: there are millions of rows.
    pub fn of(row: &'a Row) -> Result<HistoryChange<'a>, DbError> {
        let place: i64 = row.try_get(0)?;
        Ok(HistoryChange {
            place: usize::try_from(place - 1).map_err(|error| DbError::Other(error.to_string()))?,
            row,
            label: row.try_get(1)?,
            nth: row.try_get(2)?,
            crawl_id: row.try_get(3)?,
            crawled_at: row.try_get(4)?,
        })
    }

    pub fn key(&self) -> RowKey {
        RowKey { label: self.label.to_owned(), nth: self.nth, crawled_at: self.crawled_at, crawl_id: self.crawl_id }
    }

    pub fn with(&self, product: &'a HistoryProduct) -> Result<HistoryRow<'a>, DbError> {
        let row = self.row;
        Ok(HistoryRow {
            product,
            option_label: self.label,
            nth: self.nth,
            crawl_id: self.crawl_id,
            crawled_at: self.crawled_at.since_1970(),
            size_mg: row.try_get(5)?,
            size_ml: row.try_get(6)?,
            price_rec: row.try_get(7)?,
            price_med: row.try_get(8)?,
            special_price_rec: row.try_get(9)?,
            special_price_med: row.try_get(10)?,
            quantity: row.try_get(11)?,
            quantity_censored: row.try_get(12)?,
            is_in_stock: row.try_get(13)?,
            gone: row.try_get(14)?,
            rec_per_g: row.try_get(15)?,
            med_per_g: row.try_get(16)?,
            rec_per_ml: row.try_get(17)?,
            med_per_ml: row.try_get(18)?,
            rec_per_mg_thc: row.try_get(19)?,
            med_per_mg_thc: row.try_get(20)?,
            unit_basis: row.try_get(21)?,
        })
    }
}

rows! {
    HistoryProduct {
        id,
        store_id: "dispensary_id",
        store, state,
        name: "name_raw",
        brand: "brand_name_raw",
        category, subcategory,
    }
}

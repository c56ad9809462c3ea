//! `Answers`: the way through a dataset that is an answer of the API, page by page. Each head is a whole row.

use tokio_postgres::Row;

use crate::analytics::{price_changes, unit_prices};
use crate::{DbError, Tx};
use contract::exports::{Dataset, ExportQuery};
use contract::prices::UnitPriceCursor;

pub enum Answers {
    PriceChanges,
    /// Position of the next row; None at the beginning.
    UnitPrices(Option<UnitPriceCursor>),
    Ended,
}

impl Answers {
    /// None: the dataset is none.
    pub fn of(dataset: Dataset) -> Option<Answers> {
        match dataset {
            Dataset::PriceChanges => Some(Answers::PriceChanges),
            Dataset::UnitPrices => Some(Answers::UnitPrices(None)),
            _ => None,
        }
    }

    /// The next rows: at most `limit`, but the changes of prices, which are few, at once. None at the end.
    pub async fn next(&mut self, tx: &Tx, query: &ExportQuery, limit: i64) -> Result<Option<Vec<Row>>, DbError> {
        match std::mem::replace(self, Answers::Ended) {
            Answers::PriceChanges => price_changes::rows(tx, &query.price_changes()).await.map(Some),
            Answers::UnitPrices(after) => {
                let question = query.unit_prices();
                let (rows, next) = unit_prices::page_of_rows(tx, &question, after.as_ref(), limit).await?;
                *self = next.map_or(Answers::Ended, |next| Answers::UnitPrices(Some(next)));
                Ok(Some(rows))
            }
            Answers::Ended => Ok(None),
        }
    }
}

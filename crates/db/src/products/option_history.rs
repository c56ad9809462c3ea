//! `store_product_variant_history`, read whole, with each row's product and store: for exports. Reads only.
//!
//! In: a filter. Out: rows by product, option and time, in chunks. A chunk is a transaction of its own, which reads some
//! products and then their history: no snapshot lasts as long as an export.

mod row;

use std::ops::ControlFlow;

use row::{HistoryChange, RowKey};
pub use row::{HistoryProduct, HistoryRow};

use crate::statements::{first_column, named, named_values, read_all, sql};
use crate::{Db, DbError, Tx};
use contract::exports::ExportQuery;
use domain::menu::product::ProductId;

/// Maximum number of rows of a chunk.
const MAX_ROWS: usize = 50_000;
/// Number of rows that a chunk should have.
const WANTED_ROWS: usize = 25_000;
/// Maximum number of products of a chunk.
const MAX_PRODUCTS: usize = 1000;
/// Number of products of the first chunk, before it is known how much history one has.
const FIRST_PRODUCTS: usize = 100;
/// Maximum number of products that one statement tries with the filter.
const MAX_WALKED: i64 = 20_000;

/// An export's position in the history.
pub struct OptionHistory {
    filter: ExportQuery,
    /// The last product that was read or left out.
    after: ProductId,
    /// Products whose history is being read.
    products: Vec<HistoryProduct>,
    /// The last row that was read, if the first of `products` has more.
    last_row: Option<RowKey>,
    /// Number of products of the next chunk.
    next_products: usize,
}

/// Content of one chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkEnd {
    /// There may be more rows.
    More,
    /// All rows were read.
    Whole,
}

impl OptionHistory {
    pub fn new(filter: ExportQuery) -> OptionHistory {
        let after = ProductId::MIN;
        OptionHistory { filter, after, products: Vec::new(), last_row: None, next_products: FIRST_PRODUCTS }
    }

    /// Passes the rows of the next chunk to `read`, which may break the chunk off after any row; the next one goes on there.
    /// A chunk may be empty.
    pub async fn read_chunk(
        &mut self,
        db: &Db,
        read: impl FnMut(&HistoryRow<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<ChunkEnd, DbError> {
        let tx = db.api_snapshot().await?;
        tx.query_one(sql!("products/option_history/pin_plans.sql"), &[]).await?;
        if self.products.is_empty() && self.next_products(&tx).await? == ChunkEnd::Whole {
            return Ok(ChunkEnd::Whole);
        }
        if !self.products.is_empty() {
            self.read_products(&tx, read).await?;
        }
        Ok(ChunkEnd::More)
    }

    /// Reads the next products; there may be none among those that were tried.
    async fn next_products(&mut self, tx: &Tx) -> Result<ChunkEnd, DbError> {
        self.products = match self.filter.store {
            Some(_) => self.products_of_store(tx).await?,
            None => self.walk(tx).await?,
        };
        if self.products.len() == self.next_products {
            self.after = self.products.last().map_or(self.after, |product| product.id);
            return Ok(ChunkEnd::More);
        }
        let walked_to = match self.filter.store {
            Some(_) => self.products.last().map(|product| product.id),
            None => first_column(
                &tx.query_one(sql!("products/option_history/walked_to.sql"), &[&self.after, &MAX_WALKED]).await?,
            )?,
        };
        let Some(walked_to) = walked_to else { return Ok(ChunkEnd::Whole) };
        self.after = walked_to;
        Ok(ChunkEnd::More)
    }

    async fn walk(&self, tx: &Tx) -> Result<Vec<HistoryProduct>, DbError> {
        let rows = named!(tx.query_planned(
            "products/option_history/walk.sql",
            after = self.after,
            max_walked = MAX_WALKED,
            limit = self.next_products as i64,
            ..ProductFilter::of(&self.filter)
        ))
        .await?;
        read_all(&rows)
    }

    async fn products_of_store(&self, tx: &Tx) -> Result<Vec<HistoryProduct>, DbError> {
        let rows = named!(tx.query_planned(
            "products/option_history/of_store.sql",
            store = self.filter.store,
            after = self.after,
            limit = self.next_products as i64,
            ..ProductFilter::of(&self.filter)
        ))
        .await?;
        read_all(&rows)
    }

    async fn read_products(
        &mut self,
        tx: &Tx,
        mut read: impl FnMut(&HistoryRow<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), DbError> {
        let ids: Vec<ProductId> = self.products.iter().map(|product| product.id).collect();
        let begin = self.last_row.as_ref();
        let (label, nth) = (begin.map(|row| row.label.as_str()), begin.map(|row| row.nth));
        let (at, crawl) = (begin.map(|row| row.crawled_at), begin.map(|row| row.crawl_id));
        let (since, until, limit) = (self.filter.since, self.filter.until, MAX_ROWS as i64);
        let (sql, values) =
            named!("products/option_history/rows.sql", products = ids, since, until, label, nth, at, crawl, limit);
        let (mut rows, mut place, mut last) = (0, 0, None);
        tx.read_planned(sql, &values, |row| {
            let change = HistoryChange::of(row)?;
            // the plan keeps the order of the products: a file that is out of order must not look whole
            if change.place < place {
                return Err(DbError::Other("the history was not read in the order of its products".to_owned()));
            }
            (rows, place) = (rows + 1, change.place);
            let product = self.products.get(place).ok_or_else(|| DbError::Other(format!("no product {place}")))?;
            let flow = read(&change.with(product)?)?;
            if rows == MAX_ROWS || flow.is_break() {
                last = Some(change.key());
            }
            Ok(flow)
        })
        .await?;
        self.next_products = fitting(place + 1, self.products.len(), rows, last.is_some());
        match last {
            Some(_) => drop(self.products.drain(..place)),
            None => self.products.clear(),
        }
        self.last_row = last;
        Ok(())
    }
}

/// The values of `listed.sql`.
struct ProductFilter<'a>(&'a ExportQuery);

impl<'a> ProductFilter<'a> {
    fn of(filter: &'a ExportQuery) -> ProductFilter<'a> {
        ProductFilter(filter)
    }
}

named_values! {
    filter: ProductFilter<'_>;
    group = filter.0.group,
    state = filter.0.state,
    brand = filter.0.brand,
    category = filter.0.category,
}

/// Number of products whose history makes a chunk of the wanted size. `done`: those that had the rows, of `asked`.
fn fitting(done: usize, asked: usize, rows: usize, is_cut: bool) -> usize {
    let products = if is_cut { done } else { asked };
    (products * WANTED_ROWS / rows.max(1)).clamp(1, (4 * asked).min(MAX_PRODUCTS))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::as_wanted(100, 100, 25_000, false, 100)]
    #[case::too_few_rows(100, 100, 12_500, false, 200)]
    #[case::without_rows(1, 100, 0, false, 400)]
    #[case::never_more_than_the_maximum(1, 900, 10, false, MAX_PRODUCTS)]
    #[case::cut_at_the_half(50, 100, MAX_ROWS, true, 25)]
    #[case::one_product_is_too_much(1, 1, MAX_ROWS, true, 1)]
    fn a_chunk_has_as_many_products_as_fit(
        #[case] done: usize,
        #[case] asked: usize,
        #[case] rows: usize,
        #[case] is_cut: bool,
        #[case] next: usize,
    ) {
        assert_eq!(fitting(done, asked, rows, is_cut), next);
    }
}

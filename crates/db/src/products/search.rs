//! `product_search`: finds products of all stores by words of their names and brands, or by filters alone.
//!
//! The search data is separate from the products, so that a crawl pays nothing for it: [`copy`] updates it
//! afterwards. When the words find nothing, similar spellings are tried: first words of products that differ
//! by a letter, then, where the server has trigrams, trigrams. The answer names the method that found the
//! products.

mod copy;
mod find;
mod matching;
mod spelling;

use chrono::DateTime;
use tokio_postgres::Row;

pub use self::copy::{copy_names, copy_names_unless_recent, count_words, forget_gone};
use self::find::Finder;
pub(crate) use self::find::{StoreScope, stores};
pub(crate) use self::matching::{Among, Matching, matching};
use crate::statements::{FromRow, read_all, sql};
use crate::{Client, DbError, statements};
use contract::products::{FoundProduct, MatchKind, ProductQuestion, ProductView, SearchCursor};

#[derive(Clone, Debug, PartialEq)]
pub struct FoundProducts {
    pub products: Vec<FoundProduct>,
    /// None on the last page.
    pub next: Option<SearchCursor>,
    pub by: MatchKind,
    /// Spelling mistakes are corrected: the words of products are known, or the server has trigrams.
    pub forgives_spelling: bool,
    /// Too many products match, and only a part of them was ranked; more words narrow the search.
    pub truncated: bool,
    /// Crawled stores whose products are not copied yet.
    pub stores_waiting: i64,
}

/// Finds at most `limit` products.
pub async fn search(client: &Client, question: &ProductQuestion, limit: i64) -> Result<FoundProducts, DbError> {
    let state = client.query_one(sql!("products/search/state.sql"), &[]).await?;
    let (has_words, has_trigrams): (bool, bool) = (state.try_get("has_words")?, state.try_get("has_trigrams")?);
    let finder = Finder::new(client, question, limit).await?;
    let (by, rows) = finder.find(has_trigrams).await?;
    let (shown, last) = statements::page(&rows, limit);
    Ok(FoundProducts {
        products: read_all(shown)?,
        next: last.map(|last| cursor(by, last)).transpose()?,
        by,
        forgives_spelling: has_words || has_trigrams,
        truncated: rows.first().map_or(Ok(false), |row| row.try_get("of_many"))?,
        stores_waiting: state.try_get("stores_waiting")?,
    })
}

fn cursor(by: MatchKind, row: &Row) -> Result<SearchCursor, DbError> {
    Ok(SearchCursor {
        by,
        number: row.try_get("sort_number")?,
        text: row.try_get("sort_text")?,
        id: row.try_get("id")?,
    })
}

impl FromRow for FoundProduct {
    fn from_row(row: &Row) -> Result<FoundProduct, DbError> {
        let changed_ms: i64 = row.try_get("price_changed_ms")?;
        Ok(FoundProduct {
            product: ProductView::from_row(row)?,
            price_before: row.try_get("price_before")?,
            price_changed_at: DateTime::from_timestamp_millis(changed_ms).filter(|_| changed_ms != 0),
        })
    }
}

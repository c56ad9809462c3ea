//! `product_search`: finds products by words of their names and brands, in all stores.
//!
//! The names lie apart from the products, so that a crawl pays nothing for them: [`copy_names`] brings them up to date afterwards.
//! What no words find is looked for by its spelling, where the server has trigrams; the answer says which way it was found.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use utoipa::ToSchema;

use super::product_views::{ProductCursor, ProductPage, page};
use super::row::{first_column, first_columns};
use super::tasks::take_turn;
use super::{Client, Db, DbError};
use crate::domain::store::StoreId;

/// Products that match the words and are looked at more closely; of more, any.
const MAX_LOOKED_AT: i64 = 20_000;
/// The text of a cursor into what was found by spelling; another one is into what was found by words.
const BY_TRIGRAMS: &str = "alike";
/// Stores whose names are copied before it looks again which ones wait.
const BATCH: i64 = 100;

/// What to look for; a field that is None does not filter.
#[derive(Clone, Debug, Default)]
pub struct ProductQuestion {
    pub q: String,
    /// Two letters, in any case.
    pub state: Option<String>,
    /// In any letter case, as the brand, which may be its beginning.
    pub category: Option<String>,
    pub brand: Option<String>,
    pub in_stock: Option<bool>,
    pub on_special: Option<bool>,
    pub min_price: Option<i32>,
    pub max_price: Option<i32>,
    pub after: Option<ProductCursor>,
}

/// By what products were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    /// All words, each of which may be the beginning of a longer one.
    Words,
    /// A likeness in spelling, since no product has all words.
    Trigrams,
}

/// The best first.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundProducts {
    pub page: ProductPage,
    pub by: MatchKind,
    /// The server has trigrams. Where it has none, a spelling mistake finds nothing.
    pub forgives_spelling: bool,
    /// So many match that only a part of them was looked at: more words help.
    pub truncated: bool,
    /// Stores with a crawl whose names are not copied yet.
    pub stores_waiting: i64,
}

/// At most `limit` products.
pub async fn search(client: &Client, question: &ProductQuestion, limit: i64) -> Result<FoundProducts, DbError> {
    let state = client.query_one(include_str!("sql/product_search/state.sql"), &[]).await?;
    let forgives_spelling = state.try_get("has_trigrams")?;
    let begun_with = question.after.as_ref().map(|cursor| cursor.text.as_str());
    let mut by = if begun_with == Some(BY_TRIGRAMS) { MatchKind::Trigrams } else { MatchKind::Words };
    let mut rows = find(client, question, by, limit).await?;
    if rows.is_empty() && begun_with.is_none() && forgives_spelling {
        by = MatchKind::Trigrams;
        rows = find(client, question, by, limit).await?;
    }
    let truncated = rows.first().map_or(Ok(false), |row| row.try_get("of_many"))?;
    let (page, stores_waiting) = (page(&rows, limit)?, state.try_get("stores_waiting")?);
    Ok(FoundProducts { page, by, forgives_spelling, truncated, stores_waiting })
}

async fn find(client: &Client, question: &ProductQuestion, by: MatchKind, limit: i64) -> Result<Vec<Row>, DbError> {
    let sql = match by {
        MatchKind::Words => {
            concat!(include_str!("sql/product_search/by_words.sql"), include_str!("sql/product_search/found.sql"))
        }
        MatchKind::Trigrams => {
            concat!(include_str!("sql/product_search/by_trigrams.sql"), include_str!("sql/product_search/found.sql"))
        }
    };
    let after = question.after.as_ref();
    client
        .query_planned(
            sql,
            &[
                (&question.q, Type::TEXT),
                (&question.state, Type::TEXT),
                (&question.category, Type::TEXT),
                (&question.in_stock, Type::BOOL),
                (&question.on_special, Type::BOOL),
                (&question.min_price, Type::INT4),
                (&question.max_price, Type::INT4),
                (&question.brand, Type::TEXT),
                (&after.map(|cursor| cursor.number), Type::INT8),
                (&after.map(|cursor| cursor.id), Type::INT8),
                (&limit.saturating_add(1), Type::INT8),
                (&MAX_LOOKED_AT, Type::INT8),
            ],
        )
        .await
}

/// Copies the names of stores that were crawled since, store by store, until none waits or the time is up; returns how many names differed.
pub async fn copy_names(db: &Db, time: Duration) -> Result<u64, DbError> {
    let begun = Instant::now();
    let mut copied = 0;
    loop {
        let waiting = db.client().await?.query(include_str!("sql/product_search/waiting.sql"), &[&BATCH]).await?;
        if waiting.is_empty() {
            return Ok(copied);
        }
        let client = db.maintenance_client().await?;
        for store in first_columns::<StoreId>(&waiting)? {
            copied += copy_store(&client, store).await?;
            if begun.elapsed() >= time {
                return Ok(copied);
            }
        }
    }
}

/// [`copy_names`], unless some process did it within `every`.
pub async fn copy_names_unless_recent(db: &Db, time: Duration, every: Duration) -> Result<Option<u64>, DbError> {
    let is_its_turn = take_turn(&db.client().await?, "search", every).await?;
    if is_its_turn { Ok(Some(copy_names(db, time).await?)) } else { Ok(None) }
}

async fn copy_store(client: &Client, store: StoreId) -> Result<u64, DbError> {
    let row = client.query_one(include_str!("sql/product_search/copy_store.sql"), &[&store]).await?;
    first_column::<i64>(&row).map(i64::unsigned_abs)
}

/// Forgets the names of stores that were deleted.
pub async fn forget_gone(client: &Client) -> Result<(), DbError> {
    client.execute(include_str!("sql/product_search/forget_gone.sql"), &[]).await?;
    Ok(())
}

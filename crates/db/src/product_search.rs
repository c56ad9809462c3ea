//! `product_search`: finds products of all stores by words of their names and brands, or by filters alone.
//!
//! What products are found by lies apart from them, so that a crawl pays nothing for it: [`copy`] brings it up to date afterwards.
//! What no words find is looked for by its spelling, at first by words of products that are a wrong letter apart, then, where the server has
//! trigrams, by these; the answer says which way it was found.

mod copy;
mod find;
mod spelling;

use chrono::{DateTime, Utc};
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};
use tokio_postgres::Row;
use utoipa::{IntoParams, ToSchema};

pub use self::copy::{copy_names, copy_names_unless_recent, count_words, forget_gone};
use self::find::Finder;
use super::product_views::ProductView;
use super::row::{self, FromRow, read_all};
use super::{Client, DbError};
use domain::product::ProductId;
use domain::state_code;
use domain::store::StoreId;

/// A longer text is not looked for.
const MAX_WORDS_CHARS: usize = 200;

/// What to look for; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ProductQuestion {
    /// Words of the name and brand, or beginnings of them. Without it, products are found by the filters alone.
    #[serde(deserialize_with = "optional_words")]
    #[param(value_type = Option<String>, min_length = 1, max_length = 200)]
    pub q: Option<String>,
    /// Two letters, in any case.
    #[serde(deserialize_with = "state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "AZ")]
    pub state: Option<String>,
    /// In any letter case, as the category and the brand, of which the beginning is enough.
    pub city: Option<String>,
    /// Its id.
    pub store: Option<StoreId>,
    pub category: Option<String>,
    pub brand: Option<String>,
    pub in_stock: Option<bool>,
    pub on_special: Option<bool>,
    /// Cents.
    pub min_price: Option<i32>,
    pub max_price: Option<i32>,
    /// By default `relevance`, which needs `q`; without that, `name`. What has no price, or never changed it, comes last.
    #[param(inline)]
    pub sort: Option<SearchSort>,
    /// Where the page before ended, in the same sort.
    #[serde(skip)]
    pub after: Option<SearchCursor>,
}

/// What products are sorted by. What has no price, or never changed it, comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, VariantArray, ToSchema)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum SearchSort {
    /// How well it matches the words, the best first.
    Relevance,
    Name,
    Price,
    PriceDesc,
    /// The latest change first.
    PriceChange,
    Newest,
}

/// By what products were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchKind {
    /// No words were looked for.
    Filters,
    /// All words, each of which may be the beginning of a longer one.
    Words,
    /// Words of products that are a letter or two apart, since no product has all words as they are.
    Corrected,
    /// A likeness in spelling, since no product has such words.
    Trigrams,
}

/// Where a page ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchCursor {
    pub by: MatchKind,
    pub number: i64,
    pub text: String,
    pub id: ProductId,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FoundProduct {
    #[serde(flatten)]
    pub product: ProductView,
    /// Before the latest change of its price; null: none was seen.
    pub price_before: Option<i32>,
    pub price_changed_at: Option<DateTime<Utc>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct FoundProducts {
    pub products: Vec<FoundProduct>,
    /// None on the last page.
    pub next: Option<SearchCursor>,
    pub by: MatchKind,
    /// A spelling mistake is forgiven: the words of products are known, or the server has trigrams.
    pub forgives_spelling: bool,
    /// So many match that only a part of them was looked at: more words help.
    pub truncated: bool,
    /// Stores with a crawl whose products are not copied yet.
    pub stores_waiting: i64,
}

fn optional_words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.chars().count() {
        1..=MAX_WORDS_CHARS => Ok(Some(text)),
        length => Err(D::Error::custom(format_args!("{length} characters; 1 to {MAX_WORDS_CHARS} are looked for"))),
    }
}

/// At most `limit` products.
pub async fn search(client: &Client, question: &ProductQuestion, limit: i64) -> Result<FoundProducts, DbError> {
    let state = client.query_one(include_str!("sql/product_search/state.sql"), &[]).await?;
    let (has_words, has_trigrams): (bool, bool) = (state.try_get("has_words")?, state.try_get("has_trigrams")?);
    let finder = Finder::new(client, question, limit).await?;
    let (by, rows) = finder.find(has_trigrams).await?;
    let (shown, last) = row::page(&rows, limit);
    Ok(FoundProducts {
        products: read_all(shown)?,
        next: last.map(|last| SearchCursor::after(by, last)).transpose()?,
        by,
        forgives_spelling: has_words || has_trigrams,
        truncated: rows.first().map_or(Ok(false), |row| row.try_get("of_many"))?,
        stores_waiting: state.try_get("stores_waiting")?,
    })
}

impl SearchCursor {
    fn after(by: MatchKind, row: &Row) -> Result<SearchCursor, DbError> {
        Ok(SearchCursor {
            by,
            number: row.try_get("sort_number")?,
            text: row.try_get("sort_text")?,
            id: row.try_get("id")?,
        })
    }
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

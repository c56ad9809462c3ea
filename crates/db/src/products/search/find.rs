//! `Finder`: the statements that find products, one method after the other.
//!
//! None depends on the server's statistics: products that words found are looked up one by one, and a walk
//! along an index ends after a maximum number of products, whatever the filters leave.

use tokio_postgres::Row;

use super::spelling::{Correction, WordMatch, correct};
use crate::statements::{first_columns, named, named_values, read_all, rows, sql};
use crate::{Client, DbError};
use contract::products::{MatchKind, ProductQuestion, SearchSort};
use domain::menu::product::ProductId;
use domain::store::{Platform, StoreId};

/// Maximum matching products that are ranked, and maximum products that a walk reads; of more matches, any.
const MAX_SCANNED: i64 = 20_000;
/// Maximum stores of a state or city.
const MAX_STORES: i64 = 100_000;
/// Maximum words of a question whose spelling is checked.
const MAX_WORDS: i64 = 10;
/// Maximum words that one of them may mean; of more, the most frequent.
const MAX_ALIKE: i64 = 100;

pub struct Finder<'a> {
    client: &'a Client,
    question: &'a ProductQuestion,
    /// None: products of all stores.
    stores: Option<Vec<StoreId>>,
    sort: SearchSort,
    rows: i64,
}

impl<'a> Finder<'a> {
    /// Reads one row more than `limit`, which shows whether there is a next page.
    pub async fn new(client: &'a Client, question: &'a ProductQuestion, limit: i64) -> Result<Finder<'a>, DbError> {
        let sort = match (question.sort, &question.q) {
            (None, Some(_)) => SearchSort::Relevance,
            (None | Some(SearchSort::Relevance), None) => SearchSort::Name,
            (Some(sort), _) => sort,
        };
        let ProductQuestion { state, city, platform, store, .. } = question;
        let (state, city) = (state.as_deref(), city.as_deref());
        let scope = StoreScope { state, city, platform: *platform, group: None, store: *store };
        let stores = stores(client, scope).await?;
        Ok(Finder { client, question, stores, sort, rows: limit.saturating_add(1) })
    }

    pub async fn find(&self, has_trigrams: bool) -> Result<(MatchKind, Vec<Row>), DbError> {
        let Some(q) = &self.question.q else { return Ok((MatchKind::Filters, self.by_filters().await?)) };
        let goes_on = |by: MatchKind| self.question.after.as_ref().is_none_or(|after| after.by == by);
        if goes_on(MatchKind::Words) {
            let rows = self.by_words(q).await?;
            if !rows.is_empty() {
                return Ok((MatchKind::Words, rows));
            }
        }
        if goes_on(MatchKind::Corrected)
            && let Some(correction) = correction(self.client, q).await?
        {
            let rows = self.by_correction(&correction).await?;
            if !rows.is_empty() {
                return Ok((MatchKind::Corrected, rows));
            }
        }
        if has_trigrams && goes_on(MatchKind::Trigrams) {
            return Ok((MatchKind::Trigrams, self.by_trigrams(q).await?));
        }
        Ok((self.question.after.as_ref().map_or(MatchKind::Words, |after| after.by), Vec::new()))
    }

    /// Walks the index of the sort; where the filters leave few rows of it, sorts all that they leave.
    async fn by_filters(&self) -> Result<Vec<Row>, DbError> {
        let client = self.client;
        let walked = named!(client.query_planned("products/search/walk.sql", ..SearchValues::of(self))).await?;
        if walked.len() as i64 >= self.rows {
            return Ok(walked);
        }
        named!(client.query_planned("products/search/scan.sql", ..SearchValues::of(self))).await
    }

    async fn by_words(&self, words: &str) -> Result<Vec<Row>, DbError> {
        let client = self.client;
        named!(client.query_planned("products/search/by_words.sql", words, ..SearchValues::of(self))).await
    }

    async fn by_correction(&self, correction: &Correction) -> Result<Vec<Row>, DbError> {
        let (client, Correction { any, likely }) = (self.client, correction);
        named!(client.query_planned("products/search/by_corrections.sql", any, likely, ..SearchValues::of(self))).await
    }

    async fn by_trigrams(&self, text: &str) -> Result<Vec<Row>, DbError> {
        let client = self.client;
        named!(client.query_planned("products/search/by_trigrams.sql", text, ..SearchValues::of(self))).await
    }
}

/// The values that the statements share.
struct SearchValues<'a> {
    finder: &'a Finder<'a>,
    sort: &'static str,
    after_number: Option<i64>,
    after_text: Option<&'a str>,
    after_id: Option<ProductId>,
}

impl<'a> SearchValues<'a> {
    fn of(finder: &'a Finder<'a>) -> SearchValues<'a> {
        let after = finder.question.after.as_ref();
        SearchValues {
            finder,
            sort: finder.sort.into(),
            after_number: after.map(|cursor| cursor.number),
            after_text: after.map(|cursor| cursor.text.as_str()),
            after_id: after.map(|cursor| cursor.id),
        }
    }
}

named_values! {
    values: SearchValues<'_>;
    stores = values.finder.stores,
    category = values.finder.question.category,
    brand = values.finder.question.brand,
    in_stock = values.finder.question.in_stock,
    on_special = values.finder.question.on_special,
    min_price = values.finder.question.min_price,
    max_price = values.finder.question.max_price,
    max_unit_price = values.finder.question.max_unit_price,
    sort = values.sort,
    after_number = values.after_number,
    after_text = values.after_text,
    after_id = values.after_id,
    limit = values.finder.rows,
    max_scanned = MAX_SCANNED,
}

/// None when no word has a spelling near a word of `q`.
pub async fn correction(client: &Client, q: &str) -> Result<Option<Correction>, DbError> {
    let rows = client.query(sql!("products/search/spelled_alike.sql"), &[&q, &MAX_WORDS, &MAX_ALIKE]).await?;
    Ok(correct(&read_all(&rows)?))
}

/// Filters of stores; None does not filter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StoreScope<'a> {
    pub state: Option<&'a str>,
    pub city: Option<&'a str>,
    pub platform: Option<Platform>,
    pub group: Option<&'a str>,
    pub store: Option<StoreId>,
}

/// Ids of the stores that the filters name; None when no filter names any.
pub async fn stores(client: &Client, scope: StoreScope<'_>) -> Result<Option<Vec<StoreId>>, DbError> {
    if scope == StoreScope::default() {
        return Ok(None);
    }
    let StoreScope { state, city, platform, group, store } = scope;
    let rows = named!(client.query(
        "products/search/stores.sql",
        state,
        city,
        platform = platform.map(Platform::name),
        group,
        store,
        limit = MAX_STORES
    ))
    .await?;
    first_columns(&rows).map(Some)
}

rows! {
    WordMatch { typed, word, products }
}

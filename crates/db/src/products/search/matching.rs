//! `matching`: ids of the products that the search finds by words, in any order, for lists of other things than products.
//!
//! In: words, and where to look for them. Out: the ids, and the words as they were found, since there may be more products with
//! them than are read.

use super::find::correction;
use crate::statements::{first_column, first_columns, named, sql};
use crate::{Client, DbError};
use contract::products::MatchKind;
use domain::menu::product::ProductId;
use domain::store::StoreId;

/// Filters beside the words; None does not filter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Among<'a> {
    pub stores: Option<&'a [StoreId]>,
    pub category: Option<&'a str>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Matching {
    pub by: MatchKind,
    pub products: Vec<ProductId>,
    /// The words as a tsquery; None: the products have none of them, but a like spelling.
    pub words: Option<String>,
}

/// Finds at most `limit` products that have the words, or words or texts spelled alike if no product has them.
pub async fn matching(client: &Client, q: &str, among: Among<'_>, limit: i64) -> Result<Matching, DbError> {
    let words: Option<String> = first_column(&client.query_one(sql!("products/search/as_query.sql"), &[&q]).await?)?;
    if let Some(found) = by_words(client, MatchKind::Words, words, among, limit).await? {
        return Ok(found);
    }
    let corrected = correction(client, q).await?.map(|correction| correction.any);
    if let Some(found) = by_words(client, MatchKind::Corrected, corrected, among, limit).await? {
        return Ok(found);
    }
    let state = client.query_one(sql!("products/search/state.sql"), &[]).await?;
    let products = match state.try_get("has_trigrams")? {
        true => by_spelling(client, q, among, limit).await?,
        false => Vec::new(),
    };
    let by = if products.is_empty() { MatchKind::Words } else { MatchKind::Trigrams };
    Ok(Matching { by, products, words: None })
}

/// None: there are no words, or no product has them.
async fn by_words(
    client: &Client,
    by: MatchKind,
    words: Option<String>,
    Among { stores, category }: Among<'_>,
    limit: i64,
) -> Result<Option<Matching>, DbError> {
    let Some(words) = words else { return Ok(None) };
    let rows = named!(client.query_planned("products/search/ids_of_words.sql", words, stores, category, limit)).await?;
    let products = first_columns(&rows)?;
    Ok(Some(Matching { by, products, words: Some(words) }).filter(|found| !found.products.is_empty()))
}

async fn by_spelling(
    client: &Client,
    text: &str,
    Among { stores, category }: Among<'_>,
    limit: i64,
) -> Result<Vec<ProductId>, DbError> {
    let rows =
        named!(client.query_planned("products/search/ids_of_spelling.sql", text, stores, category, limit)).await?;
    first_columns(&rows)
}

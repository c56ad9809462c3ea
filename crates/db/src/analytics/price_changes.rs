//! Prices now, compared with those of another time: the options whose price differs. Reads only.

use tokio_postgres::Row;

use super::{refresh, refreshed_at};
use crate::products::search::{self, Among, Matching, StoreScope};
use crate::statements::{FromRow, named, optional_word, read_all, rows};
use crate::{Client, DbError};
use contract::changes::ChangedOption;
use contract::prices::{PriceChangeQuestion, PriceDifference, PriceDifferences};
use contract::products::MatchKind;
use domain::menu::product::ProductId;
use domain::store::StoreId;

/// Maximum number of changes that are compared, the largest first: each takes a few reads.
pub const MAX_CANDIDATES: i64 = 1_500;
/// Maximum number of changes, the largest first, among which those with some words or of many stores are looked for.
const MAX_LOOKED: i64 = 5_000;
/// Maximum number of stores whose changes are read store by store.
const MAX_FEW_STORES: usize = 100;
/// Maximum number of products whose changes are read product by product; of frequent words the largest changes are read.
const MAX_PRODUCTS: i64 = 5_000;

/// Options whose price differs from that of `since`, the largest difference first.
pub async fn price_changes(client: &Client, question: &PriceChangeQuestion) -> Result<PriceDifferences, DbError> {
    let reach = Reach::of(client, question).await?;
    let found = reach.compare(client, question, question.limit.rows()).await?;
    let first = found.first().ok_or_else(|| DbError::Other("a comparison of prices has no answer".to_owned()))?;
    Ok(PriceDifferences {
        changes: if is_empty(first)? { Vec::new() } else { read_all(&found)? },
        since: first.try_get("since")?,
        r#match: reach.by,
        truncated: reach.is_cut || first.try_get("truncated")?,
        as_of: refreshed_at(client, refresh::PRICE_CHANGES).await?,
    })
}

/// All rows of a comparison, with the columns of a file.
pub(crate) async fn rows(client: &Client, question: &PriceChangeQuestion) -> Result<Vec<Row>, DbError> {
    let reach = Reach::of(client, question).await?;
    let found = reach.compare(client, question, MAX_CANDIDATES).await?;
    match found.first().map_or(Ok(true), is_empty)? {
        true => Ok(Vec::new()),
        false => Ok(found),
    }
}

/// Whether no price differs: there is one row without a product then.
fn is_empty(first: &Row) -> Result<bool, DbError> {
    Ok(first.try_get::<_, Option<ProductId>>("product_id")?.is_none())
}

/// The changes that a comparison looks at; the filters that their table has narrow them further.
struct Reach {
    by: MatchKind,
    /// Products whose changes are looked at.
    products: Option<Vec<ProductId>>,
    /// Stores whose changes are looked at, one store after the other.
    few_stores: Option<Vec<StoreId>>,
    /// Stores whose changes are looked for among the largest of all.
    stores: Option<Vec<StoreId>>,
    /// Words of products whose changes are looked for among the largest of all, as a tsquery.
    words: Option<String>,
    /// Whether too many products are spelled like the words: `products` are some of them.
    is_cut: bool,
}

impl Reach {
    async fn of(client: &Client, question: &PriceChangeQuestion) -> Result<Reach, DbError> {
        let PriceChangeQuestion { q, state, city, platform, group, store, category, .. } = question;
        let names_stores = city.is_some() || platform.is_some() || group.is_some() || store.is_some();
        let (state, city, group) = (state.as_deref(), city.as_deref(), group.as_deref());
        let scope = StoreScope { state, city, platform: *platform, group, store: *store };
        let stores = if names_stores || q.is_some() { search::stores(client, scope).await? } else { None };
        let mut reach = Reach::everywhere();
        if let Some(q) = q {
            let among = Among { stores: stores.as_deref(), category: category.as_deref() };
            reach.narrow_to_words(search::matching(client, q, among, MAX_PRODUCTS + 1).await?);
        }
        // the state alone is a column of the changes
        if let Some(stores) = stores.filter(|_| names_stores) {
            reach.narrow_to_stores(stores);
        }
        Ok(reach)
    }

    fn everywhere() -> Reach {
        Reach { by: MatchKind::Filters, products: None, few_stores: None, stores: None, words: None, is_cut: false }
    }

    fn narrow_to_words(&mut self, Matching { by, products, words }: Matching) {
        let is_frequent = products.len() as i64 > MAX_PRODUCTS;
        self.by = by;
        match words.filter(|_| is_frequent) {
            Some(words) => self.words = Some(words),
            None => (self.products, self.is_cut) = (Some(products), is_frequent),
        }
    }

    fn narrow_to_stores(&mut self, stores: Vec<StoreId>) {
        match stores.len() <= MAX_FEW_STORES {
            true => self.few_stores = Some(stores),
            false => self.stores = Some(stores),
        }
    }

    async fn compare(&self, client: &Client, question: &PriceChangeQuestion, rows: i64) -> Result<Vec<Row>, DbError> {
        let Reach { products, few_stores, stores, words, .. } = self;
        let PriceChangeQuestion { since, state, category, brand, in_stock, on_special, .. } = question;
        let PriceChangeQuestion { min_price, max_price, max_unit_price, .. } = question;
        let is_searched = words.is_some() || stores.is_some();
        named!(client.query_planned(
            "analytics/price_changes.sql",
            since,
            products,
            few_stores,
            stores,
            words,
            state,
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
            max_looked = if is_searched { MAX_LOOKED } else { MAX_CANDIDATES },
            max_candidates = MAX_CANDIDATES,
            rows
        ))
        .await
    }
}

impl FromRow for ChangedOption {
    fn from_row(row: &Row) -> Result<ChangedOption, DbError> {
        Ok(ChangedOption { label: row.try_get("option_label")?, nth: row.try_get("nth")? })
    }
}

rows! {
    PriceDifference {
        product_id,
        product_name: "product",
        brand, category, canonical_category, store_id,
        store_name: "store",
        city, state,
        option: row,
        is_in_stock, price_before, price, cents, percent,
        unit: optional_word,
        unit_price_before, unit_price,
        changed_at: "last_changed_at",
    }
}

//! `Walk`: the way through the heads of an export, some at a time, by keys: from store to store where a filter or the dataset has
//! stores, for changes of all stores by time, along a search where there are words, and along the answers that are datasets.

use tokio_postgres::Row;

use super::answers::Answers;
use super::pin_plans;
use crate::products::search;
use crate::statements::{Micros, first_column, first_columns, named, named_values};
use crate::{DbError, Tx};
use contract::exports::{Dataset, ExportQuery};
use contract::products::ProductQuestion;
use domain::menu::product::ProductId;
use domain::payload::PayloadId;
use domain::store::{Platform, StoreId};

/// Number of stores whose products or crawls one statement reads.
const STORES_AT_ONCE: i64 = 20;

pub enum Walk {
    Stores(StoreWalk),
    InStores(InStores),
    CrawlsByTime(Option<(Micros, PayloadId)>),
    Found(Option<ProductQuestion>),
    Answers(Answers),
}

impl Walk {
    pub fn of(dataset: Dataset, query: &ExportQuery) -> Walk {
        if let Some(answers) = Answers::of(dataset) {
            return Walk::Answers(answers);
        }
        match dataset {
            Dataset::Stores => Walk::Stores(StoreWalk::default()),
            Dataset::Products if query.q.is_some() => Walk::Found(query.search()),
            Dataset::Changes if !names_stores(query) => Walk::CrawlsByTime(None),
            _ => Walk::InStores(InStores::of(dataset)),
        }
    }

    /// The next heads, at most `limit`; there may be none among those that were tried. None at the end.
    pub async fn next(&mut self, tx: &Tx, query: &ExportQuery, limit: i64) -> Result<Option<Vec<Row>>, DbError> {
        match self {
            Walk::Stores(walk) => Ok(Some(walk.next(tx, query, limit).await?).filter(|stores| !stores.is_empty())),
            Walk::InStores(walk) => walk.next(tx, query, limit).await,
            Walk::CrawlsByTime(last) => {
                let rows = crawls_by_time(tx, query, *last, limit).await?;
                let Some(row) = rows.last() else { return Ok(None) };
                *last = Some((row.try_get("crawled_at")?, row.try_get("crawl_id")?));
                Ok(Some(rows))
            }
            Walk::Answers(answers) => answers.next(tx, query, limit).await,
            Walk::Found(next) => {
                let Some(question) = next.take() else { return Ok(None) };
                // before the plans are pinned: an index of words has others
                let found = search::search(tx, &question, limit).await?;
                *next = found.next.map(|after| ProductQuestion { after: Some(after), ..question });
                found_products(tx, query, found.products.iter().map(|found| found.product.id).collect()).await.map(Some)
            }
        }
    }
}

/// Whether a filter leaves changes of few stores.
fn names_stores(query: &ExportQuery) -> bool {
    let ExportQuery { store, group, state, city, platform, product, .. } = query;
    let is_of_place = state.is_some() || city.is_some();
    is_of_place || store.is_some() || group.is_some() || platform.is_some() || product.is_some()
}

/// Stores by id.
pub struct StoreWalk {
    after: StoreId,
}

impl Default for StoreWalk {
    fn default() -> Self {
        StoreWalk { after: StoreId::MIN }
    }
}

impl StoreWalk {
    async fn next(&mut self, tx: &Tx, query: &ExportQuery, limit: i64) -> Result<Vec<Row>, DbError> {
        pin_plans(tx).await?;
        let (after, ExportQuery { store, product, group, state, city, .. }) = (self.after, query);
        let platform = query.platform.map(Platform::name);
        let rows = named!(tx.query_planned(
            "exports/stores/next.sql",
            after,
            store,
            product,
            group,
            state,
            city,
            platform,
            limit
        ))
        .await?;
        if let Some(last) = rows.last() {
            self.after = first_column(last)?;
        }
        Ok(rows)
    }
}

/// Heads in one store after the other.
pub struct InStores {
    dataset: Dataset,
    all: StoreWalk,
    /// Stores whose heads are being read.
    stores: Vec<StoreId>,
    /// Key of the last head that was read of the first of `stores`.
    after: i64,
}

impl InStores {
    fn of(dataset: Dataset) -> InStores {
        InStores { dataset, all: StoreWalk::default(), stores: Vec::new(), after: i64::MIN }
    }

    async fn next(&mut self, tx: &Tx, query: &ExportQuery, limit: i64) -> Result<Option<Vec<Row>>, DbError> {
        if self.stores.is_empty() {
            self.stores = first_columns(&self.all.next(tx, query, STORES_AT_ONCE).await?)?;
            self.after = i64::MIN;
        }
        if self.stores.is_empty() {
            return Ok(None);
        }
        pin_plans(tx).await?;
        let rows = self.read(tx, query, limit).await?;
        self.went(rows.last().filter(|_| rows.len() as i64 >= limit))?;
        Ok(Some(rows))
    }

    async fn read(&self, tx: &Tx, query: &ExportQuery, limit: i64) -> Result<Vec<Row>, DbError> {
        let InStores { dataset, stores, after, .. } = self;
        if *dataset == Dataset::Changes {
            let ExportQuery { since, until, .. } = query;
            return named!(tx.query_planned("exports/changes/of_stores.sql", stores, after, since, until, limit)).await;
        }
        named!(tx.query_planned(
            "exports/products/of_stores.sql",
            stores,
            after,
            limit,
            ..ProductFilters::of(query, *dataset)
        ))
        .await
    }

    /// The column by which the heads of a store are in order.
    fn key(&self) -> &'static str {
        match self.dataset {
            Dataset::Changes => "seq",
            _ => "product_id",
        }
    }

    /// Notes the last head that was read; None: those of all its stores were.
    fn went(&mut self, last: Option<&Row>) -> Result<(), DbError> {
        let Some(last) = last else {
            self.stores.clear();
            return Ok(());
        };
        let store: StoreId = last.try_get("store_id")?;
        self.after = last.try_get(self.key())?;
        let place = self.stores.iter().position(|each| *each == store).unwrap_or_default();
        self.stores.drain(..place);
        Ok(())
    }
}

async fn crawls_by_time(
    tx: &Tx,
    query: &ExportQuery,
    last: Option<(Micros, PayloadId)>,
    limit: i64,
) -> Result<Vec<Row>, DbError> {
    pin_plans(tx).await?;
    let ((at, crawl), ExportQuery { since, until, .. }) = (last.unzip(), query);
    named!(tx.query_planned("exports/changes/by_time.sql", at, crawl, since, until, limit)).await
}

async fn found_products(tx: &Tx, query: &ExportQuery, ids: Vec<ProductId>) -> Result<Vec<Row>, DbError> {
    pin_plans(tx).await?;
    let group = &query.group;
    named!(tx.query_planned("exports/products/of_ids.sql", ids, group, ..ProductFilters::of(query, Dataset::Products)))
        .await
}

/// The values of `exports/products/filters.sql`.
struct ProductFilters<'a> {
    query: &'a ExportQuery,
    brand: Option<&'a str>,
    brand_beginning: Option<&'a str>,
}

impl<'a> ProductFilters<'a> {
    /// The search for products, whose list an export of products has, takes the beginning of a brand for the brand.
    fn of(query: &'a ExportQuery, dataset: Dataset) -> ProductFilters<'a> {
        let brand = query.brand.as_deref();
        match dataset {
            Dataset::Products => ProductFilters { query, brand: None, brand_beginning: brand },
            _ => ProductFilters { query, brand, brand_beginning: None },
        }
    }
}

named_values! {
    filters: ProductFilters<'_>;
    brand = filters.brand,
    brand_beginning = filters.brand_beginning,
    category = filters.query.category,
    in_stock = filters.query.in_stock,
    on_special = filters.query.on_special,
    min_price = filters.query.min_price,
    max_price = filters.query.max_price,
    max_unit_price = filters.query.max_unit_price,
}

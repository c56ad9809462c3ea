//! `MenuWrite`: one payload's products on their way into the tables, inside the transaction that settles the task.
//!
//! [`PayloadOrder`] decides what a payload may still write: the newest everything, an older one its snapshots, first_seen_at
//! and last_seen_at, and products that have no row.
//! In: products in the menu's order. Out: [`Counts`]. It must not know files or platforms.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::db::products::{Change, ProductId, ProductScope, UpsertResult};
use crate::db::stores::CrawlState;
use crate::db::{self, DbError, Tx};
use crate::domain::menu::NormalMenu;
use crate::domain::payload::Payload;
use crate::domain::product::Product;
use crate::domain::stock::{MISSES_TO_OUT_OF_STOCK, PayloadOrder, PayloadPosition, Stock};
use crate::events::ProductChanges;
use crate::memory::MemoryPermit;

pub struct MenuWrite {
    pub payload: Payload,
    pub menu: Arc<NormalMenu>,
    /// From this coverage on, a product that the menu lacks has a miss.
    pub min_coverage: f64,
    /// Held while the products are.
    pub memory: MemoryPermit,
}

/// What a refresh did; part of the task's result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Among the store's payloads; `older` says why current rows did not change. None where the store is disabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<PayloadOrder>,
    pub products: usize,
    pub new: usize,
    pub changed: usize,
    pub unchanged: usize,
    /// Products that the menu lacks, with one miss more.
    pub missed: i64,
    pub out_of_stock: i64,
    pub back_in_stock: i64,
    pub snapshots: u64,
    /// The store was disabled after this run had begun: nothing was written, its products are out of stock, and stay so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub store_is_disabled: bool,
}

impl From<&Counts> for ProductChanges {
    fn from(counts: &Counts) -> Self {
        ProductChanges {
            new: counts.new as u64,
            changed: counts.changed as u64,
            unchanged: counts.unchanged as u64,
            missed: counts.missed.unsigned_abs(),
            out_of_stock: counts.out_of_stock.unsigned_abs(),
            back_in_stock: counts.back_in_stock.unsigned_abs(),
        }
    }
}

impl From<Counts> for Map<String, Value> {
    fn from(counts: Counts) -> Self {
        match serde_json::to_value(counts) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }
}

impl MenuWrite {
    pub async fn write(&self, tx: &Tx) -> Result<Counts, DbError> {
        let state = db::stores::lock(tx, self.payload.dispensary_id).await?;
        if !state.is_enabled {
            return Ok(Counts { store_is_disabled: true, ..Counts::default() });
        }
        let order = PayloadOrder::of(self.position(), state.newest);
        let counts = match (order, state.newest) {
            (PayloadOrder::Older, Some(newest)) => self.write_older(tx, newest).await?,
            _ => self.write_current(tx, order, state).await?,
        };
        Ok(Counts { order: Some(order), ..counts })
    }

    async fn write_current(&self, tx: &Tx, order: PayloadOrder, state: CrawlState) -> Result<Counts, DbError> {
        let upserted = db::products::upsert(tx, self.scope(), self.payload.fetched_at, 0, &self.menu.products).await?;
        let ids: Vec<ProductId> = upserted.iter().map(|product| product.id).collect();
        db::products::write_variants(tx, self.position(), &ids, &self.menu.products).await?;
        let mut counts = self.count(&upserted);
        counts.snapshots = self.write_snapshots(tx, &ids, &self.menu.products).await?;
        if order == PayloadOrder::Newest && self.is_complete() {
            let missed =
                db::products::record_misses(tx, self.scope(), self.position(), &ids, state.last_complete_at).await?;
            counts.missed = missed.missed;
            counts.out_of_stock += missed.out_of_stock;
        }
        db::stores::record_crawl(tx, &self.payload, self.is_complete()).await?;
        Ok(counts)
    }

    /// Current rows belong to the `newest` payload: this adds snapshots, moves first_seen_at and last_seen_at, and adds products that
    /// have no row.
    async fn write_older(&self, tx: &Tx, newest: PayloadPosition) -> Result<Counts, DbError> {
        let known = db::products::find(tx, self.scope(), &self.menu.products).await?;
        let known_ids: Vec<ProductId> = known.iter().copied().flatten().collect();
        db::products::widen_seen(tx, &known_ids, self.payload.fetched_at).await?;
        let unknown = self.unknown(&known);
        let mut counts = Counts { products: self.menu.products.len(), new: unknown.len(), ..Counts::default() };
        let added = match unknown.as_slice() {
            [] => Vec::new(),
            some => self.add_unknown(tx, newest, some).await?,
        };
        let mut added = added.into_iter();
        let ids: Vec<ProductId> = known.into_iter().filter_map(|id| id.or_else(|| added.next())).collect();
        counts.snapshots = self.write_snapshots(tx, &ids, &self.menu.products).await?;
        Ok(counts)
    }

    fn unknown(&self, known: &[Option<ProductId>]) -> Vec<Product> {
        let pairs = self.menu.products.iter().zip(known);
        pairs.filter(|(_, id)| id.is_none()).map(|(product, _)| product.clone()).collect()
    }

    /// Adds products that have no row, with one miss for each complete crawl since this payload, as if payloads had been written in
    /// order.
    async fn add_unknown(
        &self,
        tx: &Tx,
        newest: PayloadPosition,
        products: &[Product],
    ) -> Result<Vec<ProductId>, DbError> {
        let Payload { dispensary_id, fetched_at, .. } = self.payload;
        let since =
            db::payloads::complete_between(tx, dispensary_id, fetched_at, newest.fetched_at, self.min_coverage).await?;
        let misses = i16::try_from(since).map_or(MISSES_TO_OUT_OF_STOCK, |since| since.min(MISSES_TO_OUT_OF_STOCK));
        let products: Vec<Product> = products.iter().map(|product| missed_since(product, misses)).collect();
        let upserted = db::products::upsert(tx, self.scope(), fetched_at, misses, &products).await?;
        let ids: Vec<ProductId> = upserted.iter().map(|product| product.id).collect();
        db::products::write_variants(tx, self.position(), &ids, &products).await?;
        Ok(ids)
    }

    async fn write_snapshots(&self, tx: &Tx, ids: &[ProductId], products: &[Product]) -> Result<u64, DbError> {
        db::snapshots::insert(tx, self.payload.id, self.payload.fetched_at, ids, products).await
    }

    fn count(&self, upserted: &[UpsertResult]) -> Counts {
        let of = |change: Change| upserted.iter().filter(|product| product.change == change).count();
        let moved = |was: bool, is: bool| {
            let pairs = upserted.iter().zip(&self.menu.products);
            pairs.filter(|(before, now)| before.was_in_stock == Some(was) && now.is_in_stock == is).count() as i64
        };
        Counts {
            products: upserted.len(),
            new: of(Change::New),
            changed: of(Change::Changed),
            unchanged: of(Change::Unchanged),
            out_of_stock: moved(true, false),
            back_in_stock: moved(false, true),
            ..Counts::default()
        }
    }

    fn is_complete(&self) -> bool {
        self.payload.is_complete(self.min_coverage)
    }

    fn position(&self) -> PayloadPosition {
        PayloadPosition { fetched_at: self.payload.fetched_at, id: self.payload.id }
    }

    fn scope(&self) -> ProductScope {
        ProductScope { dispensary_id: self.payload.dispensary_id, platform: self.payload.platform }
    }
}

fn missed_since(product: &Product, misses: i16) -> Product {
    let stock = (0..misses).fold(Stock::seen(product.is_in_stock, product.stock_status), |stock, _| stock.missed());
    let mut product = Product { is_in_stock: stock.is_in_stock, stock_status: stock.status, ..product.clone() };
    product.variants.iter_mut().for_each(|variant| variant.is_in_stock &= stock.is_in_stock);
    product
}

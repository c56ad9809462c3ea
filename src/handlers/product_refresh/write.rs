//! `MenuWrite`: one payload's products on their way into the tables, inside the transaction that settles the
//! task.
//!
//! [`PayloadOrder`] decides a payload's permitted writes: the newest everything, an older one its snapshots,
//! first_seen_at and last_seen_at, and products that have no row. In: products in the menu's order. Out:
//! [`Counts`]. It must not know files or platforms.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use futures_util::FutureExt;
use serde::Serialize;
use serde_json::{Map, Value};

use super::changes::MenuChanges;
use super::variants::VariantWrites;
use db::products::brands::MenuBrand;
use db::products::{ProductScope, ProductWrite, shared_json};
use db::stores::CrawlState;
use db::{DbError, Tx, pipeline};
use domain::menu;
use domain::menu::NormalMenu;
use domain::menu::category::Categories;
use domain::menu::changes::Presence;
use domain::menu::diff::{KnownProduct, MenuDiff, RowChange};
use domain::menu::product::{Product, ProductId, Variant};
use domain::menu::stock::{MISSES_TO_OUT_OF_STOCK, PayloadOrder, PayloadPosition, Stock};
use domain::payload::Payload;
use domain::switches::Switches;
use foundation::memory::MemoryPermit;
use storage::image_layout;
use telemetry::events::ProductChanges;

#[derive(Clone)]
pub struct MenuWrite {
    pub payload: Payload,
    pub menu: Arc<NormalMenu>,
    /// Minimum coverage at which products that the menu lacks count as missed.
    pub min_coverage: f64,
    /// Maximum quantity of an option that is few.
    pub low_stock: i32,
    /// Categories by which prices are compared.
    pub categories: Arc<Categories>,
    /// Permit that is held while the products are.
    pub memory: MemoryPermit,
}

/// Counts of a refresh; part of the task's result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Order among the store's payloads; `older` says why current rows did not change. None where the store is disabled.
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
    /// Products that neither have a price nor a variant with one.
    #[serde(skip_serializing_if = "is_zero")]
    pub without_price: usize,
    /// The menu would put more than half of its products out of stock at once, and is not believed: nothing was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub suspicious: bool,
    /// The store was disabled after this run had begun: nothing was written, its products are out of stock,
    /// and stay so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub store_is_disabled: bool,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
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
        let with_units = self.with_known_units(tx).await?;
        let menu = with_units.as_ref().unwrap_or(self);
        let hashes = menu.hashes();
        let rows = menu.rows(tx, state, &hashes).await?;
        let with_statuses = menu::diff::with_known_statuses(menu.products(), &rows.known);
        let with_statuses = with_statuses.map(|products| menu.with_products(products));
        let (menu, hashes) = with_statuses.as_ref().map_or((menu, hashes), |menu| (menu, menu.hashes()));
        // boxed, as are those below
        menu.write_known(tx, state, rows, &hashes).boxed().await
    }

    /// The store's rows. Of the newest menu, those with its content are not read.
    async fn rows(&self, tx: &Tx, state: CrawlState, hashes: &[i64]) -> Result<StoreRows, DbError> {
        let are_trusted = self.order(state) == PayloadOrder::Newest && state.has_hashes;
        let rows = db::products::row_hashes(tx, self.scope()).await?;
        let (same, others) = rows.split(if are_trusted { hashes } else { &[] });
        Ok(StoreRows { same, known: db::products::known(tx, &others).await? })
    }

    /// Fills in the known units; None where the menu says every unit.
    async fn with_known_units(&self, tx: &Tx) -> Result<Option<MenuWrite>, DbError> {
        let unknown = self.products().iter().filter(|product| product.has_unknown_unit);
        let ids: Vec<&str> = unknown.map(|product| product.provider_product_id.as_str()).collect();
        if ids.is_empty() {
            return Ok(None);
        }
        let known = db::products::known_units(tx, self.scope(), &ids).await?;
        Ok(Some(self.with_products(menu::known_units::with_known_units(self.products(), &known))))
    }

    fn with_products(&self, products: Vec<Product>) -> MenuWrite {
        let menu = NormalMenu { products, ..NormalMenu::default() };
        MenuWrite { menu: Arc::new(menu), ..self.clone() }
    }

    async fn write_known(
        &self,
        tx: &Tx,
        state: CrawlState,
        rows: StoreRows,
        hashes: &[i64],
    ) -> Result<Counts, DbError> {
        let order = self.order(state);
        let counts = match (order, state.newest) {
            (PayloadOrder::Older, Some(newest)) => self.write_older(tx, newest, rows.known).await?,
            _ => self.write_current(tx, order, state, rows, hashes).await?,
        };
        Ok(Counts { order: Some(order), ..counts })
    }

    async fn write_current(
        &self,
        tx: &Tx,
        order: PayloadOrder,
        state: CrawlState,
        StoreRows { same, mut known }: StoreRows,
        hashes: &[i64],
    ) -> Result<Counts, DbError> {
        let may_be_written = order == PayloadOrder::Replay || !(state.has_hashes || known.is_empty());
        if may_be_written {
            known.iter_mut().for_each(|row| row.content_hash = None);
        }
        let diff = MenuDiff::new(self.products(), hashes, &same, &known);
        let counts_misses = order == PayloadOrder::Newest && self.is_complete();
        if order == PayloadOrder::Newest && !self.is_believed(tx, diff.switches(self.products(), counts_misses)).await?
        {
            return Ok(Counts { products: self.products().len(), suspicious: true, ..Counts::default() });
        }
        let ids = self.ids(tx, &diff.changes).await?;
        let menu: Vec<MenuRow<'_>> = self.menu_rows(&ids, hashes, &diff.changes).collect();

        let new = self.writes(&menu, |change| change == RowChange::New);
        let changed = self.writes(&menu, |change| matches!(change, RowChange::Changed { .. }));
        let absent = if counts_misses { diff.absent.as_slice() } else { &[] };
        let variants = VariantWrites::find(tx, &new, &changed).await?;

        // boxed: without optimisation each function that holds such a large future has copies of it on its stack
        let current = pipeline(
            self.write_products(tx, &new, &changed).boxed(),
            variants.write(tx, self.position(), may_be_written).boxed(),
        );
        let crawl = pipeline(
            self.write_snapshots(tx, &ids, may_be_written).boxed(),
            pipeline(
                self.record_misses(tx, absent, state.last_complete_at).boxed(),
                db::stores::record_crawl(tx, &self.payload, self.is_complete()),
            ),
        );
        let (_, (snapshots, (sold_out, ()))) = pipeline(current, crawl).await?;
        if order == PayloadOrder::Newest {
            self.write_changes(tx, state, &menu, &variants, absent, sold_out.options).await?;
        }

        // last: another menu that adds the same brands waits until this one is committed
        let written =
            menu.iter().filter(|row| state.has_failed_logos || !matches!(row.change, RowChange::Unchanged { .. }));
        db::products::brands::add(tx, &brands(written.map(|row| row.product))).await?;
        let counts = count(&menu);
        let out_of_stock = counts.out_of_stock + sold_out.products as i64;
        let without_price = self.products().iter().filter(|product| !product.has_price()).count();
        Ok(Counts { snapshots, missed: absent.len() as i64, out_of_stock, without_price, ..counts })
    }

    /// A menu that would put more than half of its products out of stock, or lists them under other ids, is taken for a
    /// fault of the platform's, until enough menus show it, or an operator accepts it.
    async fn is_believed(&self, tx: &Tx, switches: Switches) -> Result<bool, DbError> {
        let Payload { dispensary_id, platform, .. } = self.payload;
        let scope = format!("{platform}/{dispensary_id}");
        db::stores::switches::believe(tx, &scope, switches, &[dispensary_id]).await
    }

    async fn write_products(
        &self,
        tx: &Tx,
        new: &[ProductWrite<'_>],
        changed: &[ProductWrite<'_>],
    ) -> Result<(), DbError> {
        let insert = db::products::insert(tx, self.scope(), self.payload.fetched_at, 0, new);
        pipeline(insert, db::products::update(tx, self.payload.fetched_at, changed)).await?;
        self.write_shared(tx, new, changed).await
    }

    /// Current rows belong to the `newest` payload: this adds snapshots, moves first_seen_at and
    /// last_seen_at, and adds products that have no row.
    async fn write_older(&self, tx: &Tx, newest: PayloadPosition, known: Vec<KnownProduct>) -> Result<Counts, DbError> {
        let hashes = vec![0; self.products().len()]; // nothing that is known is written, whatever its content
        let changes = MenuDiff::new(self.products(), &hashes, &HashMap::new(), &known).changes;
        let known_ids: Vec<ProductId> = changes.iter().filter_map(|change| change.id()).collect();
        db::products::widen_seen(tx, &known_ids, self.payload.fetched_at).await?;
        let ids = self.ids(tx, &changes).await?;
        let new = changes.len() - known_ids.len();
        if new > 0 {
            self.add_unknown(tx, newest, &ids, &changes).await?;
        }
        let snapshots = self.write_snapshots(tx, &ids, true).await?;
        Ok(Counts { products: self.products().len(), new, snapshots, ..Counts::default() })
    }

    /// Adds products that have no row, with one miss for each complete crawl since this payload, as if
    /// payloads had been written in order.
    async fn add_unknown(
        &self,
        tx: &Tx,
        newest: PayloadPosition,
        ids: &[ProductId],
        changes: &[RowChange],
    ) -> Result<(), DbError> {
        let Payload { dispensary_id, fetched_at, .. } = self.payload;
        let since =
            db::payloads::complete_between(tx, dispensary_id, fetched_at, newest.fetched_at, self.min_coverage).await?;
        let misses = i16::try_from(since).map_or(MISSES_TO_OUT_OF_STOCK, |since| since.min(MISSES_TO_OUT_OF_STOCK));
        let menu = ids.iter().zip(self.products()).zip(changes);
        let unknown = menu.filter(|(_, change)| **change == RowChange::New);
        let missed: Vec<(ProductId, Product)> =
            unknown.map(|((id, product), _)| (*id, missed_since(product, misses))).collect();
        let new: Vec<ProductWrite<'_>> =
            missed.iter().map(|(id, product)| self.product_write(*id, None, product)).collect();
        db::products::insert(tx, self.scope(), fetched_at, misses, &new).await?;
        self.write_shared(tx, &new, &[]).await?;
        VariantWrites::find(tx, &new, &[]).await?.write(tx, self.position(), false).await
    }

    /// Writes the JSON that products share, after the products.
    async fn write_shared(
        &self,
        tx: &Tx,
        new: &[ProductWrite<'_>],
        changed: &[ProductWrite<'_>],
    ) -> Result<(), DbError> {
        let store = self.payload.dispensary_id;
        shared_json::SPECIALS.write(tx, store, new, changed).await?;
        shared_json::ATTRIBUTES.write(tx, store, new, changed).await
    }

    /// The ids of the products, in the menu's order; new ones get theirs here.
    async fn ids(&self, tx: &Tx, changes: &[RowChange]) -> Result<Vec<ProductId>, DbError> {
        let new = changes.iter().filter(|change| **change == RowChange::New).count();
        let mut reserved = db::products::reserve_ids(tx, new).await?.into_iter();
        Ok(changes.iter().filter_map(|change| change.id().or_else(|| reserved.next())).collect())
    }

    fn menu_rows<'a>(
        &'a self,
        ids: &'a [ProductId],
        hashes: &'a [i64],
        changes: &'a [RowChange],
    ) -> impl Iterator<Item = MenuRow<'a>> {
        let rows = ids.iter().zip(hashes).zip(self.products());
        rows.zip(changes).map(|(((id, hash), product), change)| MenuRow {
            id: *id,
            hash: *hash,
            product,
            change: *change,
        })
    }

    fn writes<'a>(&'a self, menu: &[MenuRow<'a>], is_meant: impl Fn(RowChange) -> bool) -> Vec<ProductWrite<'a>> {
        let meant = menu.iter().filter(|row| is_meant(row.change));
        meant.map(|row| self.product_write(row.id, Some(row.hash), row.product)).collect()
    }

    fn product_write<'a>(&'a self, id: ProductId, content_hash: Option<i64>, product: &'a Product) -> ProductWrite<'a> {
        ProductWrite { id, content_hash, category: self.categories.of(self.payload.platform, product), product }
    }

    /// `may_be_written` = some of them may be there already.
    async fn write_snapshots(&self, tx: &Tx, ids: &[ProductId], may_be_written: bool) -> Result<u64, DbError> {
        let written = match may_be_written {
            true => db::products::snapshots::of_crawl(tx, self.position()).await?,
            false => HashSet::new(),
        };
        let menu = ids.iter().copied().zip(self.products());
        let missing: Vec<(ProductId, &Product)> = menu.filter(|(id, _)| !written.contains(id)).collect();
        db::products::snapshots::insert(tx, self.position(), &missing).await
    }

    /// Adds the changes to the feed. A store without a baseline has none: its products may have been crawled long ago,
    /// or never.
    async fn write_changes(
        &self,
        tx: &Tx,
        state: CrawlState,
        menu: &[MenuRow<'_>],
        variants: &VariantWrites<'_>,
        absent: &[KnownProduct],
        sold_out: Vec<(ProductId, Variant)>,
    ) -> Result<(), DbError> {
        if state.needs_baseline {
            return match self.is_complete() {
                true => db::changes::add_baseline(tx, &self.payload).await,
                false => Ok(()),
            };
        }
        let mut changes = MenuChanges::new(self.low_stock);
        for MenuRow { id, product, change, .. } in menu {
            let after = Presence::of(product);
            changes.product(*id, change.presence().unwrap_or(after), after);
        }
        for row in absent.iter().filter(|row| row.is_gone_after_a_miss()) {
            changes.product(row.id, row.presence(), Presence::Gone);
        }
        changes.options(variants);
        changes.sold_out(sold_out);
        db::changes::add(tx, &self.payload, changes.lines()).await
    }

    /// Counts a miss for each of these rows; returns what goes out of stock by it.
    async fn record_misses(
        &self,
        tx: &Tx,
        absent: &[KnownProduct],
        previous: Option<DateTime<Utc>>,
    ) -> Result<SoldOut, DbError> {
        let ids: Vec<ProductId> = absent.iter().map(|row| row.id).collect();
        db::products::record_misses(tx, &ids, previous).await?;
        let sold_out: Vec<ProductId> = absent.iter().filter(|row| row.goes_out_of_stock()).map(|row| row.id).collect();
        let options = db::products::variants::put_out_of_stock(tx, &sold_out, self.position()).await?;
        Ok(SoldOut { products: sold_out.len(), options })
    }

    fn products(&self) -> &[Product] {
        &self.menu.products
    }

    fn hashes(&self) -> Vec<i64> {
        self.products().iter().map(Product::content_hash).collect()
    }

    fn order(&self, state: CrawlState) -> PayloadOrder {
        PayloadOrder::of(self.position(), state.newest)
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

/// The rows of a store.
struct StoreRows {
    /// Ids of rows with content of the menu, by its hash.
    same: HashMap<i64, ProductId>,
    /// All others.
    known: Vec<KnownProduct>,
}

/// A product of the menu, its row's id and the change of the row.
struct MenuRow<'a> {
    id: ProductId,
    hash: i64,
    product: &'a Product,
    change: RowChange,
}

/// Number of products that go out of stock by their third miss, and their options that were in stock.
struct SoldOut {
    products: usize,
    options: Vec<(ProductId, Variant)>,
}

/// The brands of these products, each once.
fn brands<'a>(products: impl Iterator<Item = &'a Product>) -> Vec<MenuBrand> {
    let (mut slugs, mut brands) = (HashMap::new(), BTreeMap::new());
    for product in products {
        let Some(name) = &product.brand_name_raw else { continue };
        let slug = slugs.entry(name).or_insert_with(|| image_layout::brand_slug(Some(name)));
        let brand = brands.entry(slug.clone()).or_insert_with_key(|slug| MenuBrand {
            name: name.clone(),
            slug: slug.clone(),
            image_url: None,
        });
        if brand.image_url.is_none() {
            brand.image_url.clone_from(&product.brand_image_url);
        }
    }
    brands.into_values().collect()
}

fn count(menu: &[MenuRow<'_>]) -> Counts {
    let of = |is_meant: fn(&RowChange) -> bool| menu.iter().filter(|row| is_meant(&row.change)).count();
    let moved = |was: bool, is: bool| {
        let moves = |row: &&MenuRow<'_>| {
            matches!(row.change, RowChange::Changed { was_in_stock, .. } if was_in_stock == was)
                && row.product.is_in_stock == is
        };
        menu.iter().filter(moves).count() as i64
    };
    Counts {
        products: menu.len(),
        new: of(|change| matches!(change, RowChange::New)),
        changed: of(|change| matches!(change, RowChange::Changed { .. })),
        unchanged: of(|change| matches!(change, RowChange::Unchanged { .. })),
        out_of_stock: moved(true, false),
        back_in_stock: moved(false, true),
        ..Counts::default()
    }
}

fn missed_since(product: &Product, misses: i16) -> Product {
    let stock = (0..misses).fold(Stock::seen(product.is_in_stock, product.stock_status), |stock, _| stock.missed());
    let mut product = Product { is_in_stock: stock.is_in_stock, stock_status: stock.status, ..product.clone() };
    product.variants.iter_mut().for_each(|variant| variant.is_in_stock &= stock.is_in_stock);
    product
}

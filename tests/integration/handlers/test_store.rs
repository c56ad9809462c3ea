//! `TestStore`: a store, payload rows with any products in them, and the content of the tables afterwards.

use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use db::DbError;
use domain::menu;
use domain::menu::NormalMenu;
use domain::menu::attributes::Attributes;
use domain::menu::product::{Product, SpecialsJson, StockStatus, UpstreamStatus, Variant};
use domain::menu::stock::Stock;
use domain::payload::Payload;
use domain::store::{NewStore, Platform, StoreId};
use drover::handlers::product_refresh::write::{Counts, MenuWrite};
use drover::platforms::categories;
use foundation::memory::MemoryPermit;

use testkit::TestDatabase;

pub const MIN_COVERAGE: f64 = 0.995;

pub struct TestStore {
    pub database: Arc<TestDatabase>,
    pub id: StoreId,
}

/// A row of `store_products`, as people see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub id: i64,
    pub price_rec: Option<i32>,
    pub stock: Stock,
    pub first_seen_at: DateTime<Utc>,
    /// Time as the API and the command line show it.
    pub last_seen_at: DateTime<Utc>,
}

/// Writes of a refresh of these products.
pub fn menu_write(payload: Payload, products: Vec<Product>) -> MenuWrite {
    let menu = Arc::new(NormalMenu { products, ..NormalMenu::default() });
    let categories = Arc::new(categories::load(None).unwrap());
    MenuWrite { payload, menu, min_coverage: MIN_COVERAGE, low_stock: 5, categories, memory: MemoryPermit::default() }
}

impl TestStore {
    pub async fn new() -> TestStore {
        TestStore::in_database(Arc::new(testkit::database().await), "Test Store").await
    }

    /// Another store in the same database.
    pub async fn beside(&self, name: &str) -> TestStore {
        TestStore::in_database(Arc::clone(&self.database), name).await
    }

    async fn in_database(database: Arc<TestDatabase>, name: &str) -> TestStore {
        let tx = database.db.begin().await.unwrap();
        let id = db::stores::add(&tx, &new_store(name), &drover::platforms::menu_key).await.unwrap();
        tx.commit().await.unwrap();
        TestStore { database, id }
    }

    /// The row of a crawl that was fetched at `second`.
    pub async fn payload(&self, second: i64, product_count: usize, coverage: f64) -> Payload {
        let sql = "INSERT INTO raw_crawl_payloads (dispensary_id, platform, storage_path, sha256, bytes, product_count, total_count, coverage, fetched_at)
                   VALUES ($1, 'dutchie', 'payloads/' || gen_random_uuid(), repeat('0', 64), 1, $2, $3, $4, $5) RETURNING id";
        let count = product_count as i32;
        // one missing product would be forgiven
        let total = if coverage < 1.0 { count + 2 } else { count };
        let row = self.database.raw.query_one(sql, &[&self.id, &count, &total, &coverage, &at(second)]).await.unwrap();
        let client = self.database.db.client().await.unwrap();
        db::payloads::get(&client, row.get(0)).await.unwrap().unwrap()
    }

    /// A complete crawl fetched at `second`, refreshed at once.
    pub async fn crawl(&self, second: i64, products: Vec<Product>) -> Counts {
        let payload = self.payload(second, products.len(), 1.0).await;
        self.refresh(&payload, products).await
    }

    pub async fn refresh(&self, payload: &Payload, products: Vec<Product>) -> Counts {
        self.try_refresh(payload, products).await.unwrap()
    }

    pub async fn try_refresh(&self, payload: &Payload, products: Vec<Product>) -> Result<Counts, DbError> {
        let crawl = menu_write(payload.clone(), products);
        let tx = self.database.db.begin().await?;
        let counts = crawl.write(&tx).await?;
        tx.commit().await?;
        Ok(counts)
    }

    pub async fn row(&self, provider_id: &str) -> Option<Row> {
        let sql = "SELECT p.*, d.last_complete_at FROM store_products p JOIN dispensaries d ON d.id = p.dispensary_id
                    WHERE p.dispensary_id = $1 AND p.provider_product_id = $2";
        let row = self.database.raw.query_opt(sql, &[&self.id, &provider_id]).await.unwrap()?;
        let misses: i16 = row.get("consecutive_misses");
        let status = match row.get("stock_status") {
            "in_stock" => StockStatus::InStock,
            "oos" => StockStatus::Oos,
            _ => StockStatus::Unknown,
        };
        Some(Row {
            id: row.get("id"),
            price_rec: row.get("price_rec"),
            stock: Stock { is_in_stock: row.get("is_in_stock"), status, misses },
            first_seen_at: row.get("first_seen_at"),
            last_seen_at: menu::stock::last_seen(row.get("last_seen_at"), misses, row.get("last_complete_at")),
        })
    }

    pub async fn options_in_stock(&self, provider_id: &str) -> i64 {
        let sql = "SELECT count(*) FROM store_product_variants v JOIN store_products p ON p.id = v.store_product_id
                    WHERE p.dispensary_id = $1 AND p.provider_product_id = $2 AND v.is_in_stock";
        self.database.raw.query_one(sql, &[&self.id, &provider_id]).await.unwrap().get(0)
    }

    pub async fn snapshots(&self, payload: &Payload) -> i64 {
        self.count(&format!("SELECT count(*) FROM store_product_snapshots WHERE crawl_id = {}", payload.id)).await
    }

    pub async fn count(&self, sql: &str) -> i64 {
        self.database.raw.query_one(sql, &[]).await.unwrap().get(0)
    }

    /// Marks that distinguish a written or locked row from an untouched one.
    pub async fn marks(&self, table: &str) -> Vec<String> {
        let sql = format!("SELECT format('%s %s %s', ctid, xmin, xmax) FROM {table} ORDER BY ctid");
        self.database.raw.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }
}

pub fn new_store(name: &str) -> NewStore {
    NewStore {
        name: name.to_owned(),
        platform: Platform::Dutchie,
        platform_dispensary_id: Some(format!("id of {name}")),
        slug: Some("a-slug".to_owned()),
        menu_url: None,
        api_host: None,
        api_path: None,
        city: None,
        state: Some("AZ".to_owned()),
        timezone: None,
        groups: Vec::new(),
    }
}

/// Some time within the last hour, whole seconds apart.
pub fn at(second: i64) -> DateTime<Utc> {
    static START: std::sync::LazyLock<DateTime<Utc>> = std::sync::LazyLock::new(|| {
        let hour_ago = foundation::clock::Clock::system().utc() - TimeDelta::hours(1);
        DateTime::from_timestamp(hour_ago.timestamp(), 0).unwrap()
    });
    *START + TimeDelta::seconds(second)
}

/// Makes a product in stock, with two options.
pub fn product(id: &str) -> Product {
    Product {
        provider_product_id: id.to_owned(),
        name_raw: format!("Product {id}"),
        brand_name_raw: Some("Brand".to_owned()),
        category: Some("Flower".to_owned()),
        strain_type: Some("Hybrid".to_owned()),
        price_rec: Some(1000),
        quantity: Some(8),
        is_in_stock: true,
        stock_status: StockStatus::InStock,
        upstream_status: Some(UpstreamStatus::Active),
        specials: Some(SpecialsJson::new(r#"{"saleSpecials":[{"specialName":"Ten off"}]}"#.to_owned())),
        attributes: Attributes { delivery: Some(true), ..Attributes::default() }.into_json(),
        variants: vec![variant("1g", 0, 1000), variant("1g", 1, 1500)],
        ..Product::default()
    }
}

pub fn variant(label: &str, nth: i16, price: i32) -> Variant {
    Variant {
        option_label: label.to_owned(),
        nth,
        size_mg: Some(1000),
        price_rec: Some(price),
        quantity: Some(4),
        is_in_stock: true,
        ..Variant::default()
    }
}

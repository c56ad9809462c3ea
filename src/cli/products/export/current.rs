//! `drover products export` without `--history`: writes the current products.
//!
//! In: the API, read page by page, so that memory does not grow with the number of products. The lists of the stores are
//! read and not the search, which follows the crawls with a delay.

use serde_aux::serde_introspection::serde_introspect;
use serde_json::json;

use super::Args;
use crate::cli::export::sink::Sink;
use crate::cli::{ApiClient, Env, ExitCode, store_name, with_query};
use contract::products::{ProductList, ProductView};
use contract::stores::StorePage;
use domain::amounts::counted;
use domain::store::StoreId;
use export::csv_cell;

/// Number of products or stores per request.
const PAGE: &str = "500";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListFormat {
    Csv,
    /// One array.
    Json,
    Jsonl,
}

pub async fn run(format: ListFormat, args: &Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?;
    let store = store_name::id_of(args.store.as_ref(), &api).await?;
    let mut export = Export { api, format, sink: args.sink()?, products: 0 };
    export.write_all(store).await?;
    let products = export.products;
    export.sink.finish()?;
    if let Some(path) = &args.out {
        let text = format!("{} written to {}", counted(products, "product"), path.display());
        env.out.either(&json!({ "products": products, "file": path }), |_| text)?;
    }
    Ok(ExitCode::Ok)
}

struct Export {
    api: ApiClient,
    format: ListFormat,
    sink: Sink,
    /// Products written so far.
    products: i64,
}

impl Export {
    async fn write_all(&mut self, store: Option<StoreId>) -> anyhow::Result<()> {
        if let Some(store) = store {
            // the error of a missing store is all that is written
            let _: serde_json::Value = self.api.get(&format!("/api/stores/{store}")).await?;
        }
        match self.format {
            // a list without products has them, too
            ListFormat::Csv => {
                self.write(csv_bytes(|csv| csv.write_record(serde_introspect::<ProductView>()))?).await?
            }
            ListFormat::Json => self.write(b"[".to_vec()).await?,
            ListFormat::Jsonl => {}
        }
        match store {
            Some(store) => self.write_store(store).await?,
            None => self.write_stores().await?,
        }
        match self.format {
            ListFormat::Csv | ListFormat::Jsonl => Ok(()),
            ListFormat::Json => self.write(b"\n]\n".to_vec()).await,
        }
    }

    async fn write_stores(&mut self) -> anyhow::Result<()> {
        let mut cursor = None;
        loop {
            let query = [("limit", Some(PAGE.to_owned())), ("cursor", cursor)];
            let page: StorePage = self.api.get(&with_query("/api/stores", query)).await?;
            for store in page.stores {
                self.write_store(store.id).await?;
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(()),
            }
        }
    }

    async fn write_store(&mut self, store: StoreId) -> anyhow::Result<()> {
        let mut cursor = None;
        loop {
            let query = [("limit", Some(PAGE.to_owned())), ("cursor", cursor)];
            let page: ProductList = self.api.get(&with_query(&format!("/api/stores/{store}/products"), query)).await?;
            self.write_products(&page.products).await?;
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(()),
            }
        }
    }

    async fn write_products(&mut self, products: &[ProductView]) -> anyhow::Result<()> {
        let bytes = match self.format {
            ListFormat::Csv => csv_rows(products)?,
            ListFormat::Json => json_array(products, self.products == 0)?,
            ListFormat::Jsonl => json_lines(products)?,
        };
        self.products += products.len() as i64;
        self.write(bytes).await
    }

    async fn write(&mut self, bytes: Vec<u8>) -> anyhow::Result<()> {
        self.sink.write(bytes).await
    }
}

/// Names come from upstream: a spreadsheet must not read one as a formula.
fn csv_rows(products: &[ProductView]) -> anyhow::Result<Vec<u8>> {
    let plain = csv_bytes(|csv| products.iter().try_for_each(|product| csv.serialize(product)))?;
    let mut rows = csv::ReaderBuilder::new().has_headers(false).from_reader(plain.as_slice());
    csv_bytes(|csv| {
        rows.records()
            .try_for_each(|row| csv.write_record(row?.iter().map(|cell| csv_cell::escaped(cell).into_owned())))
    })
}

fn csv_bytes(write: impl FnOnce(&mut csv::Writer<Vec<u8>>) -> csv::Result<()>) -> anyhow::Result<Vec<u8>> {
    let mut csv = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    write(&mut csv)?;
    Ok(csv.into_inner().map_err(csv::IntoInnerError::into_error)?)
}

/// Each product on a line of its own, after the comma that ends the line before.
fn json_array(products: &[ProductView], is_first: bool) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (nth, product) in products.iter().enumerate() {
        bytes.extend_from_slice(if is_first && nth == 0 { b"\n" } else { b",\n" });
        serde_json::to_writer(&mut bytes, product)?;
    }
    Ok(bytes)
}

fn json_lines(products: &[ProductView]) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for product in products {
        serde_json::to_writer(&mut bytes, product)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

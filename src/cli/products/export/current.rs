//! `drover products export`: writes the products of one store or of all stores, as CSV or JSON.
//!
//! In: the API, read page by page, so that memory does not grow with the number of products. Out: stdout,
//! or a file that is written whole or not at all. The lists of the stores are read and not the search,
//! which follows the crawls with a delay.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::ValueEnum;
use serde_aux::serde_introspection::serde_introspect;
use serde_json::json;
use tempfile::NamedTempFile;

use crate::cli::store_name::{self, StoreName};
use crate::cli::{ApiClient, Env, ExitCode, csv_cell, with_query};
use contract::products::{ProductList, ProductView};
use contract::stores::StorePage;
use domain::amounts::counted;
use domain::store::StoreId;

/// Number of products or stores per request.
const PAGE: &str = "500";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only the store with this id, slug or name [default: all stores]
    #[arg(long, value_name = "STORE", allow_negative_numbers = true)]
    store: Option<StoreName>,
    /// csv, or json: an array with one product per line [default: csv, with --json json]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    format: Option<Format>,
    /// Write this file, replacing it once all products are written [default: standard output]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Csv,
    Json,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let format = args.format.unwrap_or(if env.out.is_json() { Format::Json } else { Format::Csv });
    let api = env.api_to_read().await?;
    let store = store_name::id_of(args.store.as_ref(), &api).await?;
    let target = args.out.as_ref().map_or("standard output".to_owned(), |path| path.display().to_string());
    let cannot_write = format!("cannot write {target}");
    let sink = args.out.as_deref().map_or(Ok(Sink::Stdout), Sink::file).context(cannot_write.clone())?;
    let mut export = Export { api, format, sink, cannot_write, products: 0 };
    export.write_all(store).await?;
    let products = export.products;
    export.sink.finish().context(export.cannot_write)?;
    if let Some(path) = &args.out {
        let text = format!("{} written to {}", counted(products, "product"), path.display());
        env.out.either(&json!({ "products": products, "file": path }), |_| text)?;
    }
    Ok(ExitCode::Ok)
}

struct Export {
    api: ApiClient,
    format: Format,
    sink: Sink,
    /// Begins the error of a failed write: it names the target as the caller did.
    cannot_write: String,
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
            Format::Csv => self.write(csv_bytes(|csv| csv.write_record(serde_introspect::<ProductView>()))?).await?,
            Format::Json => self.write(b"[".to_vec()).await?,
        }
        match store {
            Some(store) => self.write_store(store).await?,
            None => self.write_stores().await?,
        }
        match self.format {
            Format::Csv => Ok(()),
            Format::Json => self.write(b"\n]\n".to_vec()).await,
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
            Format::Csv => csv_rows(products)?,
            Format::Json => json_lines(products, self.products == 0)?,
        };
        self.products += products.len() as i64;
        self.write(bytes).await
    }

    async fn write(&mut self, bytes: Vec<u8>) -> anyhow::Result<()> {
        self.sink.write(bytes).await.context(self.cannot_write.clone())
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
fn json_lines(products: &[ProductView], is_first: bool) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (nth, product) in products.iter().enumerate() {
        bytes.extend_from_slice(if is_first && nth == 0 { b"\n" } else { b",\n" });
        serde_json::to_writer(&mut bytes, product)?;
    }
    Ok(bytes)
}

/// Destination of the export.
enum Sink {
    /// Written in the background: a reader that reads no more must not keep a signal from ending the
    /// command.
    Stdout,
    /// File beside the one that it becomes; it is deleted when it is dropped.
    File { file: NamedTempFile, path: PathBuf },
}

impl Sink {
    fn file(path: &Path) -> io::Result<Sink> {
        if path.is_dir() {
            return Err(io::Error::other("it is a directory"));
        }
        let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !dir.is_dir() {
            return Err(io::Error::other("its directory does not exist"));
        }
        let mut builder = tempfile::Builder::new();
        // for others to read, as far as the umask lets them
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        Ok(Sink::File {
            file: builder.prefix(".export-").tempfile_in(dir).map_err(without_path)?,
            path: path.to_owned(),
        })
    }

    async fn write(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        match self {
            Sink::Stdout => tokio::task::spawn_blocking(move || print(&bytes)).await.map_err(io::Error::other)?,
            Sink::File { file, .. } => file.write_all(&bytes).map_err(without_path),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Sink::Stdout => Ok(()),
            Sink::File { file, path } => {
                file.as_file().sync_all()?;
                file.persist(path).map(drop).map_err(|error| error.error)
            }
        }
    }
}

/// The error without the name of the temporary file, which does not concern the caller.
fn without_path(error: io::Error) -> io::Error {
    error.kind().into()
}

fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

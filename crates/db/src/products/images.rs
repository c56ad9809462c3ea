//! Images of products and brands: the ones to download, their files, their failures.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::time::Duration;

use tokio_postgres::Row;

use crate::statements::{FromRow, first_columns, named, read_all, rows, sql, word};
use crate::{Client, DbError, pipeline};
use contract::images::{FailedImages, ImageTotals};
use domain::menu::image::{BrandId, ImageFailure, ImageOwner, MAX_TRIES, Subject, WantedImage};
use domain::menu::product::ProductId;
use domain::store::StoreId;
use domain::vocabulary::Word;

/// Location of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginalImage {
    /// Path of the stored file; None if it is not stored.
    pub path: Option<String>,
    /// Address in the feed.
    pub url: Option<String>,
}

/// Images that a search includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageSelection {
    /// Images that are not stored, have not been given up, and whose wait is over. An image that its host alone
    /// refused waits for nothing but the permission of its host.
    Missing,
    /// Missing images without the refused ones.
    Due,
    /// All images, stored or not.
    All,
}

/// Maximum number of hosts whose refused images are counted: menus may name any.
const MAX_REFUSING_HOSTS: i64 = 1_000;

/// Failed images that a search for [`ImageSelection::Missing`] leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOutImages {
    /// Images whose next try is not due yet.
    pub waiting: i64,
    /// Images that are not tried again until their addresses change.
    pub given_up: i64,
    /// Images that a host refuses which is not on the list, the most frequent first.
    pub refused: Vec<RefusedImages>,
}

/// Images of one host that are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedImages {
    pub host: String,
    /// The host is permitted, and redirects to one that is not.
    pub redirects: bool,
    pub images: i64,
}

/// Images of a store's products, after the logos of their brands. `is_permitted` judges the addresses of images
/// that were refused by their host.
pub async fn of_store_and_brands(
    client: &Client,
    store: StoreId,
    wanted: ImageSelection,
    is_permitted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Vec<WantedImage>, DbError> {
    let all = wanted == ImageSelection::All;
    let with_refused = wanted != ImageSelection::Due;
    let max_tries = MAX_TRIES;
    let (logos, products) = pipeline(
        named!(client.query("products/images/wanted_logos.sql", store, all, max_tries, with_refused)),
        named!(client.query("products/images/wanted_products.sql", store, all, max_tries, with_refused)),
    )
    .await?;
    let logos = read_all::<Logo>(&logos)?.into_iter().map(|row| (row.0, row.1));
    let products = read_all::<ProductImage>(&products)?.into_iter().map(|row| (row.0, row.1));
    let is_wanted = |image: &WantedImage, was_refused: bool| all || !was_refused || is_permitted(&image.url);
    let images = logos.chain(products);
    Ok(images.filter(|(image, was_refused)| is_wanted(image, *was_refused)).map(|(image, _)| image).collect())
}

/// Stores of a state, or the one with that id, or all.
pub async fn stores(client: &Client, state: Option<&str>, store: Option<StoreId>) -> Result<Vec<StoreId>, DbError> {
    first_columns(&client.query(sql!("products/images/stores.sql"), &[&state, &store]).await?)
}

/// The failed images of these stores' products and brands, which wait, were given up or are refused.
/// `is_permitted`: as in [`of_store_and_brands`].
pub async fn left_out(
    client: &Client,
    state: Option<&str>,
    store: Option<StoreId>,
    is_permitted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<LeftOutImages, DbError> {
    let rows = named!(client.query(
        "products/images/not_stored.sql",
        state,
        store,
        max_tries = MAX_TRIES,
        limit = MAX_REFUSING_HOSTS
    ))
    .await?;
    let mut left_out = LeftOutImages::default();
    for row in &rows {
        let images: i64 = row.try_get("images")?;
        match row.try_get("state")? {
            "refused_host" if is_permitted(row.try_get("address")?) => {}
            state @ ("refused_host" | "refused_redirect") => {
                let redirects = state == "refused_redirect";
                left_out.refused.push(RefusedImages { host: row.try_get("host")?, redirects, images });
            }
            "given_up" => left_out.given_up = images,
            _ => left_out.waiting = images,
        }
    }
    Ok(left_out)
}

/// Location of a product's image. None when the product does not exist.
pub async fn of_product(client: &Client, id: ProductId) -> Result<Option<OriginalImage>, DbError> {
    let row = client.query_opt(sql!("products/images/of_product.sql"), &[&id]).await?;
    row.as_ref().map(OriginalImage::from_row).transpose()
}

/// Location of a brand's logo. None when the brand does not exist.
pub async fn of_brand(client: &Client, slug: &str) -> Result<Option<OriginalImage>, DbError> {
    let row = client.query_opt(sql!("products/images/of_brand.sql"), &[&slug]).await?;
    row.as_ref().map(OriginalImage::from_row).transpose()
}

/// The stores as the directories of their images name them: id, state and slug.
pub async fn store_names(client: &Client) -> Result<Vec<(StoreId, Option<String>, String)>, DbError> {
    let rows = client.query(sql!("products/images/store_names.sql"), &[]).await?;
    rows.iter().map(|row| Ok((row.try_get("id")?, row.try_get("state")?, row.try_get("store")?))).collect()
}

/// Paths of the stored images of a store's products.
pub async fn stored_of_store(client: &Client, store: StoreId) -> Result<Vec<String>, DbError> {
    first_columns(&client.query(sql!("products/images/stored_of_store.sql"), &[&store]).await?)
}

/// Paths of the stored logos of brands.
pub async fn stored_logos(client: &Client) -> Result<Vec<String>, DbError> {
    first_columns(&client.query(sql!("products/images/stored_logos.sql"), &[]).await?)
}

/// Writes the paths of stored images, and forgets their failures. Returns the images that were written: rows
/// that another transaction has locked are left out.
pub async fn store(client: &Client, images: &[(ImageOwner, String)]) -> Result<Vec<ImageOwner>, DbError> {
    let (products, product_paths) = columns(images, |owner| match owner {
        ImageOwner::Product(id) => Some(id),
        ImageOwner::Brand(_) => None,
    });
    let (brands, brand_paths) = columns(images, |owner| match owner {
        ImageOwner::Brand(id) => Some(id),
        ImageOwner::Product(_) => None,
    });
    let mut stored = Vec::with_capacity(images.len());
    if !products.is_empty() {
        let sql = sql!("products/images/store_products.sql");
        let ids: Vec<ProductId> = first_columns(&client.query(sql, &[&products, &product_paths]).await?)?;
        stored.extend(ids.into_iter().map(ImageOwner::Product));
    }
    if !brands.is_empty() {
        let sql = sql!("products/images/store_logos.sql");
        let ids: Vec<BrandId> = first_columns(&client.query(sql, &[&brands, &brand_paths]).await?)?;
        stored.extend(ids.into_iter().map(ImageOwner::Brand));
    }
    Ok(stored)
}

/// Adds to the total of downloaded and stored images; `bytes` as downloaded.
pub async fn add_totals(client: &Client, images: u64, bytes: u64) -> Result<(), DbError> {
    let (images, bytes) = (images.cast_signed(), bytes.cast_signed());
    client.execute(sql!("products/images/add_totals.sql"), &[&images, &bytes]).await?;
    Ok(())
}

/// Number of images ever stored, and of failed ones by reason, the most frequent first. `is_permitted` is that of
/// [`of_store_and_brands`]: an image whose host is permitted by now has not failed, but waits.
pub async fn totals(client: &Client, is_permitted: &(dyn Fn(&str) -> bool + Sync)) -> Result<ImageTotals, DbError> {
    let row = client.query_one(sql!("products/images/totals.sql"), &[]).await?;
    let mut failed: Vec<FailedImages> = Vec::new();
    for row in &client.query(sql!("products/images/failed.sql"), &[&MAX_REFUSING_HOSTS]).await? {
        let reason: Word<ImageFailure> = word(row, "reason")?;
        if reason == Word::Known(ImageFailure::RefusedHost) && is_permitted(row.try_get("address")?) {
            continue;
        }
        let images: i64 = row.try_get("images")?;
        match failed.iter_mut().find(|known| known.reason == reason) {
            Some(known) => known.images += images,
            None => failed.push(FailedImages { reason, images }),
        }
    }
    failed.sort_by_key(|each| Reverse(each.images));
    Ok(ImageTotals { stored: row.try_get("stored")?, bytes: row.try_get("bytes")?, failed })
}

/// Counts failed tries; the next one of an image comes after `base`, doubled with each failure. Of two tries of one owner
/// the later one counts.
pub async fn fail(client: &Client, failures: &[(&WantedImage, ImageFailure)], base: Duration) -> Result<(), DbError> {
    let (mut products, mut brands) = (BTreeMap::new(), BTreeMap::new());
    for (image, reason) in failures {
        let failed = (image.url.as_str(), reason.name());
        match image.owner {
            ImageOwner::Product(id) => products.insert(id, failed),
            ImageOwner::Brand(id) => brands.insert(id, failed),
        };
    }
    let seconds = base.as_secs_f64();
    if !products.is_empty() {
        let (ids, urls, reasons) = failed_columns(products);
        named!(client.execute("products/images/fail_products.sql", ids, urls, reasons, seconds)).await?;
    }
    if !brands.is_empty() {
        let (ids, urls, reasons) = failed_columns(brands);
        named!(client.execute("products/images/fail_logos.sql", ids, urls, reasons, seconds)).await?;
    }
    Ok(())
}

/// Ids, addresses and reasons.
fn failed_columns<'a>(failed: BTreeMap<i64, (&'a str, &'a str)>) -> (Vec<i64>, Vec<&'a str>, Vec<&'a str>) {
    failed.into_iter().map(|(id, (url, reason))| (id, url, reason)).collect()
}

fn columns(images: &[(ImageOwner, String)], id: fn(ImageOwner) -> Option<i64>) -> (Vec<i64>, Vec<&str>) {
    images.iter().filter_map(|(owner, path)| Some((id(*owner)?, path.as_str()))).unzip()
}

rows! {
    OriginalImage { path: "local_image_path", url: "image_url" }
}

/// An image, and whether its host refused it.
struct ProductImage(WantedImage, bool);

impl FromRow for ProductImage {
    fn from_row(row: &Row) -> Result<Self, DbError> {
        let subject = Subject::Product {
            state: row.try_get("state")?,
            store: row.try_get("store")?,
            brand: row.try_get("brand_name_raw")?,
            provider_product_id: row.try_get("provider_product_id")?,
        };
        let owner = ImageOwner::Product(row.try_get("id")?);
        let image = WantedImage { owner, subject, url: row.try_get("image_url")? };
        Ok(ProductImage(image, row.try_get("was_refused")?))
    }
}

/// A logo, and whether its host refused it.
struct Logo(WantedImage, bool);

impl FromRow for Logo {
    fn from_row(row: &Row) -> Result<Self, DbError> {
        let owner = ImageOwner::Brand(row.try_get("id")?);
        let subject = Subject::Brand { slug: row.try_get("slug")? };
        let image = WantedImage { owner, subject, url: row.try_get("image_url")? };
        Ok(Logo(image, row.try_get("was_refused")?))
    }
}

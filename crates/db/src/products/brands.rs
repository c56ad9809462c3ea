//! `brands`: the brands that menus name, each with its logo.

use crate::statements::{column, sql};
use crate::{DbError, Tx};

/// A brand as a menu names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MenuBrand {
    pub name: String,
    pub slug: String,
    pub image_url: Option<String>,
}

/// Adds new brands, and new addresses of logos. Slugs must be distinct.
pub async fn add(tx: &Tx, brands: &[MenuBrand]) -> Result<(), DbError> {
    if brands.is_empty() {
        return Ok(());
    }
    let names = column(brands, |brand| brand.name.as_str());
    let slugs = column(brands, |brand| brand.slug.as_str());
    let image_urls = column(brands, |brand| brand.image_url.as_deref());
    tx.execute(sql!("products/brands/add.sql"), &[&names, &slugs, &image_urls]).await?;
    Ok(())
}

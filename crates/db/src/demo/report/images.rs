//! Locations of the images of products and brands, for comparison with an oracle.

use crate::products::images::OriginalImage;
use crate::statements::{read_all, sql};
use crate::{Client, DbError};

/// Images of every product, and of every brand with an address.
pub async fn all(client: &Client) -> Result<Vec<OriginalImage>, DbError> {
    read_all(&client.query(sql!("demo/report/images.sql"), &[]).await?)
}

//! Locations of the images of products and brands, for comparison with an oracle.

use crate::products::images::OriginalImage;
use crate::statements::{read_all, sql};
use crate::{Client, DbError};
use domain::store::Platform;

/// Images of every product of the platform, and of every brand with an address.
pub async fn all(client: &Client, platform: Platform) -> Result<Vec<OriginalImage>, DbError> {
    read_all(&client.query(sql!("demo/report/images.sql"), &[&platform.name()]).await?)
}

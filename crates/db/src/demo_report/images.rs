//! Where the images of products and brands are, for comparing with an oracle.

use crate::images::OriginalImage;
use crate::row::read_all;
use crate::{Client, DbError};
use domain::store::Platform;

/// Of every product of the platform and every brand that has an address.
pub async fn all(client: &Client, platform: Platform) -> Result<Vec<OriginalImage>, DbError> {
    read_all(&client.query(include_str!("../sql/demo_report/images.sql"), &[&platform.name()]).await?)
}

//! The stored prices by unit, for comparison with an oracle.

use serde::Serialize;

use crate::statements::{read_all, rows, sql};
use crate::{Client, DbError};
use domain::menu::unit_price::StoredUnitPrices;
use domain::store::Platform;

/// Prices by unit of an option, as the tables hold them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnitPriceRecord {
    pub platform_dispensary_id: String,
    pub provider_product_id: String,
    pub option_label: String,
    pub nth: i16,
    pub prices: StoredUnitPrices,
}

/// The prices of every option of the platform's products.
pub async fn all(client: &Client, platform: Platform) -> Result<Vec<UnitPriceRecord>, DbError> {
    read_all(&client.query(sql!("demo/report/unit_prices.sql"), &[&platform.name()]).await?)
}

rows! {
    UnitPriceRecord { platform_dispensary_id, provider_product_id, option_label, nth, prices: row }
}

//! Stores as people see them: where they are, how far their crawls have come, and how much they sell. Reads only.
//!
//! Their products are [`super::product_views`]'.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tokio_postgres::types::Type;
use utoipa::{IntoParams, ToSchema};

use super::row::{read_all, rows, word};
use super::{Client, DbError};
use domain::payload::PayloadId;
use domain::state_code;
use domain::store::{Platform, StoreId};
use domain::vocabulary::Word;

/// Which stores to list; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StoreFilter {
    /// Two letters, in any case.
    #[serde(deserialize_with = "state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "AZ")]
    pub state: Option<String>,
    pub platform: Option<Platform>,
    pub group: Option<String>,
    pub crawl_enabled: Option<bool>,
    /// Its id, how its slug begins, or part of its name or city, in any letter case.
    pub q: Option<String>,
    /// The last one of the page before.
    #[serde(skip)]
    pub after: Option<StoreId>,
    /// Just this store.
    #[serde(skip)]
    pub id: Option<StoreId>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StoreView {
    pub id: StoreId,
    pub name: String,
    pub slug: Option<String>,
    #[schema(value_type = Platform)]
    pub platform: Word<Platform>,
    pub platform_dispensary_id: Option<String>,
    pub menu_url: Option<String>,
    pub address: Option<String>,
    pub city: Option<String>,
    pub state: Option<String>,
    pub zip: Option<String>,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
    pub phone: Option<String>,
    pub timezone: Option<String>,
    pub is_recreational: Option<bool>,
    pub is_medical: Option<bool>,
    pub groups: Vec<String>,
    pub crawl_enabled: bool,
    /// Why discovery switched it off; None where a person did.
    pub disabled_reason: Option<String>,
    pub last_fetch_at: Option<DateTime<Utc>>,
    /// When a payload became products last.
    pub last_crawl_at: Option<DateTime<Utc>>,
    /// The payload that its products are of, and when it was fetched.
    pub last_payload_id: Option<PayloadId>,
    pub last_payload_at: Option<DateTime<Utc>>,
    /// When the last complete one was fetched.
    pub last_complete_at: Option<DateTime<Utc>>,
    /// The share of the announced products that the last payload held.
    pub last_coverage: Option<f64>,
    pub products: i64,
    pub in_stock: i64,
    /// Of those in stock.
    pub on_special: i64,
}

/// At most `limit` stores, in the order of their ids.
pub async fn list(client: &Client, filter: &StoreFilter, limit: i64) -> Result<Vec<StoreView>, DbError> {
    let platform = filter.platform.map(Platform::name);
    let rows = client
        .query_planned(
            include_str!("sql/store_views/list.sql"),
            &[
                (&filter.state, Type::TEXT),
                (&platform, Type::TEXT),
                (&filter.group, Type::TEXT),
                (&filter.crawl_enabled, Type::BOOL),
                (&filter.q, Type::TEXT),
                (&filter.after, Type::INT8),
                (&filter.id, Type::INT8),
                (&limit, Type::INT8),
            ],
        )
        .await?;
    read_all(&rows)
}

pub async fn get(client: &Client, id: StoreId) -> Result<Option<StoreView>, DbError> {
    let filter = StoreFilter { id: Some(id), ..StoreFilter::default() };
    Ok(list(client, &filter, 1).await?.pop())
}

rows! {
    StoreView {
        id, name, slug,
        platform: word,
        platform_dispensary_id, menu_url, address, city, state, zip, latitude, longitude, phone,
        timezone, is_recreational, is_medical, groups, crawl_enabled, disabled_reason,
        last_fetch_at, last_crawl_at, last_payload_id, last_payload_at, last_complete_at,
        last_coverage, products, in_stock, on_special,
    }
}

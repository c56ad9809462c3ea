//! `visitor_hours`: how many requests consumers made, by country, region and hour. No addresses.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use utoipa::{IntoParams, ToSchema};

use super::row::{read_all, rows};
use super::{Client, DbError};
use domain::{span, state_code, years};

/// Requests from one place. Of an unknown one both texts are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedPlace {
    pub country: String,
    pub region: String,
    pub requests: i64,
}

/// Which hours and places to list; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct VisitorFilter {
    #[serde(deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    pub from: Option<DateTime<Utc>>,
    /// Exclusive, but for a day, which is part of it.
    #[serde(deserialize_with = "span::optional_end")]
    #[param(schema_with = span::schema)]
    pub to: Option<DateTime<Utc>>,
    /// Two letters, in any case.
    #[serde(deserialize_with = "state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "US")]
    pub country: Option<String>,
    /// The last one of the page before.
    #[serde(skip)]
    pub after: Option<VisitorCursor>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisitorCursor {
    #[serde(deserialize_with = "years::within")]
    pub hour: DateTime<Utc>,
    pub country: String,
    pub region: String,
}

/// What came from one place in one hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct VisitorHour {
    pub hour: DateTime<Utc>,
    /// Two letters; null where it is not known.
    pub country: Option<String>,
    pub region: Option<String>,
    pub requests: i64,
}

impl VisitorHour {
    /// Where the next page begins.
    pub fn position(&self) -> VisitorCursor {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        VisitorCursor { hour: self.hour, country: text(&self.country), region: text(&self.region) }
    }
}

/// Adds to the counts of this hour.
pub async fn add(client: &Client, counted: &[CountedPlace]) -> Result<(), DbError> {
    let countries: Vec<&str> = counted.iter().map(|place| place.country.as_str()).collect();
    let regions: Vec<&str> = counted.iter().map(|place| place.region.as_str()).collect();
    let requests: Vec<i64> = counted.iter().map(|place| place.requests).collect();
    client.execute(include_str!("sql/visitors/add.sql"), &[&countries, &regions, &requests]).await?;
    Ok(())
}

/// At most `limit`, the latest hour first.
pub async fn list(client: &Client, filter: &VisitorFilter, limit: i64) -> Result<Vec<VisitorHour>, DbError> {
    let after = filter.after.as_ref();
    let rows = client
        .query_planned(
            include_str!("sql/visitors/list.sql"),
            &[
                (&filter.from, Type::TIMESTAMPTZ),
                (&filter.to, Type::TIMESTAMPTZ),
                (&filter.country, Type::TEXT),
                (&after.map(|cursor| cursor.hour), Type::TIMESTAMPTZ),
                (&after.map(|cursor| cursor.country.as_str()), Type::TEXT),
                (&after.map(|cursor| cursor.region.as_str()), Type::TEXT),
                (&limit, Type::INT8),
            ],
        )
        .await?;
    read_all(&rows)
}

rows! {
    VisitorHour { hour, country: known, region: known, requests }
}

/// A part of a place; the empty text is one that is not known.
fn known(row: &Row, column: &str) -> Result<Option<String>, DbError> {
    Ok(Some(row.try_get(column)?).filter(|text: &String| !text.is_empty()))
}

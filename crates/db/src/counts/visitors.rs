//! `visitor_hours`: numbers of requests from consumers by country, region and hour. No addresses.

use tokio_postgres::Row;

use crate::statements::{named, read_all, rows, sql};
use crate::{Client, DbError};
use contract::visitors::{VisitorFilter, VisitorHour};

/// Requests from one place. In an unknown place both texts are empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedPlace {
    pub country: String,
    pub region: String,
    pub requests: i64,
}

/// Adds to the counts of this hour.
pub async fn add(client: &Client, counted: &[CountedPlace]) -> Result<(), DbError> {
    let countries: Vec<&str> = counted.iter().map(|place| place.country.as_str()).collect();
    let regions: Vec<&str> = counted.iter().map(|place| place.region.as_str()).collect();
    let requests: Vec<i64> = counted.iter().map(|place| place.requests).collect();
    client.execute(sql!("counts/visitors/add.sql"), &[&countries, &regions, &requests]).await?;
    Ok(())
}

/// Lists at most `limit` hours, the latest first.
pub async fn list(client: &Client, filter: &VisitorFilter, limit: i64) -> Result<Vec<VisitorHour>, DbError> {
    let after = filter.after.as_ref();
    let rows = named!(client.query_planned(
        "counts/visitors/list.sql",
        from = filter.from,
        to = filter.to,
        country = filter.country,
        after_hour = after.map(|cursor| cursor.hour),
        after_country = after.map(|cursor| cursor.country.as_str()),
        after_region = after.map(|cursor| cursor.region.as_str()),
        limit
    ))
    .await?;
    read_all(&rows)
}

rows! {
    VisitorHour { hour, country: known, region: known, requests }
}

/// A part of a place; an empty text is an unknown one.
fn known(row: &Row, column: &str) -> Result<Option<String>, DbError> {
    Ok(Some(row.try_get(column)?).filter(|text: &String| !text.is_empty()))
}

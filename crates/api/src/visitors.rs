//! `/api/analytics/visitors`, and the loop that writes the counts every minute; a killed process loses the counts of
//! its last one.

use std::time::Duration;

use axum::extract::State;

use super::{ApiError, ApiState, Caller, Listing, PageJson, Viewer};
use contract::position::Position;
use contract::visitors::{VisitorCursor, VisitorFilter, VisitorHour, VisitorPage};
use db::counts;
use geo::Geo;
use telemetry::events;

const FLUSH_EVERY: Duration = Duration::from_secs(60);
/// How often it is looked whether the geo file has changed.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
const LAST_FLUSH: Duration = Duration::from_secs(5);

/// Keeps the geo file fresh and writes the counts, until the server ends.
pub async fn run(api: ApiState) {
    // two loops: a disk that hangs keeps no counts from being written
    api.stop.run_until_cancelled(async { tokio::join!(poll_geo_file(&api.geo), flush(&api)) }).await;
    // counts that are not written in time are lost, which is acceptable
    let _ = tokio::time::timeout(LAST_FLUSH, write(&api)).await;
}

async fn poll_geo_file(geo: &Geo) {
    let mut ticks = tokio::time::interval(POLL_INTERVAL);
    loop {
        ticks.tick().await;
        geo.refresh().await;
    }
}

async fn flush(api: &ApiState) {
    let mut ticks = tokio::time::interval(FLUSH_EVERY);
    loop {
        ticks.tick().await;
        write(api).await;
    }
}

async fn write(api: &ApiState) {
    if let Err(error) = api.visitors.flush(&api.db).await {
        events::visitors_not_written(&error);
    }
}

/// Requests of consumers by country, region and hour, the latest hour first.
#[utoipa::path(get, path = "/api/analytics/visitors", tag = "analytics", responses((status = 200, body = VisitorPage)))]
pub async fn list(
    _: Caller<Viewer>,
    State(api): State<ApiState>,
    Listing { filter, limit, cursor }: Listing<VisitorFilter, Position<VisitorCursor>>,
) -> Result<PageJson<VisitorPage, String>, ApiError> {
    let filter = VisitorFilter { after: cursor.map(|Position(after)| after), ..filter };
    let mut visitors = counts::visitors::list(&api.db.api_client().await?, &filter, limit.with_next()).await?;
    let next = limit.next(&mut visitors, VisitorHour::position);
    Ok(PageJson::of(next, |next_cursor| VisitorPage { visitors, next_cursor, geo: api.geo.is_on() }))
}

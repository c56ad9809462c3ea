//! `/api/quality`: stores with faulty data.

use super::{ApiError, Caller, Listing, Page, PageJson, Viewer};
use contract::cursor::Cursor;
use contract::quality::{FindingFilter, QualityPage};
use db::stores;

/// Lists stores with faulty data, the latest finding first. It is checked once a minute.
#[utoipa::path(get, path = "/api/quality", tag = "stores", responses((status = 200, body = QualityPage)))]
pub async fn list(
    caller: Caller<Viewer>,
    Listing { filter, limit, cursor }: Listing<FindingFilter>,
) -> Result<PageJson<QualityPage>, ApiError> {
    let filter = FindingFilter { below: cursor.map(|Cursor(id)| id), ..filter };
    let client = caller.client().await?;
    let counts = stores::quality::counts(&client).await?;
    let page = Page::of(stores::quality::list(&client, filter, limit.with_next()).await?, limit, |finding| finding.id);
    Ok(page.json(|findings, next_cursor| QualityPage { counts, findings, next_cursor }))
}

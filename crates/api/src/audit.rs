//! `/api/audit`: who changed what by request.

use super::{ApiError, Caller, Listing, Page, PageJson, Viewer};
use contract::audit::{AuditFilter, AuditPage};
use contract::cursor::Cursor;
use db::access;

/// Lists who changed what, newest first unless `sort` asks for the oldest.
#[utoipa::path(get, path = "/api/audit", tag = "access", responses((status = 200, body = AuditPage)))]
pub async fn list(
    caller: Caller<Viewer>,
    Listing { filter, limit, cursor }: Listing<AuditFilter>,
) -> Result<PageJson<AuditPage>, ApiError> {
    let client = caller.client().await?;
    let filter = AuditFilter { after: cursor.map(|Cursor(id)| id), ..filter };
    let page = Page::of(access::audit_log::list(&client, &filter, limit.with_next()).await?, limit, |row| row.id);
    Ok(page.json(|audit, next_cursor| AuditPage { audit, next_cursor }))
}

//! One action on many stores, in the transaction of the request.
//!
//! In: a [`StoreBulkRequest`]. Out: how many stores match, and how many were changed. The tasks that follow are
//! queued in the same transaction. It must not know who asks.

use thiserror::Error;

use super::groups::{self, GroupError};
use super::views::filter::FilterValues;
use crate::statements::named;
use crate::tasks::requests::RequestError;
use crate::{Client, DbError, Tx, stores, tasks};
use contract::checks::BadField;
use contract::store_bulk::{MAX_STORES, StoreAction, StoreBulkAnswer, StoreBulkRequest};
use contract::stores::StoreFilter;
use contract::task_requests::TaskRequest;
use domain::store::StoreId;
use domain::store::group::MAX_GROUPS;
use domain::task::role::Role;

/// Priority of tasks that a person asks for: the dashboard's buttons give the same.
const BY_HAND: i64 = 20;

#[derive(Debug, Error)]
pub enum StoreBulkError {
    #[error(transparent)]
    Bad(#[from] BadField),
    #[error(transparent)]
    Group(#[from] GroupError),
    #[error(transparent)]
    Db(#[from] DbError),
}

/// The stores of a request.
struct Targets {
    matched: i64,
    eligible: i64,
    /// Eligible stores, at most [`MAX_STORES`].
    ids: Vec<StoreId>,
}

/// Counts the stores of the request, and changes the eligible ones: all of them, or none.
pub async fn bulk(tx: &Tx, request: &StoreBulkRequest) -> Result<StoreBulkAnswer, StoreBulkError> {
    let group = request.check()?;
    let Targets { matched, eligible, ids } = targets(tx, request, group.as_deref()).await?;
    let counted = StoreBulkAnswer { matched, eligible, ..StoreBulkAnswer::default() };
    if request.dry_run {
        return Ok(counted);
    }
    if usize::try_from(eligible).unwrap_or(usize::MAX) > MAX_STORES {
        let fault = format!("{eligible} stores would change; the maximum is {MAX_STORES}: select fewer");
        return Err(BadField { field: "filter", fault }.into());
    }
    let (done, raised) = match (request.action, group) {
        (StoreAction::Crawl, _) => queue(tx, Role::PayloadFetch, &ids, Some(BY_HAND)).await?,
        (StoreAction::Enable, _) => (set_crawl_enabled(tx, &ids, true).await?, 0),
        (StoreAction::Disable, _) => (set_crawl_enabled(tx, &ids, false).await?, 0),
        (StoreAction::AddToGroup, Some(group)) => (changed(groups::put_in(tx, &group, &ids).await?), 0),
        (StoreAction::RemoveFromGroup, Some(group)) => (changed(groups::take_out(tx, &group, &ids).await?), 0),
        (StoreAction::AddToGroup | StoreAction::RemoveFromGroup, None) => (0, 0),
    };
    Ok(StoreBulkAnswer { done, raised, ..counted })
}

async fn targets(client: &Client, request: &StoreBulkRequest, group: Option<&str>) -> Result<Targets, DbError> {
    let filter = StoreFilter::from(request.filter.clone().unwrap_or_default());
    let rows = named!(client.query_planned(
        "stores/bulk/targets.sql",
        ids = request.ids,
        action = request.action.name(),
        target_group = group,
        max_groups = MAX_GROUPS as i32,
        max_stores = MAX_STORES as i64,
        ..FilterValues::of(&filter)
    ))
    .await?;
    let row = rows.first().ok_or_else(|| DbError::Other("the stores that match were not counted".to_owned()))?;
    Ok(Targets { matched: row.try_get("matched")?, eligible: row.try_get("eligible")?, ids: row.try_get("ids")? })
}

/// Switches the crawls of stores on or off by hand, and queues the look-ups that stores without an id need. Returns
/// the number of stores that changed.
async fn set_crawl_enabled(tx: &Tx, ids: &[StoreId], is_on: bool) -> Result<usize, DbError> {
    let switched = stores::set_crawls_enabled(tx, ids, is_on).await?;
    let without_id: Vec<StoreId> = switched.iter().filter(|store| store.needs_look_up).map(|store| store.id).collect();
    queue(tx, Role::EntryPointDiscovery, &without_id, None).await?;
    Ok(switched.iter().filter(|store| store.is_changed).count())
}

/// Queues a task of each store. Returns the number of new tasks, and of waiting ones that were raised.
async fn queue(tx: &Tx, role: Role, ids: &[StoreId], priority: Option<i64>) -> Result<(usize, usize), DbError> {
    let request = |id: &StoreId| TaskRequest {
        role: role.name().to_owned(),
        dispensary_id: Some(*id),
        priority,
        ..TaskRequest::default()
    };
    let (mut made, mut raised) = (0, 0);
    for answer in tasks::requests::enqueue_batch(tx, ids.iter().map(request).collect()).await? {
        match answer {
            Ok(task) if task.raised => raised += 1,
            Ok(_) => made += 1,
            Err(RequestError::Db(error)) => return Err(error),
            // it runs already, or the store was deleted since
            Err(RequestError::Duplicate { .. } | RequestError::Missing { .. } | RequestError::Bad(_)) => {}
        }
    }
    Ok((made, raised))
}

fn changed(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

//! The end of a finished run: the handler's writes, its follow-ups and the fenced change of the task's
//! status, in one transaction. A run that failed for good may have such an end, too, and one whose task waits
//! for its children. The one follow-up of a run that hands something over may be started by it, in the same
//! slot.
//!
//! In: an open transaction, the claimed task and its handler's result. Out: [`Committed`], or why it is not.
//! `settle`, the handlers' tests and the benchmark end their runs here. It decides nothing about
//! retries, and must not know the handed-over work.

use std::time::Duration;

use serde_json::Value;

use super::{Await, Done, FollowUp, HandOver, MAX_CHILDREN, Write, WriteResults};
use db::tasks::{self, ClaimedTask, NewTask, Settlement};
use db::{DbError, Tx};
use domain::task::TaskLease;
use domain::task::role::Role;
use telemetry::events::DataWritten;

/// Writes of a run.
#[derive(Debug)]
pub struct Committed {
    /// The task's result, with the fields that the writes added.
    pub result: Value,
    /// The follow-ups, which are tasks now.
    pub next: Vec<FollowUp>,
    /// Written data, for the metrics.
    pub data: Option<DataWritten>,
    /// The follow-up, when it was started.
    pub started: Option<Box<StartedTask>>,
}

/// A chained task that runs already, without ever having been pending.
#[derive(Debug)]
pub struct StartedTask {
    pub task: ClaimedTask,
    /// Its parent's run has left this for it.
    pub hand_over: HandOver,
}

/// The slot of a run: the roles that may be started in it when the run ends.
#[derive(Clone, Copy, Debug)]
pub struct Slot<'a> {
    /// Roles that its worker may run.
    pub roles: &'a [Role],
    /// How long the new lease is.
    pub lease: Duration,
}

/// Maximum bytes of the arguments of all children of a run.
const MAX_ARGS_BYTES: usize = 16 << 20;
/// Maximum bytes of a dedup key.
const MAX_KEY_BYTES: usize = 200;

#[derive(Debug)]
pub enum CommitError {
    /// The task belongs to another run, or to none: nothing was written, and nothing of this run can be.
    LeaseLost,
    /// Nothing was written, and nothing can be: the handler's outcome breaks a rule, for this reason.
    Invalid(String),
    /// Nothing was written.
    RolledBack(DbError),
    /// COMMIT was sent and its answer did not come. Look the attempt up before trying again.
    Unknown(DbError, Committed),
}

/// Commits a finished run. `detail` is the attempt's. Without a `slot` no follow-up is started. After
/// [`CommitError::RolledBack`] it may be called again, with a new transaction.
pub async fn commit(
    tx: Tx,
    task: &ClaimedTask,
    done: &Done,
    detail: &Value,
    slot: Option<Slot<'_>>,
) -> Result<Committed, CommitError> {
    let written = write_and_merge(&tx, done).await.map_err(CommitError::RolledBack)?;
    let settlement = Settlement {
        result: Some(written.0.clone()),
        detail: detail.clone(),
        ..Settlement::new(done.outcome(), done.failure.clone())
    };
    let committed = settle(&tx, task, written, &settlement, slot).await.map_err(lost_or_rolled_back)?;
    send_commit(tx, committed).await
}

/// Commits a run whose task waits for its children; those are the follow-ups. As [`commit`] otherwise.
pub async fn commit_await(
    tx: Tx,
    task: &ClaimedTask,
    awaits: &Await,
    detail: &Value,
) -> Result<Committed, CommitError> {
    let WriteResults { next: more, data, .. } =
        write(&tx, awaits.write.as_deref()).await.map_err(CommitError::RolledBack)?;
    let next: Vec<FollowUp> = awaits.children.iter().cloned().chain(more).collect();
    let children: Vec<NewTask> = next.iter().map(|child| new_task(task, child)).collect();
    check_children(&children).map_err(CommitError::Invalid)?;
    tasks::await_children(&tx, &task.lease, &children, detail).await.map_err(lost_or_rolled_back)?;
    send_commit(tx, Committed { result: Value::Null, next, data, started: None }).await
}

async fn send_commit(tx: Tx, committed: Committed) -> Result<Committed, CommitError> {
    fail::fail_point!("execute.before_commit");
    match tx.commit().await {
        Ok(()) => Ok(committed),
        Err(error) => Err(CommitError::Unknown(error, committed)),
    }
}

fn lost_or_rolled_back(error: DbError) -> CommitError {
    match error {
        DbError::Missing(_) => CommitError::LeaseLost,
        error => CommitError::RolledBack(error),
    }
}

/// A task that waits for none would run again at once, and again.
fn check_children(children: &[NewTask]) -> Result<(), String> {
    let bytes: usize = children.iter().map(|child| child.payload.to_string().len()).sum();
    if children.is_empty() {
        return Err("the handler waits for children but creates none".to_owned());
    }
    if children.len() > MAX_CHILDREN {
        return Err(format!("the handler creates {} children (maximum {MAX_CHILDREN})", children.len()));
    }
    if bytes > MAX_ARGS_BYTES {
        return Err(format!("the arguments of the children have {bytes} bytes (maximum {MAX_ARGS_BYTES})"));
    }
    let long = children.iter().filter_map(|child| child.dedup_key.as_deref()).find(|key| key.len() > MAX_KEY_BYTES);
    long.map_or(Ok(()), |key| Err(format!("the key {key} of a child is longer than {MAX_KEY_BYTES} bytes")))
}

async fn write(tx: &Tx, write: Option<&dyn Write>) -> Result<WriteResults, DbError> {
    match write {
        Some(write) => write.run(tx).await,
        None => Ok(WriteResults::default()),
    }
}

/// The handler's writes, and the part of its outcome that does not depend on them.
async fn write_and_merge(tx: &Tx, done: &Done) -> Result<(Value, WriteResults), DbError> {
    let mut written = write(tx, done.write.as_deref()).await?;
    let mut result = done.result.clone();
    if let Value::Object(fields) = &mut result {
        fields.append(&mut written.result);
    }
    written.next = done.next.iter().cloned().chain(written.next).collect();
    Ok((result, written))
}

/// Chains and settles.
async fn settle(
    tx: &Tx,
    task: &ClaimedTask,
    (result, written): (Value, WriteResults),
    settlement: &Settlement,
    slot: Option<Slot<'_>>,
) -> Result<Committed, DbError> {
    let WriteResults { next, data, hand_over, .. } = written;
    let new_tasks: Vec<NewTask> = next.iter().map(|follow_up| new_task(task, follow_up)).collect();
    let started = match (slot, hand_over, new_tasks.as_slice()) {
        (Some(slot), Some(hand_over), [only]) if slot.takes(task, only) => {
            let lease = tasks::complete_and_start(tx, &task.lease, settlement, only, slot.lease).await?;
            lease.map(|lease| Box::new(StartedTask { task: started_task(lease, only), hand_over }))
        }
        _ => {
            tasks::chain(tx, &new_tasks).await?;
            tasks::settle(tx, &task.lease, settlement).await?;
            None
        }
    };
    Ok(Committed { result, next, data, started })
}

impl Slot<'_> {
    fn takes(&self, task: &ClaimedTask, next: &NewTask) -> bool {
        self.roles.contains(&next.role) && next.dispensary_id == task.dispensary_id
    }
}

fn started_task(lease: TaskLease, new: &NewTask) -> ClaimedTask {
    ClaimedTask {
        lease,
        role: new.role,
        dispensary_id: new.dispensary_id,
        platform: new.platform.clone(),
        account: new.account.clone(),
        payload: new.payload.clone(),
        priority: new.priority,
        retry_count: 0,
        loss_count: 0,
        waited: Duration::ZERO,
    }
}

fn new_task(parent: &ClaimedTask, follow_up: &FollowUp) -> NewTask {
    // one above its parent: a fetched menu becomes products before more menus are fetched
    follow_up.task(parent.lease.id, parent.platform.as_deref(), parent.priority.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_store(role: Role, store: Option<i64>) -> NewTask {
        NewTask { dispensary_id: store, ..NewTask::new(role) }
    }

    fn parent(store: Option<i64>) -> ClaimedTask {
        let lease = TaskLease { id: 1, fence: 1, worker_id: "w".to_owned() };
        started_task(lease, &of_store(Role::PayloadFetch, store))
    }

    #[test]
    fn a_slot_goes_on_with_a_role_of_its_worker_for_the_same_store() {
        let slot = Slot { roles: &[Role::ProductRefresh], lease: Duration::from_secs(60) };
        let takes = |role, store| slot.takes(&parent(Some(1)), &of_store(role, store));
        assert!(takes(Role::ProductRefresh, Some(1)));
        assert!(!takes(Role::ProductRefresh, Some(2)) && !takes(Role::ProductRefresh, None));
        assert!(!takes(Role::PayloadFetch, Some(1)));
    }

    #[test]
    fn a_run_waits_for_one_to_a_thousand_children_of_a_bounded_size() {
        let fault = |child: NewTask, count| check_children(&vec![child; count]).err().unwrap_or_default();
        let child = || of_store(Role::ScrapeAccount, None);
        let with_key = |bytes| NewTask { dedup_key: Some("k".repeat(bytes)), ..child() };
        let with_args = |bytes| NewTask { payload: Value::String("a".repeat(bytes)), ..child() };
        assert_eq!([fault(with_key(MAX_KEY_BYTES), MAX_CHILDREN), fault(with_args(MAX_ARGS_BYTES - 2), 1)], ["", ""]);
        assert!(fault(child(), 0).contains("creates none"));
        assert!(fault(child(), MAX_CHILDREN + 1).contains("1001 children"));
        assert!(fault(with_key(MAX_KEY_BYTES + 1), 1).contains("longer than 200 bytes"));
        assert!(fault(with_args(MAX_ARGS_BYTES - 1), 1).contains("maximum 16777216"));
    }
}

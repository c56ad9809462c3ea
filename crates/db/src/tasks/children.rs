//! Tasks that a run makes, where no open task has their key: children, for which their parent waits before its
//! next run, and follow-ups.

use serde_json::Value;

use super::{Client, DbError, NewTask, enqueue, specs};
use crate::statements::{first_column, named, optional_json, optional_word, read_all, rows, sql, storable};
use domain::task::role::Family;
use domain::task::{Status, TaskId, TaskLease};
use domain::vocabulary::Word;

/// A task that another one waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct AwaitedChild {
    pub id: TaskId,
    /// None: it was deleted. Open only where it was retried since.
    pub status: Option<Word<Status>>,
    pub result: Option<Value>,
    pub error_message: Option<String>,
}

rows! {
    AwaitedChild {
        id,
        status: optional_word,
        result: optional_json,
        error_message,
    }
}

/// Makes the follow-ups of a run. An open task with the key of one is taken for it; a job without a key has that
/// of jobs.
pub async fn chain(client: &Client, follow_ups: &[NewTask]) -> Result<Vec<TaskId>, DbError> {
    let has_key = |task: &NewTask| task.dedup_key.is_some() || task.role.family() != Family::Crawl;
    if !follow_ups.iter().any(has_key) {
        return enqueue(client, follow_ups).await;
    }
    first_column(&client.query_one("SELECT make_children($1)", &[&storable(&specs(follow_ups)?)]).await?)
}

/// Ends a run whose task waits for `children` and then runs again; the last call of the transaction that holds
/// its effects. An open task with the key of a child is adopted, and not made again. Returns the ids of all
/// that it waits for. `Missing`: the lease was lost, and the transaction must be rolled back.
pub async fn await_children(
    client: &Client,
    lease: &TaskLease,
    children: &[NewTask],
    detail: &Value,
) -> Result<Vec<TaskId>, DbError> {
    let TaskLease { id, fence, worker_id: worker } = lease;
    let (children, detail) = (storable(&specs(children)?), storable(detail));
    first_column(&named!(client.query_one("tasks/await_children.sql", id, fence, worker, children, detail)).await?)
}

/// The children of a task's run before this one, and what became of them. Empty in a run that has to make
/// them: the first one, and the first one after the ended task was retried.
pub async fn children_of(client: &Client, parent: TaskId) -> Result<Vec<AwaitedChild>, DbError> {
    read_all(&client.query(sql!("tasks/children_of.sql"), &[&parent]).await?)
}

//! Task requests in one transaction: what is wrong with one, or queued already, is its own answer and holds up no other.
//!
//! In: an open transaction and requests as they came. Out: for each, in their order, its task, or why there is none.

use std::collections::{HashMap, HashSet};

use tokio_postgres::types::{ToSql, Type};

use super::{Queued, RequestError, task_of};
use crate::clock::Clock;
use crate::db::row::{first_columns, parsed};
use crate::db::tasks::{self, NewTask};
use crate::db::{DbError, MAX_BATCH, Tx, pipeline};
use crate::domain::store::{Platform, StoreId};
use crate::domain::task::TaskId;
use crate::domain::task_request::{CheckedRequest, TaskRequest};
use crate::events;

/// Of one batch; the caller refuses more.
pub const MAX_BATCH_ITEMS: usize = 10_000;

/// The holder of a conflicting key may end before it is looked up; then the insert is tried again.
const MAX_TRIES: usize = 3;

type Answer = Result<Queued, RequestError>;

/// A request that is good so far, and its place in the batch.
struct Candidate {
    index: usize,
    request: CheckedRequest,
}

impl Candidate {
    fn queued(&self, id: TaskId, raised: bool) -> Queued {
        let CheckedRequest { role, dispensary_id, priority, .. } = self.request;
        Queued { id, raised, role, dispensary_id, priority }
    }
}

/// Queues what can be queued. An error of the whole is the database's: then nothing is queued once the transaction is rolled back.
pub async fn enqueue_batch(tx: &Tx, requests: Vec<TaskRequest>) -> Result<Vec<Answer>, DbError> {
    let mut batch = Batch::checked(requests);
    batch.resolve_stores(tx).await?;
    batch.require_tasks(tx).await?;
    batch.refuse_repetitions();
    let (twins, mut holders) = pipeline(batch.open_tasks(tx), batch.holders_of_keys(tx)).await?;
    batch.meet(tx, &twins).await?;
    for _ in 0..MAX_TRIES {
        batch.meet(tx, &holders).await?;
        tx.set_savepoint("requests");
        match batch.insert(tx).await {
            Ok(()) => return batch.into_answers(),
            // a key was taken since they were looked up
            Err(DbError::Conflict { .. }) => {
                tx.batch("ROLLBACK TO SAVEPOINT requests").await?;
                holders = batch.holders_of_keys(tx).await?;
            }
            Err(other) => return Err(other),
        }
    }
    Err(DbError::Contention("other tasks with the same keys are being queued; try again".to_owned()))
}

struct Batch {
    answers: Vec<Option<Answer>>,
    open: Vec<Candidate>,
    /// Requests that repeat an earlier one of the batch: their places, and that one's.
    repetitions: Vec<(usize, usize, String)>,
}

impl Batch {
    fn checked(requests: Vec<TaskRequest>) -> Batch {
        let mut batch = Batch { answers: Vec::new(), open: Vec::new(), repetitions: Vec::new() };
        let now = Clock::system().utc();
        for (index, request) in requests.into_iter().enumerate() {
            batch.answers.push(None);
            match request.check(now) {
                Ok(request) => batch.open.push(Candidate { index, request }),
                Err(bad) => batch.answers[index] = Some(Err(bad.into())),
            }
        }
        batch
    }

    /// Drops the candidates that `check` refuses.
    fn keep(&mut self, mut check: impl FnMut(&mut Candidate) -> Result<(), RequestError>) {
        let answers = &mut self.answers;
        self.open.retain_mut(|candidate| match check(candidate) {
            Ok(()) => true,
            Err(refusal) => {
                answers[candidate.index] = Some(Err(refusal));
                false
            }
        });
    }

    async fn resolve_stores(&mut self, tx: &Tx) -> Result<(), DbError> {
        let asked: HashSet<StoreId> =
            self.open.iter().filter_map(|candidate| candidate.request.dispensary_id).collect();
        let asked: Vec<StoreId> = asked.into_iter().collect();
        if asked.is_empty() {
            return Ok(());
        }
        let rows = tx.query(include_str!("../sql/task_requests/platforms_of_stores.sql"), &[&asked]).await?;
        let mut platforms = HashMap::new();
        for row in &rows {
            platforms.insert(row.try_get::<_, StoreId>("id")?, parsed::<Platform>(row, "platform")?);
        }
        self.keep(|candidate| {
            let Some(store) = candidate.request.dispensary_id else { return Ok(()) };
            let missing = || RequestError::Missing { field: "dispensary_id", what: format!("store {store}") };
            Ok(candidate.request.resolve_platform(*platforms.get(&store).ok_or_else(missing)?)?)
        });
        Ok(())
    }

    async fn require_tasks(&mut self, tx: &Tx) -> Result<(), DbError> {
        let asked: HashSet<TaskId> =
            self.open.iter().flat_map(|candidate| candidate.request.depends_on.iter().copied()).collect();
        let asked: Vec<TaskId> = asked.into_iter().collect();
        let missing = super::missing(tx, &asked).await?;
        self.keep(|candidate| match candidate.request.depends_on.iter().find(|id| missing.contains(id)) {
            None => Ok(()),
            Some(id) => Err(RequestError::Missing { field: "depends_on", what: format!("task {id}") }),
        });
        Ok(())
    }

    /// Of two that do the same the first counts; one with a key of its own repeats only that key.
    fn refuse_repetitions(&mut self) {
        let (mut keys, mut work) = (HashMap::new(), HashMap::new());
        let repetitions = &mut self.repetitions;
        self.open.retain(|Candidate { index, request }| {
            let (key, does) = (request.dedup_key(), request.default_key());
            let first = keys.get(&key).or_else(|| work.get(&does).filter(|_| !request.has_own_key()));
            if let Some(first) = first {
                repetitions.push((*index, *first, key));
                return false;
            }
            keys.insert(key, *index);
            work.entry(does).or_insert(*index);
            true
        });
    }

    /// Those that do the same, whoever made them: a schedule, a chain or a person at psql gave them no key.
    async fn open_tasks(&self, tx: &Tx) -> Result<HashMap<usize, TaskId>, DbError> {
        let mut twins = HashMap::new();
        for part in self.open.chunks(MAX_BATCH) {
            let asked: Vec<&Candidate> = part.iter().filter(|candidate| !candidate.request.has_own_key()).collect();
            let roles: Vec<_> = asked.iter().map(|candidate| candidate.request.role.name()).collect();
            let stores: Vec<_> = asked.iter().map(|candidate| candidate.request.dispensary_id).collect();
            let platforms: Vec<_> =
                asked.iter().map(|candidate| candidate.request.platform.map(Platform::name)).collect();
            let payloads: Vec<_> = asked.iter().map(|candidate| &candidate.request.payload).collect();
            let sql = include_str!("../sql/task_requests/open_tasks.sql");
            let types = [Type::TEXT_ARRAY, Type::INT8_ARRAY, Type::TEXT_ARRAY, Type::JSONB_ARRAY];
            let values: [&(dyn ToSql + Sync); 4] = [&roles, &stores, &platforms, &payloads];
            let rows = tx.query_typed(sql, &values.into_iter().zip(types).collect::<Vec<_>>()).await?;
            let found = first_columns::<Option<TaskId>>(&rows)?;
            twins.extend(asked.iter().zip(found).filter_map(|(candidate, twin)| Some((candidate.index, twin?))));
        }
        Ok(twins)
    }

    /// Open tasks that have the requests' keys.
    async fn holders_of_keys(&self, tx: &Tx) -> Result<HashMap<usize, TaskId>, DbError> {
        let keys: Vec<String> = self.open.iter().map(|candidate| candidate.request.dedup_key()).collect();
        let mut holders = HashMap::new();
        for part in keys.chunks(MAX_BATCH) {
            let sql = include_str!("../sql/task_requests/holders_of_keys.sql");
            for row in tx.query_typed(sql, &[(&part, Type::TEXT_ARRAY)]).await? {
                holders.insert(row.try_get::<_, String>("dedup_key")?, row.try_get::<_, TaskId>("id")?);
            }
        }
        let met =
            self.open.iter().zip(&keys).filter_map(|(candidate, key)| Some((candidate.index, *holders.get(key)?)));
        Ok(met.collect())
    }

    /// Answers the candidates whose twins these are: a less urgent one that waits is raised, any other refuses the request.
    async fn meet(&mut self, tx: &Tx, twins: &HashMap<usize, TaskId>) -> Result<(), DbError> {
        let met = |candidate: &Candidate| twins.get(&candidate.index).copied();
        let asked: Vec<&Candidate> = self.open.iter().filter(|candidate| met(candidate).is_some()).collect();
        if asked.is_empty() {
            return Ok(());
        }
        let ids: Vec<_> = asked.iter().map(|candidate| met(candidate)).collect();
        let priorities: Vec<_> = asked.iter().map(|candidate| candidate.request.priority).collect();
        let times: Vec<_> = asked.iter().map(|candidate| candidate.request.scheduled_for).collect();
        let rows = tx.query(include_str!("../sql/task_requests/raise.sql"), &[&ids, &priorities, &times]).await?;
        let raised: HashSet<TaskId> = first_columns(&rows)?.into_iter().collect();
        let answers = &mut self.answers;
        self.open.retain(|candidate| {
            let Some(existing) = twins.get(&candidate.index).copied() else { return true };
            let answer = match raised.contains(&existing) {
                true => Ok(candidate.queued(existing, true)),
                false => Err(RequestError::Duplicate { existing, key: candidate.request.dedup_key() }),
            };
            answers[candidate.index] = Some(answer);
            false
        });
        Ok(())
    }

    async fn insert(&mut self, tx: &Tx) -> Result<(), DbError> {
        for part in self.open.chunks(MAX_BATCH) {
            let new: Vec<NewTask> = part.iter().map(|candidate| task_of(&candidate.request)).collect();
            let ids = tasks::enqueue(tx, &new).await?;
            for (candidate, id) in part.iter().zip(ids) {
                self.answers[candidate.index] = Some(Ok(candidate.queued(id, false)));
            }
        }
        Ok(())
    }

    fn into_answers(mut self) -> Result<Vec<Answer>, DbError> {
        for (index, first, key) in std::mem::take(&mut self.repetitions) {
            // the first may itself repeat an open task
            let existing = match &self.answers[first] {
                Some(Ok(Queued { id, .. }) | Err(RequestError::Duplicate { existing: id, .. })) => *id,
                _ => return Err(DbError::Other(format!("request {first} of the batch has no answer"))),
            };
            self.answers[index] = Some(Err(RequestError::Duplicate { existing, key }));
        }
        for Candidate { request, .. } in &self.open {
            events::tasks_enqueued(request.role, 1);
        }
        let missing = || DbError::Other("a request of the batch has no answer".to_owned());
        self.answers.into_iter().map(|answer| answer.ok_or_else(missing)).collect()
    }
}

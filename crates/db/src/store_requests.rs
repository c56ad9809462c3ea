//! What people ask of stores: to add those of a list. In the transaction of the request.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::stores::{self, NewStore};
use super::tasks::{self, NewTask};
use super::{DbError, Tx};
use domain::role::Role;
use domain::store::StoreId;
use domain::task::TaskId;

/// What became of the stores of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedStores {
    pub imported: Vec<ImportedStore>,
    /// Stores that existed already; nothing of them changed but the groups of those that are counted next.
    pub known: Vec<StoreId>,
    /// Of these, how many were put into groups that were named beside them.
    pub grouped: usize,
    /// Those that were not, because a store may not be in so many groups.
    pub full: Vec<StoreId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedStore {
    pub id: StoreId,
    pub name: String,
    /// The task that looks up its platform id, when none was given.
    pub entry_point_task_id: Option<TaskId>,
}

/// Adds the stores that are not known. One without its platform's id gets a task that looks it up. `Conflict` or `Contention` when another
/// transaction adds one of them now.
pub async fn import(tx: &Tx, new: &[NewStore]) -> Result<ImportedStores, DbError> {
    let mut answer = ImportedStores::default();
    let mut tasks = Vec::new();
    for (store, row) in new.iter().zip(stores::add_unless_known(tx, new).await?) {
        if row.is_known {
            answer.known.push(row.id);
            answer.grouped += usize::from(row.is_grouped);
            answer.full.extend(row.is_full.then_some(row.id));
            continue;
        }
        if store.platform_dispensary_id.is_none() {
            tasks.push((answer.imported.len(), look_up(store, row.id)));
        }
        answer.imported.push(ImportedStore { id: row.id, name: store.name.clone(), entry_point_task_id: None });
    }
    let (places, tasks): (Vec<usize>, Vec<NewTask>) = tasks.into_iter().unzip();
    for (place, id) in places.into_iter().zip(tasks::enqueue(tx, &tasks).await?) {
        answer.imported[place].entry_point_task_id = Some(id);
    }
    Ok(answer)
}

fn look_up(store: &NewStore, id: StoreId) -> NewTask {
    NewTask {
        dispensary_id: Some(id),
        platform: Some(store.platform.name().to_owned()),
        dedup_key: Some(format!("{}:{id}", Role::EntryPointDiscovery)),
        ..NewTask::new(Role::EntryPointDiscovery)
    }
}

//! Imports of stores, in the transaction of the request.

use super::tasks::{self, NewTask};
use super::{DbError, Tx, stores};
use contract::stores::{ImportedStore, ImportedStores};
use domain::role::Role;
use domain::store::{NewStore, StoreId};

/// Adds the stores that are not known. A store without its platform's id gets a task that finds the id.
/// `Conflict` or `Contention` when another transaction adds one of them now.
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

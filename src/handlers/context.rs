//! `Context`: everything a handler may use for one task.

use std::ops::Deref;
use std::sync::Arc;

use super::TaskError;
use crate::clock::Clock;
use crate::config;
use crate::db::{self, Db};
use crate::domain::dispensary::{Dispensary, DispensaryId, Platform};
use crate::domain::task::TaskId;
use crate::storage::Payloads;

/// What all tasks of a process share.
pub struct Services {
    pub db: Db,
    pub payloads: Payloads,
    pub clock: Clock,
    pub config: config::Platforms,
}

/// One task's view of the world. Reads as [`Services`] for everything that is not the task's own.
pub struct Context {
    services: Arc<Services>,
    pub task_id: TaskId,
    pub dispensary_id: Option<DispensaryId>,
    pub platform: Option<Platform>,
}

/// The store of a task, or why there is nothing to do for it.
pub enum Store {
    Open(Dispensary),
    /// It has been disabled since the task was made.
    Closed {
        reason: String,
    },
}

impl Context {
    pub fn new(
        services: Arc<Services>,
        task_id: TaskId,
        dispensary_id: Option<DispensaryId>,
        platform: Option<Platform>,
    ) -> Self {
        Context { services, task_id, dispensary_id, platform }
    }

    /// The task's store as it is now.
    pub async fn store(&self) -> Result<Store, TaskError> {
        let id = self.dispensary_id.ok_or_else(|| TaskError::permanent("the task names no dispensary"))?;
        let client = self.db.client().await?;
        let store = db::stores::get(&client, id).await?;
        let store = store.ok_or_else(|| TaskError::permanent(format!("dispensary {id} does not exist")))?;
        Ok(match store.crawl_enabled {
            true => Store::Open(store),
            false => Store::Closed { reason: format!("dispensary {id} is disabled") },
        })
    }
}

impl Deref for Context {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.services
    }
}

//! `Context`: everything a handler may use for one task.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

use super::{HashAlarm, TaskError};
use crate::clock::Clock;
use crate::db::{self, Db};
use crate::domain::dispensary::{Dispensary, DispensaryId, Platform};
use crate::domain::task::TaskId;
use crate::platforms::{Dutchie, KnownHash, Limits};
use crate::stealth::{Session, SessionAsk, Sessions, States, TraceHandle};
use crate::storage::Payloads;

/// What all tasks of a process share.
pub struct Services {
    pub db: Db,
    pub sessions: Sessions,
    pub payloads: Payloads,
    pub clock: Clock,
    /// The adapter, and the hashes that fill an empty table.
    pub dutchie: Dutchie,
    pub shipped_hashes: Vec<KnownHash>,
    pub hash_alarm: HashAlarm,
    pub limits: Limits,
    /// Where to look for stores.
    pub states: States,
}

/// One task's view of the world. Reads as [`Services`] for everything that is not the task's own.
pub struct Context {
    services: Arc<Services>,
    pub task_id: TaskId,
    pub dispensary_id: Option<DispensaryId>,
    pub platform: Option<Platform>,
    footprint: Footprint,
}

/// What a run left in the outside world so far; whoever holds a clone can read it while the body runs and after it failed.
#[derive(Clone, Default)]
pub struct Footprint(Arc<Mutex<Vec<TraceHandle>>>);

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
        Context { services, task_id, dispensary_id, platform, footprint: Footprint::default() }
    }

    /// A session whose requests belong to this run.
    pub fn open_session(&self, ask: SessionAsk) -> Session {
        let session = self.sessions.open(ask);
        self.footprint.add(session.trace());
        session
    }

    /// For the attempt's `detail`.
    pub fn footprint(&self) -> Footprint {
        self.footprint.clone()
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

impl Footprint {
    fn add(&self, trace: TraceHandle) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(trace);
    }

    /// The attempt's `detail`: {proxy_ids, fingerprint, requests, blocks}, and `unrecorded_headers` where a recording is
    /// missing; null for a run that asked nobody.
    pub fn detail(&self) -> Value {
        let traces: Vec<_> =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().map(TraceHandle::read).collect();
        let Some(last) = traces.last() else { return Value::Null };
        let mut proxy_ids: Vec<_> = traces.iter().flat_map(|trace| trace.proxy_ids.iter().copied()).collect();
        proxy_ids.sort_unstable();
        proxy_ids.dedup();
        let mut detail = json!({
            "proxy_ids": proxy_ids,
            "fingerprint": last.fingerprint,
            "requests": traces.iter().map(|trace| trace.requests).sum::<u32>(),
            "blocks": traces.iter().map(|trace| trace.blocks).sum::<u32>(),
        });
        let unrecorded: usize = traces.iter().map(|trace| trace.unrecorded_headers).sum();
        if unrecorded > 0 {
            detail["unrecorded_headers"] = json!(unrecorded);
        }
        detail
    }
}

impl Deref for Context {
    type Target = Services;

    fn deref(&self) -> &Services {
        &self.services
    }
}

//! `PlatformClient`: one session with a menu platform, and the query hashes and keys that may work there.
//!
//! In: a store or a state. Out: a [`Crawler`] with the hashes known at its endpoint. [`PlatformClient::end`]
//! saves which hashes and keys worked: that is true however the task ends, so it is written at once and not with the
//! task's effects. It must not know menus.

use url::{Position, Url};

use super::task_keys::TaskKeys;
use super::{Context, TaskServices};
use crate::platforms::{Crawler, HashObservation, Keys, PlatformEntry, QueryHashes};
use crate::stealth::{ProxyId, Session, SessionAsk};
use db::DbError;
use domain::http::public_host::is_public;
use domain::store::{Platform, Store};
use queue::TaskError;
use telemetry::events;

pub struct PlatformClient<'a> {
    ctx: &'a Context,
    platform: Platform,
    /// Name in the table of hashes: `host/path`.
    endpoint: String,
    session: Session,
    hashes: QueryHashes,
    /// Keys of a platform whose pages show them.
    keys: Option<TaskKeys<'a>>,
}

impl<'a> PlatformClient<'a> {
    pub async fn for_store(ctx: &'a Context, store: &Store) -> Result<Self, TaskError> {
        let endpoint = ctx.services.platforms.get(store.platform).adapter.endpoint(Some(store))?;
        // as the address has it: an internationalised name in its ASCII form
        let own_host = endpoint[Position::BeforeHost..Position::AfterPort].to_owned();
        let ask = SessionAsk {
            state: store.state.clone(),
            timezone: store.timezone.clone(),
            // the session may also contact the store's own API host, unless that is not public
            hosts: store.api_host.iter().filter(|host| is_public(host)).map(|_| own_host.clone()).collect(),
            ..SessionAsk::default()
        };
        PlatformClient::begin(ctx, store.platform, endpoint, ask).await
    }

    pub async fn for_state(ctx: &'a Context, platform: Platform, state: &str) -> Result<Self, TaskError> {
        let ask = SessionAsk { state: Some(state.to_owned()), ..SessionAsk::default() };
        let endpoint = ctx.services.platforms.get(platform).adapter.endpoint(None)?;
        PlatformClient::begin(ctx, platform, endpoint, ask).await
    }

    async fn begin(ctx: &'a Context, platform: Platform, endpoint: Url, ask: SessionAsk) -> Result<Self, TaskError> {
        let entry = ctx.services.platforms.get(platform);
        let ask = SessionAsk { identity: entry.identity()?, ..ask };
        let keys = match entry.adapter.page_key() {
            Some(_) => Some(TaskKeys::begin(ctx, platform, endpoint.host_str().unwrap_or_default()).await?),
            None => None,
        };
        let endpoint = endpoint[Position::BeforeHost..Position::AfterPath].to_owned();
        let hashes = known_hashes(ctx, platform, &endpoint).await?;
        Ok(PlatformClient { ctx, platform, endpoint, session: ctx.open_session(ask), hashes, keys })
    }

    pub fn crawler(&mut self) -> Crawler<'_> {
        let PlatformClient { ctx, session, hashes, keys, platform, .. } = self;
        let PlatformEntry { adapter, limits, .. } = ctx.services.platforms.get(*platform);
        let keys = keys.as_mut().map(|keys| keys as &mut dyn Keys);
        Crawler { adapter, session, hashes, keys, limits: *limits }
    }

    /// The proxy that the latest request went through.
    pub fn proxy(&self) -> Option<ProxyId> {
        self.session.trace().read().current_proxy
    }

    /// Saves which hashes worked, and raises the alarm for an operation that has none left; to be called
    /// however the requests ended. Observations that cannot be saved will be made again, so that an answer is
    /// kept all the same.
    pub async fn end(mut self) {
        let TaskServices { hash_alarm, known_hashes, clock, .. } = &*self.ctx.services;
        let now = clock.instant();
        if let Some(keys) = &self.keys
            && let Err(error) = keys.end().await
        {
            events::hash_observations_lost(&error);
        }
        for operation in self.hashes.exhausted() {
            hash_alarm.raise(self.platform, operation, &self.endpoint, now);
        }
        let observations = self.hashes.take_observations();
        let observations = known_hashes.to_record(self.platform, &self.endpoint, observations, now);
        if observations.is_empty() {
            return;
        }
        if let Err(error) = self.save(observations).await {
            known_hashes.forget(self.platform, &self.endpoint);
            events::hash_observations_lost(&error);
        }
    }

    async fn save(&self, observations: Vec<HashObservation>) -> Result<(), DbError> {
        let client = self.ctx.services.db.client().await?;
        for observation in observations {
            match observation {
                HashObservation::Worked(hash) => {
                    db::hosts::rotating_values::record_worked(&client, self.platform, &hash, &self.endpoint).await?;
                }
                HashObservation::NotFound(hash) => {
                    db::hosts::rotating_values::record_not_found(&client, self.platform, &hash, &self.endpoint).await?;
                }
            }
        }
        Ok(())
    }
}

/// The hashes that may work at `endpoint`. The first task of a process adds the data file's hashes that the
/// table lacks, so that an edited file or a newer release helps.
async fn known_hashes(ctx: &Context, platform: Platform, endpoint: &str) -> Result<QueryHashes, TaskError> {
    let TaskServices { db, platforms, known_hashes, clock, .. } = &*ctx.services;
    let now = clock.instant();
    if let Some(fresh) = known_hashes.fresh(platform, endpoint, now) {
        return Ok(QueryHashes::new(fresh));
    }
    let entry = platforms.get(platform);
    let add = async || {
        // a connection of its own: tasks that wait for this to end must hold none
        let client = db.client().await?;
        db::hosts::rotating_values::add(&client, platform, entry.shipped_hashes()).await.map(drop)
    };
    entry.hashes_added.get_or_try_init(add).await?;
    let known = db::hosts::rotating_values::candidates(&db.client().await?, platform, endpoint).await?;
    known_hashes.keep(platform, endpoint, &known, now);
    Ok(QueryHashes::new(known))
}

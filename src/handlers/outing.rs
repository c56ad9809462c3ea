//! `Outing`: what a handler asks a menu platform with: one session, and the query hashes that may work.
//!
//! What was learned of the hashes is true however the task ends, so it is written at once and not with the task's effects.

use super::{Context, TaskError};
use crate::db::{self, DbError, query_hashes::QueryHash};
use crate::domain::dispensary::{Dispensary, Platform};
use crate::events;
use crate::platforms::{Adapter, Crawler, HashBook, HashNote, KnownHash};
use crate::stealth::{Session, SessionAsk};

pub struct Outing<'a> {
    ctx: &'a Context,
    platform: Platform,
    session: Session,
    hashes: HashBook,
}

impl<'a> Outing<'a> {
    pub async fn to_store(ctx: &'a Context, store: &Dispensary) -> Result<Self, TaskError> {
        let ask = SessionAsk {
            state: store.state.clone(),
            timezone: store.timezone.clone(),
            hosts: store.api_host.iter().cloned().collect(),
        };
        Outing::begin(ctx, store.platform, ask).await
    }

    pub async fn to_state(ctx: &'a Context, platform: Platform, state: &str) -> Result<Self, TaskError> {
        Outing::begin(ctx, platform, SessionAsk { state: Some(state.to_owned()), ..SessionAsk::default() }).await
    }

    async fn begin(ctx: &'a Context, platform: Platform, ask: SessionAsk) -> Result<Self, TaskError> {
        let hashes = known_hashes(ctx, platform).await?;
        Ok(Outing { ctx, platform, session: ctx.open_session(ask), hashes })
    }

    pub fn crawler(&mut self) -> Crawler<'_> {
        let adapter: &dyn Adapter = match self.platform {
            Platform::Dutchie => &self.ctx.dutchie,
        };
        let Outing { ctx, session, hashes, .. } = self;
        Crawler { adapter, session, hashes, limits: ctx.limits, clock: &ctx.clock }
    }

    /// Writes down what was learned of the hashes, and tells when none is left; to be called however the asking ended. Notes that
    /// cannot be written will be learned again, and are no reason to throw an answer away.
    pub async fn end(mut self) {
        for operation in self.hashes.exhausted() {
            self.ctx.hash_alarm.raise(self.platform, operation, self.ctx.clock.instant());
        }
        let notes = self.hashes.take_notes();
        if notes.is_empty() {
            return;
        }
        if let Err(error) = self.write_down(notes).await {
            events::hash_notes_lost(&error);
        }
    }

    async fn write_down(&self, notes: Vec<HashNote>) -> Result<(), DbError> {
        let client = self.ctx.db.client().await?;
        for note in notes {
            match note {
                HashNote::Worked(hash) => db::query_hashes::worked(&client, self.platform, &row(hash)).await?,
                HashNote::NotFound(hash) => db::query_hashes::not_found(&client, self.platform, &row(hash)).await?,
            }
        }
        Ok(())
    }
}

async fn known_hashes(ctx: &Context, platform: Platform) -> Result<HashBook, TaskError> {
    let client = ctx.db.client().await?;
    let mut known = db::query_hashes::list(&client, platform).await?;
    if known.is_empty() {
        let shipped: Vec<QueryHash> = ctx.shipped_hashes.iter().cloned().map(row).collect();
        db::query_hashes::seed(&client, platform, &shipped).await?;
        known = db::query_hashes::list(&client, platform).await?;
    }
    let known = known.into_iter().map(|QueryHash { operation, hash }| KnownHash { operation, hash });
    Ok(HashBook::new(known.collect()))
}

fn row(KnownHash { operation, hash }: KnownHash) -> QueryHash {
    QueryHash { operation, hash }
}

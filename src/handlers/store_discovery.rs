//! `store_discovery`: finds the stores of a platform and makes dispensaries of the valid ones.
//!
//! In: every state's discovery points, or one state's. Out: everything seen is kept, valid stores are promoted (known ones
//! updated, never doubled), what was not seen again is flagged, closed and vanished stores are switched off; new stores get their
//! first fetch. A state that fails does not
//! spoil the others: it is named in the result, and nothing there counts as vanished.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::platform_client::PlatformClient;
use super::{Context, FollowUp, Outcome, TaskError, Written};
use crate::db::discovery::DiscoveredStore;
use crate::db::{self, DbError, Tx};
use crate::domain::args;
use crate::domain::role::Role;
use crate::domain::store::{FoundStore, Platform, StoreId};
use crate::platforms::DiscoveryPoint;
use crate::stealth::{Disposition, FetchError, StateLocale};

pub async fn run(ctx: &Context, args: args::StoreDiscovery) -> Result<Outcome, TaskError> {
    let platform = ctx.platform.unwrap_or(Platform::DEFAULT);
    let survey = look_around(ctx, platform, points(ctx, args.state_code.as_deref())?).await?;
    let done = Outcome::done(survey.result()).write(survey, move |survey, tx| Box::pin(survey.write(tx, platform)));
    Ok(done.into())
}

/// The first fetch of a new store.
pub fn first_fetch(platform: Platform, store: StoreId) -> FollowUp {
    FollowUp {
        role: Role::ProductDiscovery,
        dispensary_id: Some(store),
        platform: Some(platform),
        priority: Some(Role::ProductDiscovery.default_priority()),
        payload: json!({}),
    }
}

/// What looking around came to.
#[derive(Default)]
struct Survey {
    /// By platform id, which is also the order of writing: two surveys at once then wait for each other instead of locking up.
    seen: BTreeMap<String, DiscoveredStore>,
    /// States that answered with at least one store; only there can one be missed.
    looked_in: Vec<String>,
    failed: BTreeMap<String, String>,
}

fn points(ctx: &Context, state: Option<&str>) -> Result<BTreeMap<String, Vec<DiscoveryPoint>>, TaskError> {
    let wanted = |code: &str| state.is_none_or(|wanted| wanted.eq_ignore_ascii_case(code));
    let states = ctx.services.states.iter().filter(|(code, row)| wanted(code) && !row.points.is_empty());
    let points: BTreeMap<_, _> = states.map(|(code, row)| (code.to_owned(), points_of(code, row))).collect();
    match (points.is_empty(), state) {
        (false, _) => Ok(points),
        (true, Some(state)) => Err(TaskError::permanent(format!("state '{state}' has no discovery points"))),
        (true, None) => Err(TaskError::permanent("no state has discovery points")),
    }
}

fn points_of(code: &str, row: &StateLocale) -> Vec<DiscoveryPoint> {
    let point = |[latitude, longitude, miles]: &[f64; 3]| DiscoveryPoint {
        state: code.to_owned(),
        latitude: *latitude,
        longitude: *longitude,
        miles: *miles,
    };
    row.points.iter().map(point).collect()
}

/// An error only when no state answered at all.
async fn look_around(
    ctx: &Context,
    platform: Platform,
    states: BTreeMap<String, Vec<DiscoveryPoint>>,
) -> Result<Survey, TaskError> {
    let mut survey = Survey::default();
    let mut answered = false;
    let mut first_error = None;
    let mut states = states.into_iter();
    while let Some((state, points)) = states.next() {
        let mut client_of_platform = PlatformClient::for_state(ctx, platform, &state).await?;
        let found = look_around_in(&mut client_of_platform, &points).await;
        client_of_platform.end().await;
        match found {
            Ok(found) => {
                answered = true;
                survey.add(state, found);
            }
            Err(error) => {
                survey.failed.insert(state, error.to_string());
                if matches!(error.disposition(), Disposition::Snooze { .. }) {
                    // nobody can ask for the others either
                    survey.failed.extend(states.by_ref().map(|(state, _)| (state, format!("not asked: {error}"))));
                }
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error {
        Some(error) if !answered => Err(error.into()),
        _ => Ok(survey),
    }
}

async fn look_around_in(
    client_of_platform: &mut PlatformClient<'_>,
    points: &[DiscoveryPoint],
) -> Result<Vec<FoundStore>, FetchError> {
    let mut found = Vec::new();
    for point in points {
        found.extend(client_of_platform.crawler().discover(point).await?);
    }
    Ok(found)
}

impl Survey {
    fn add(&mut self, state: String, found: Vec<FoundStore>) {
        if found.is_empty() {
            return;
        }
        for store in found {
            let sighting = DiscoveredStore { found_in: state.clone(), store };
            self.seen.entry(sighting.store.platform_dispensary_id.clone()).or_insert(sighting);
        }
        self.looked_in.push(state);
    }

    fn result(&self) -> Value {
        let refused = self.seen.values().filter(|seen| seen.store.rejection_reason.is_some()).count();
        let mut result = json!({ "found": self.seen.len(), "refused": refused });
        if !self.failed.is_empty() {
            result["failed_states"] = json!(self.failed);
        }
        result
    }

    async fn write(&self, tx: &Tx, platform: Platform) -> Result<Written, DbError> {
        let seen: Vec<DiscoveredStore> = self.seen.values().cloned().collect();
        db::discovery::record(tx, platform, &seen).await?;
        let new = db::discovery::promote(tx, platform, &seen).await?;
        let vanished = db::discovery::flag_vanished(tx, platform, &self.looked_in, &seen).await?;
        let closed = db::discovery::close(tx, platform).await?;
        let result = [("newStoreIds", json!(new)), ("vanished", json!(vanished)), ("closed", json!(closed))];
        Ok(Written {
            result: result.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            next: new.into_iter().map(|store| first_fetch(platform, store)).collect(),
            data: None,
        })
    }
}

//! `store_discovery`: finds the stores of a platform around its discovery points (`points` in states.toml) and promotes the valid ones
//! to rows of `dispensaries`.
//!
//! In: every state's points, or one state's. Out: all stores found are kept in `dutchie_discovery_locations`; known ones are updated,
//! never doubled; those not found again are flagged as vanished; closed and vanished ones are disabled; new ones get their first fetch.
//! The others are asked although one state fails: no store there counts as vanished, and a follow-up for that state asks it again. A
//! task for one state fails with it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::platform_client::PlatformClient;
use super::{Context, FollowUp, Outcome, TaskError, Written};
use crate::db::discovery::DiscoveredStore;
use crate::db::{self, DbError, Tx};
use crate::domain::args;
use crate::domain::role::Role;
use crate::domain::store::{FoundStore, Platform};
use crate::platforms::DiscoveryPoint;
use crate::stealth::FetchError;

/// States are not asked any more after this long, so that what was found is written within the role's time limit.
const MAX_DISCOVERY_TIME: Duration = Duration::from_secs(45 * 60);

pub async fn run(ctx: &Context, args: args::StoreDiscovery) -> Result<Outcome, TaskError> {
    let platform = ctx.platform()?;
    let report = discover_states(ctx, platform, args.state_code.as_deref()).await?;
    let mut done = Outcome::done(report.result());
    done.next = report.failed.keys().map(|state| discovery_of(platform, state)).collect();
    let done = done.write(report, move |report, tx| Box::pin(report.write(tx, platform)));
    Ok(done.into())
}

/// A task for one state that did not answer, with retries of its own.
fn discovery_of(platform: Platform, state: &str) -> FollowUp {
    FollowUp {
        role: Role::StoreDiscovery,
        dispensary_id: None,
        platform: Some(platform),
        priority: Some(Role::StoreDiscovery.default_priority()),
        args: json!({ "state_code": state }),
    }
}

#[derive(Default)]
struct DiscoveryReport {
    /// By platform id, which is also the order of writing, so that two discoveries at once wait for each other instead of
    /// deadlocking.
    found: BTreeMap<String, DiscoveredStore>,
    has_answer: bool,
    /// States all of whose points answered, with at least one store; only there can a store have vanished.
    answered_states: Vec<String>,
    /// Why each of the others did not.
    failed: BTreeMap<String, String>,
}

fn points(
    ctx: &Context,
    platform: Platform,
    state: Option<&str>,
) -> Result<BTreeMap<String, Vec<DiscoveryPoint>>, TaskError> {
    let mut points = ctx.services.platforms.get(platform).discovery_points.clone();
    if points.is_empty() && platform != Platform::DEFAULT {
        let why = format!("{platform} lists no stores: import them with `drover stores import`");
        return Err(TaskError::permanent(why));
    }
    points.retain(|code, _| state.is_none_or(|wanted| wanted.eq_ignore_ascii_case(code)));
    match (points.is_empty(), state) {
        (false, _) => Ok(points),
        (true, Some(state)) => Err(no_points(state)),
        (true, None) => Err(TaskError::permanent("no state has discovery points: add `points` to states.toml")),
    }
}

fn no_points(state: &str) -> TaskError {
    TaskError::permanent(format!("state '{state}' has no discovery points: add `points` for it to states.toml"))
}

/// Asks state after state, also after one that fails. Where the task must wait (no proxy, a host on hold, no database), the states
/// behind it would meet the same and are not asked. An error when nothing was answered at all, or when the
/// task is for one state: then that task is the one that asks it again.
async fn discover_states(
    ctx: &Context,
    platform: Platform,
    only_state: Option<&str>,
) -> Result<DiscoveryReport, TaskError> {
    let mut report = DiscoveryReport::default();
    let mut failure = None;
    let deadline = ctx.services.clock.instant() + MAX_DISCOVERY_TIME;
    let mut states = points(ctx, platform, only_state)?.into_iter();
    let mut why_stopped = format!("this discovery had taken {MAX_DISCOVERY_TIME:?}");
    while ctx.services.clock.instant() < deadline
        && let Some((state, points)) = states.next()
    {
        let Err(error) = discover_state(ctx, platform, &state, &points, &mut report).await else { continue };
        report.failed.insert(state, error.to_string());
        if matches!(error, TaskError::Snooze { .. }) {
            why_stopped = error.to_string();
            failure = Some(error);
            break;
        }
        failure.get_or_insert(error);
    }
    report.failed.extend(states.map(|(state, _)| (state, format!("not asked: {why_stopped}"))));
    match failure {
        Some(error) if only_state.is_some() || !report.has_answer => Err(error),
        _ => Ok(report),
    }
}

/// Asks around the points of a state; what was found before an error is kept.
async fn discover_state(
    ctx: &Context,
    platform: Platform,
    state: &str,
    points: &[DiscoveryPoint],
    report: &mut DiscoveryReport,
) -> Result<(), TaskError> {
    let mut platform_client = PlatformClient::for_state(ctx, platform, state).await?;
    let answered = discover_points(&mut platform_client, state, points, report).await;
    platform_client.end().await;
    if answered? > 0 {
        report.answered_states.push(state.to_owned());
    }
    Ok(())
}

/// How many stores the points answered with.
async fn discover_points(
    platform_client: &mut PlatformClient<'_>,
    state: &str,
    points: &[DiscoveryPoint],
    report: &mut DiscoveryReport,
) -> Result<usize, FetchError> {
    let mut count = 0;
    for point in points {
        let found = platform_client.crawler().discover(point).await?;
        count += found.len();
        report.add(state, found);
    }
    Ok(count)
}

impl DiscoveryReport {
    fn add(&mut self, state: &str, found: Vec<FoundStore>) {
        self.has_answer = true;
        for store in found {
            let discovered = DiscoveredStore { found_in: state.to_owned(), store };
            self.found.entry(discovered.store.platform_dispensary_id.clone()).or_insert(discovered);
        }
    }

    fn result(&self) -> Value {
        let rejected = self.found.values().filter(|found| found.store.rejection_reason.is_some()).count();
        let mut result = json!({ "found": self.found.len(), "rejected": rejected });
        if !self.failed.is_empty() {
            result["failed_states"] = json!(self.failed);
        }
        result
    }

    async fn write(&self, tx: &Tx, platform: Platform) -> Result<Written, DbError> {
        let found: Vec<DiscoveredStore> = self.found.values().cloned().collect();
        db::discovery::record(tx, platform, &found).await?;
        let new = db::discovery::promote(tx, platform, &found).await?;
        let vanished = db::discovery::flag_vanished(tx, platform, &self.answered_states, &found).await?;
        let closed = db::discovery::close(tx, platform).await?;
        let result = [("newStoreIds", json!(new)), ("vanished", json!(vanished)), ("closed", json!(closed))];
        Ok(Written {
            result: result.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            next: new.into_iter().map(|store| FollowUp::first_fetch(platform, store)).collect(),
            ..Written::default()
        })
    }
}

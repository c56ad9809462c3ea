//! `store_discovery`: finds the stores of a platform around the points of each state (states.toml) and
//! promotes the valid ones to rows of `dispensaries`.
//!
//! In: every state's points, one state's, or some of one state's. Out: all stores found are kept in
//! `found_stores`, one seen from several points once; known ones are updated, never doubled;
//! those not found again are flagged as vanished; closed and vanished ones are disabled, unless more than half of a
//! state's stores would be at once; new ones get their first fetch. The other points are asked although one fails: no
//! store of its state counts as vanished, and a follow-up asks just the points that did not answer. A task of which no
//! point answers fails.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::platform_client::PlatformClient;
use super::{Context, RunProgress, payload_fetch};
use crate::platforms::{DiscoveryPoint, PlatformEntry, menu_key};
use db::stores::discovery::{CoveredStores, DiscoveredStore, Promoted};
use db::{DbError, Tx};
use domain::amounts::counted;
use domain::store::{FoundStore, Platform, StoreId};
use domain::switches::{SwitchKind, Switches};
use domain::task::kinds::store_discovery::Args;
use domain::task::role::Role;
use queue::{FollowUp, Outcome, TaskError, WriteResults};

/// Points are not asked any more after this long, so that the result is written within the role's time limit.
const MAX_DISCOVERY_TIME: Duration = Duration::from_secs(45 * 60);
/// Number of points of a state that may fail in a row; then the rest of it is left to the follow-up.
const MAX_FAILURES_IN_A_ROW: usize = 3;
/// Number of points asked between two notes of the progress.
const POINTS_PER_NOTE: usize = 20;

pub async fn run(ctx: &Context, args: Args) -> Result<Outcome, TaskError> {
    let platform = ctx.platform()?;
    let states = points(ctx, platform, &args)?;
    let mut discovery = Discovery::new(ctx, platform, &states);
    discovery.ask(&states, args.points.is_none()).await?;
    let report = discovery.report;
    let mut done = Outcome::done(report.result());
    done.next = report.failed.iter().map(|(state, failure)| failure.follow_up(platform, state)).collect();
    let done = done.write(report, move |report, tx| Box::pin(report.write(tx, platform)));
    Ok(done.into())
}

/// A state's points with their numbers.
type Points = Vec<(u32, DiscoveryPoint)>;

fn points(ctx: &Context, platform: Platform, args: &Args) -> Result<BTreeMap<String, Points>, TaskError> {
    let wanted = args.state_code.as_deref();
    let is_wanted = |number: &u32| args.points.as_ref().is_none_or(|numbers| numbers.contains(number));
    let entry = ctx.services.platforms.get(platform);
    entry.identity()?;
    let PlatformEntry { adapter, discovery_points: all, .. } = entry;
    if !adapter.lists_stores() {
        let why = format!("{platform} lists no stores: import them with `drover stores import`");
        return Err(TaskError::permanent(why));
    }
    let states = all.iter().filter(|(code, _)| wanted.is_none_or(|wanted| wanted.eq_ignore_ascii_case(code)));
    let states: BTreeMap<String, Points> = states
        .map(|(code, points)| {
            let numbered = (0..).zip(points.iter().cloned()).filter(|(number, _)| is_wanted(number));
            (code.clone(), numbered.collect())
        })
        .filter(|(_, points): &(_, Points)| !points.is_empty())
        .collect();
    match (states.is_empty(), wanted) {
        (false, _) => Ok(states),
        (true, Some(state)) => Err(no_points(state)),
        (true, None) => Err(TaskError::permanent("no state has discovery points: add `bounds` to states.toml")),
    }
}

fn no_points(state: &str) -> TaskError {
    TaskError::permanent(format!("state '{state}' has no such discovery points: add `bounds` for it to states.toml"))
}

/// Points of a state that did not answer.
struct Failure {
    reason: String,
    /// None = all that the task was to ask.
    points: Option<Vec<u32>>,
}

impl Failure {
    fn follow_up(&self, platform: Platform, state: &str) -> FollowUp {
        let args = Args { state_code: Some(state.to_owned()), points: self.points.clone() };
        FollowUp {
            platform: Some(platform.name().to_owned()),
            priority: Some(Role::StoreDiscovery.default_priority()),
            ..FollowUp::new(Role::StoreDiscovery, json!(args))
        }
    }
}

#[derive(Default)]
struct DiscoveryReport {
    /// Stores by platform id, which is also the order of writing, so that two discoveries at once wait for each other instead
    /// of deadlocking.
    found: BTreeMap<String, DiscoveredStore>,
    has_answer: bool,
    /// States all of whose points answered, with at least one store; only there can a store have vanished.
    answered_states: Vec<String>,
    /// Why each of the others did not.
    failed: BTreeMap<String, Failure>,
}

/// Results of a state's points.
#[derive(Default)]
struct StateAnswer {
    stores: usize,
    unanswered: Vec<u32>,
    /// The first, or the one that the task must wait for.
    error: Option<TaskError>,
    failures_in_a_row: usize,
}

impl StateAnswer {
    fn none(points: &Points, error: TaskError) -> StateAnswer {
        let unanswered = points.iter().map(|(number, _)| *number).collect();
        StateAnswer { unanswered, error: Some(error), ..StateAnswer::default() }
    }

    fn succeed(&mut self, stores: usize) {
        self.stores += stores;
        self.failures_in_a_row = 0;
    }

    fn fail(&mut self, number: u32, error: TaskError) {
        self.unanswered.push(number);
        self.failures_in_a_row += 1;
        if self.error.is_none() || matches!(error, TaskError::Snooze { .. }) {
            self.error = Some(error);
        }
    }

    /// Its other points would meet the same.
    fn is_at_its_end(&self) -> bool {
        self.failures_in_a_row >= MAX_FAILURES_IN_A_ROW || matches!(self.error, Some(TaskError::Snooze { .. }))
    }
}

/// The answer, judged by the number of stores that it would close.
#[derive(Default)]
struct Judgement {
    /// States in which no store is closed.
    doubted: Vec<CoveredStores>,
    /// Stores of the other states that close.
    closing: Vec<StoreId>,
}

impl Judgement {
    fn doubts(&self, state: &str) -> bool {
        self.doubted.iter().any(|doubted| doubted.found_in == state)
    }

    fn doubts_closing_of(&self, id: &String) -> bool {
        self.doubted.iter().any(|doubted| doubted.closed.contains(id))
    }

    /// Doubts by state: `9 of 12 stores would close or vanish at once`.
    fn doubts_by_state(&self) -> BTreeMap<&String, String> {
        let doubt = |state: &CoveredStores| {
            let Switches { covered, switched, .. } = state.switches();
            format!("{switched} of {} would close or vanish at once", counted(covered, "store"))
        };
        self.doubted.iter().map(|state| (&state.found_in, doubt(state))).collect()
    }
}

fn late() -> TaskError {
    TaskError::retry(format!("not asked: this discovery had taken {MAX_DISCOVERY_TIME:?}"))
}

/// A discovery under way.
struct Discovery<'a> {
    ctx: &'a Context,
    platform: Platform,
    deadline: Instant,
    /// Points to ask; `asked` counts the ones asked.
    total: usize,
    asked: usize,
    report: DiscoveryReport,
}

impl<'a> Discovery<'a> {
    fn new(ctx: &'a Context, platform: Platform, states: &BTreeMap<String, Points>) -> Self {
        let deadline = ctx.services.clock.instant() + MAX_DISCOVERY_TIME;
        let total = states.values().map(Vec::len).sum();
        Discovery { ctx, platform, deadline, total, asked: 0, report: DiscoveryReport::default() }
    }

    /// Asks state after state, also after one that fails. Where the task must wait (no proxy, a host on hold,
    /// no database), the points behind would meet the same and are not asked. An error when nothing was
    /// answered at all. `whole`: all points of each state are asked.
    async fn ask(&mut self, states: &BTreeMap<String, Points>, whole: bool) -> Result<(), TaskError> {
        let mut failure = None;
        let mut stopped = None;
        for (state, points) in states {
            let answer = match &stopped {
                None if self.is_late() => StateAnswer::none(points, late()),
                None => self.ask_state(state, points).await,
                Some(reason) => StateAnswer::none(points, TaskError::retry(format!("not asked: {reason}"))),
            };
            let is_all = whole && answer.unanswered.len() == points.len();
            match self.note(state, answer, whole, is_all) {
                Some(error @ TaskError::Snooze { .. }) => {
                    stopped = Some(error.to_string());
                    failure = Some(error);
                }
                Some(error) => _ = failure.get_or_insert(error),
                None => {}
            }
        }
        match failure {
            Some(error) if !self.report.has_answer => Err(error),
            _ => Ok(()),
        }
    }

    fn is_late(&self) -> bool {
        self.ctx.services.clock.instant() >= self.deadline
    }

    /// Asks around the points of a state, also after one that fails.
    async fn ask_state(&mut self, state: &str, points: &Points) -> StateAnswer {
        let mut client = match PlatformClient::for_state(self.ctx, self.platform, state).await {
            Ok(client) => client,
            Err(error) => return StateAnswer::none(points, error),
        };
        let mut answer = StateAnswer::default();
        for (number, point) in points {
            if answer.is_at_its_end() || self.is_late() {
                answer.unanswered.push(*number);
                continue;
            }
            self.note_progress(state).await;
            match client.crawler().discover(point).await {
                Ok(found) => {
                    answer.succeed(found.len());
                    self.report.add(state, found);
                }
                Err(error) => answer.fail(*number, error.into()),
            }
            self.asked += 1;
        }
        client.end().await;
        answer
    }

    /// Keeps a state's answer; returns the error of one that did not answer whole.
    fn note(&mut self, state: &str, answer: StateAnswer, whole: bool, is_all: bool) -> Option<TaskError> {
        let StateAnswer { stores, unanswered, error, .. } = answer;
        if unanswered.is_empty() {
            if whole && stores > 0 {
                self.report.answered_states.push(state.to_owned());
            }
            return None;
        }
        let error = error.unwrap_or_else(late);
        let points = (!is_all).then_some(unanswered);
        self.report.failed.insert(state.to_owned(), Failure { reason: error.to_string(), points });
        Some(error)
    }

    async fn note_progress(&self, state: &str) {
        if !self.asked.is_multiple_of(POINTS_PER_NOTE) {
            return;
        }
        let (asked, total, found) = (self.asked, self.total, self.report.found.len());
        let message = format!("{state}: {asked} of {total} points asked, {} found", counted(found, "store"));
        self.ctx.note_progress(&RunProgress::of(asked, total, message)).await;
    }
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
            let reasons: BTreeMap<&String, &String> =
                self.failed.iter().map(|(state, failure)| (state, &failure.reason)).collect();
            result["failed_states"] = json!(reasons);
        }
        result
    }

    /// An answer of a state that would close, or does not name, more than half of its stores is not believed; none of
    /// them is where that holds for the stores of all states together.
    async fn judge(&self, tx: &Tx, platform: Platform, found: &[DiscoveredStore]) -> Result<Judgement, DbError> {
        let states = db::stores::discovery::covered(tx, platform, found, &self.answered_states).await?;
        let all: Vec<StoreId> = states.iter().flat_map(|state| state.stores.iter().copied()).collect();
        let switched = states.iter().map(|state| state.switches().switched).sum();
        let switches = Switches { kind: SwitchKind::Stores, covered: all.len(), switched };
        if !db::stores::switches::believe(tx, platform.name(), switches, &all).await? {
            return Ok(Judgement { doubted: states, closing: Vec::new() });
        }
        let (mut judgement, mut settled) = (Judgement::default(), vec![platform.name().to_owned()]);
        for state in states {
            let scope = format!("{platform}/{}", state.found_in);
            // an answer that is believed as a whole is believed of each state
            let is_believed = switches.is_suspicious()
                || db::stores::switches::believe(tx, &scope, state.switches(), &state.stores).await?;
            if is_believed {
                settled.push(scope);
                judgement.closing.extend(state.closing);
            } else {
                judgement.doubted.push(state);
            }
        }
        db::stores::switches::settle(tx, SwitchKind::Stores, &settled).await?;
        Ok(judgement)
    }

    async fn write(&self, tx: &Tx, platform: Platform) -> Result<WriteResults, DbError> {
        let mut found: Vec<DiscoveredStore> = self.found.values().cloned().collect();
        let judgement = self.judge(tx, platform, &found).await?;
        found.retain(|seen| !judgement.doubts_closing_of(&seen.store.platform_dispensary_id));
        let believed: Vec<String> =
            self.answered_states.iter().filter(|state| !judgement.doubts(state)).cloned().collect();
        db::stores::discovery::record(tx, platform, &found, &menu_key).await?;
        let vanished = db::stores::discovery::flag_vanished(tx, platform, &believed, &found).await?;
        let Promoted { new, of_known_stores } = db::stores::discovery::promote(tx, platform, &found).await?;
        let closed = db::stores::discovery::close(tx, platform, &judgement.closing).await?;
        let mut result = vec![("newStoreIds", json!(new)), ("vanished", json!(vanished)), ("closed", json!(closed))];
        if !judgement.doubted.is_empty() {
            result.push(("suspicious", json!(judgement.doubts_by_state())));
        }
        if !of_known_stores.is_empty() {
            result.push(("known_under_another_id", json!(of_known_stores)));
        }
        Ok(WriteResults {
            result: result.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
            next: new.into_iter().map(|store| payload_fetch::first(platform, store)).collect(),
            ..WriteResults::default()
        })
    }
}

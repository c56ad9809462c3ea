//! `Forecast`: the slots, requests and proxies that the schedules need, or other stores at another interval,
//! against those that there are.
//!
//! Pure. In: the runs that schedules make, the measured cost of a run of each role, the slots of workers, and
//! the limits of requests and proxies ([`Supply`]). Out: needs by role, the limit that is reached first, and
//! the duration of one crawl of all stores. A cost that was not measured is not guessed: whatever depends on
//! it is unknown. It must not know where its numbers come from.

mod sentence;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::task::role::Role;
use crate::vocabulary::vocabulary;

pub const STORES: RangeInclusive<i64> = 1..=10_000_000;
pub const SLOTS: RangeInclusive<i64> = 1..=1_000_000;

const SECONDS_PER_HOUR: f64 = 3600.0;
/// An average of measured times is not exact: a quotient that is this little above a whole number is that
/// number.
const TOLERANCE: f64 = 1e-6;
/// The roles of one crawl of a store: its fetch, and the refresh that follows.
const CRAWL: [Role; 2] = [Role::PayloadFetch, Role::ProductRefresh];

vocabulary! {
    /// Limits of the work that can be done at the same time.
    pub enum Limit {
        /// Slots of workers.
        Slots,
        /// Requests a second that politeness permits.
        Rate,
        /// Sessions that the proxies can serve at the same time.
        Proxies,
    }
}

/// The runs of one schedule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScheduledRuns {
    pub role: Role,
    /// The stores that it makes a task for. None: it makes one task.
    pub stores: Option<i64>,
    pub times_per_hour: f64,
}

/// Measured means of completed runs; None: no run was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunCost {
    pub seconds: Option<f64>,
    /// Number of runs behind `seconds`.
    pub runs: i64,
    pub requests: Option<f64>,
}

/// Workers that claim the same roles, together.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerSlots {
    pub roles: Vec<Role>,
    pub slots: i64,
    /// Slots among these that claim nothing until a pause ends.
    pub paused: i64,
}

/// The schedules, and everything that limits how fast their tasks are done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Supply {
    pub schedules: Vec<ScheduledRuns>,
    pub costs: BTreeMap<Role, RunCost>,
    pub workers: Vec<WorkerSlots>,
    /// Enabled stores with a platform id.
    pub crawlable_stores: i64,
    /// Requests a second to all hosts together. None: no limit.
    pub permitted_rate: Option<f64>,
    /// Sessions that the usable proxies can serve at the same time.
    pub sessions: i64,
    /// Why no store is crawled now, as a part of a sentence.
    pub stopped: Option<String>,
}

/// Changes to try out; an empty field keeps the present state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WhatIf {
    pub stores: Option<i64>,
    /// Each store is crawled once in this time; replaces the schedules of crawls.
    pub every_hours: Option<f64>,
    /// Slots of workers that claim every role.
    pub slots: Option<i64>,
}

/// Politeness towards the host that has the most stores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostPoliteness {
    /// Requests a second; 0 = no limit.
    pub rate: f64,
    /// Requests at the same time; 0 = no limit.
    pub concurrency: usize,
    pub seconds_per_request: Option<f64>,
    /// Its share of the stores (0 to 1).
    pub share: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RoleForecast {
    pub role: Role,
    /// Runs that are needed.
    pub runs_per_hour: f64,
    /// Mean of the runs that completed within the last 24 hours; null if none did.
    pub seconds_per_run: Option<f64>,
    /// Number of runs behind `seconds_per_run`.
    pub measured_runs: i64,
    /// Mean of the latest completed runs.
    pub requests_per_run: Option<f64>,
    /// Number of slots that the role keeps busy on average.
    pub busy_slots: Option<f64>,
    /// Slots of the live workers that claim it.
    pub slots: i64,
    pub requests_per_second: Option<f64>,
}

/// Needs compared with what exists. Null: not known, because no run of a crawl was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Forecast {
    /// The forecast in one sentence.
    pub summary: String,
    pub stores: i64,
    /// Mean time between two crawls of a store; null if no schedule crawls.
    pub every_hours: Option<f64>,
    pub slots_needed: Option<i64>,
    /// Slots of live workers, paused ones too.
    pub slots: i64,
    pub slots_paused: i64,
    pub requests_per_second_needed: Option<f64>,
    /// Requests a second to all hosts together, if the stores' hosts are asked in proportion to their stores; null: no limit.
    pub requests_per_second_permitted: Option<f64>,
    /// Sessions at the same time, each through one proxy.
    pub sessions_needed: Option<i64>,
    pub sessions: i64,
    /// The limit that is reached first when the work grows; null if there is no work, or it is not known.
    pub limited_by: Option<Limit>,
    /// Need as a share of this limit, 1 = all of it; null if it is unknown or 0.
    pub share_of_limit: Option<f64>,
    /// Whether all limits suffice.
    pub is_enough: Option<bool>,
    /// Expected duration of one crawl of all stores; null if it is unknown or would never end.
    pub crawl_seconds: Option<f64>,
    /// Why no store is crawled now: a pause, or because all proxies rest; null if neither is the case.
    pub stopped: Option<String>,
    /// Roles that are needed and have no measured run. Needs are without them, and not known where a role of crawls is among them.
    pub unmeasured: Vec<Role>,
    pub roles: Vec<RoleForecast>,
}

impl HostPoliteness {
    /// Requests a second to all hosts together at which this host gets all that it permits.
    pub fn permitted_rate(&self) -> Option<f64> {
        let rate = (self.rate > 0.0).then_some(self.rate);
        let seconds = self.seconds_per_request.filter(|seconds| *seconds > 0.0);
        let in_parallel = seconds.filter(|_| self.concurrency > 0).map(|seconds| self.concurrency as f64 / seconds);
        let of_host = rate.into_iter().chain(in_parallel).reduce(f64::min)?;
        Some(of_host / self.share.clamp(f64::EPSILON, 1.0))
    }
}

impl Supply {
    pub fn forecast(&self, what_if: WhatIf) -> Forecast {
        let needed = self.runs_per_hour(what_if);
        let roles: Vec<RoleForecast> =
            needed.iter().map(|(role, runs)| self.role(*role, *runs, what_if.slots)).collect();
        let stores = what_if.stores.unwrap_or(self.crawled_stores());
        let needed_roles: Vec<Role> = needed.keys().copied().collect();
        let crawls = crawls_of(&needed);
        let mut forecast = Forecast {
            summary: String::new(),
            stores,
            every_hours: (crawls > 0.0 && stores > 0).then(|| stores as f64 / crawls),
            slots_needed: sum(&roles, |role| role.busy_slots).map(whole_above),
            slots: self.slots_of(&needed_roles, what_if.slots),
            slots_paused: what_if.slots.map_or_else(|| self.paused_slots_of(&needed_roles), |_| 0),
            requests_per_second_needed: sum(&roles, |role| role.requests_per_second),
            requests_per_second_permitted: self.permitted_rate,
            sessions_needed: sum(&roles, sessions_of).map(whole_above),
            sessions: self.sessions,
            limited_by: None,
            share_of_limit: None,
            is_enough: None,
            crawl_seconds: self.crawl_seconds(stores, what_if.slots),
            stopped: self.stopped.clone(),
            unmeasured: roles.iter().filter(|role| is_unmeasured(role)).map(|role| role.role).collect(),
            roles,
        };
        if let Some((limit, share)) = forecast.first_limit() {
            forecast.limited_by = (share > 0.0).then_some(limit);
            forecast.share_of_limit = share.is_finite().then_some(share);
            forecast.is_enough = Some(share <= 1.0 + TOLERANCE);
        }
        forecast.summary = sentence::of(&forecast);
        forecast
    }

    /// Needed runs of each role.
    fn runs_per_hour(&self, what_if: WhatIf) -> BTreeMap<Role, f64> {
        let mut runs = BTreeMap::new();
        let kept = self.schedules.iter().filter(|schedule| what_if.every_hours.is_none() || !is_crawl(schedule.role));
        for schedule in kept {
            let tasks = schedule.stores.map_or(1.0, |stores| self.scaled(stores, what_if.stores));
            add_runs(&mut runs, schedule.role, tasks * schedule.times_per_hour);
        }
        if let Some(hours) = what_if.every_hours {
            let stores = what_if.stores.unwrap_or(self.crawlable_stores);
            add_runs(&mut runs, Role::PayloadFetch, stores as f64 / hours);
        }
        runs.retain(|_, runs| *runs > 0.0);
        runs
    }

    /// A schedule's stores if there were `stores` in all.
    fn scaled(&self, of_schedule: i64, stores: Option<i64>) -> f64 {
        match stores {
            None => of_schedule as f64,
            Some(stores) if self.crawlable_stores == 0 => stores as f64,
            Some(stores) => of_schedule as f64 * stores as f64 / self.crawlable_stores as f64,
        }
    }

    /// Stores of the schedules that crawl, or all that could be crawled if there are none.
    fn crawled_stores(&self) -> i64 {
        let crawls = self.schedules.iter().filter(|schedule| is_crawl(schedule.role));
        match crawls.filter_map(|schedule| schedule.stores).sum::<i64>() {
            0 => self.crawlable_stores,
            stores => stores.min(self.crawlable_stores),
        }
    }

    fn role(&self, role: Role, runs_per_hour: f64, slots: Option<i64>) -> RoleForecast {
        let RunCost { seconds, runs, requests } = self.cost(role);
        let each_second = runs_per_hour / SECONDS_PER_HOUR;
        RoleForecast {
            role,
            runs_per_hour,
            seconds_per_run: seconds,
            measured_runs: runs,
            requests_per_run: requests,
            busy_slots: seconds.map(|seconds| each_second * seconds),
            slots: self.slots_of(&[role], slots),
            requests_per_second: requests.map(|requests| each_second * requests),
        }
    }

    fn cost(&self, role: Role) -> RunCost {
        let cost = self.costs.get(&role).or_else(|| self.costs.get(&stand_in(role)?)).copied().unwrap_or_default();
        match role.kind().needs_proxy {
            true => cost,
            false => RunCost { requests: Some(0.0), ..cost },
        }
    }

    /// Slots in which any of these roles may run; of all workers if there is no role.
    fn slots_of(&self, roles: &[Role], supposed: Option<i64>) -> i64 {
        supposed.unwrap_or_else(|| self.workers_for(roles).map(|worker| worker.slots).sum())
    }

    fn paused_slots_of(&self, roles: &[Role]) -> i64 {
        self.workers_for(roles).map(|worker| worker.paused).sum()
    }

    fn workers_for(&self, roles: &[Role]) -> impl Iterator<Item = &WorkerSlots> {
        let is_for = |worker: &&WorkerSlots| roles.is_empty() || worker.roles.iter().any(|role| roles.contains(role));
        self.workers.iter().filter(is_for)
    }

    /// The longest of the times that slots, proxies and the rate take for one crawl of `stores`.
    fn crawl_seconds(&self, stores: i64, slots: Option<i64>) -> Option<f64> {
        let [fetch, refresh] = CRAWL.map(|role| self.cost(role));
        let (fetch_seconds, refresh_seconds, requests) = (fetch.seconds?, refresh.seconds?, fetch.requests?);
        let [fetch_slots, refresh_slots] = CRAWL.map(|role| self.slots_of(&[role], slots));
        let by_rate = self.permitted_rate.map_or(0.0, |rate| stores as f64 * requests / rate);
        let times = [
            rounds(stores, self.slots_of(&CRAWL, slots))? * (fetch_seconds + refresh_seconds),
            rounds(stores, fetch_slots)? * fetch_seconds,
            rounds(stores, refresh_slots)? * refresh_seconds,
            rounds(stores, self.sessions)? * fetch_seconds,
            by_rate,
        ];
        Some(times.into_iter().fold(0.0, f64::max))
    }
}

impl Forecast {
    /// The limit of which the largest share is needed. None if a need is not known.
    fn first_limit(&self) -> Option<(Limit, f64)> {
        let all_roles = sum(&self.roles, |role| role.busy_slots)?;
        let of_role = |role: &RoleForecast| share(role.busy_slots.unwrap_or_default(), role.slots as f64);
        let slots = self.roles.iter().map(of_role).fold(share(all_roles, self.slots as f64), f64::max);
        let sent = self.requests_per_second_needed?;
        let rate = self.requests_per_second_permitted.map_or(0.0, |permitted| share(sent, permitted));
        let proxies = share(sum(&self.roles, sessions_of)?, self.sessions as f64);
        let limits = [(Limit::Slots, slots), (Limit::Rate, rate), (Limit::Proxies, proxies)];
        limits.into_iter().reduce(|first, next| if next.1 > first.1 { next } else { first })
    }
}

/// Whether it is most of the work: without its costs, nothing can be said.
fn is_needed(role: Role) -> bool {
    is_crawl(role) || role == Role::ProductRefresh
}

fn is_crawl(role: Role) -> bool {
    matches!(role, Role::PayloadFetch | Role::ProductDiscovery)
}

/// The role whose runs tell the cost of this one while it has none: on the first day all crawls are first ones, later none is.
fn stand_in(role: Role) -> Option<Role> {
    match role {
        Role::PayloadFetch => Some(Role::ProductDiscovery),
        Role::ProductDiscovery => Some(Role::PayloadFetch),
        _ => None,
    }
}

/// A crawl is followed by a refresh.
fn add_runs(runs: &mut BTreeMap<Role, f64>, role: Role, more: f64) {
    *runs.entry(role).or_default() += more;
    if is_crawl(role) {
        *runs.entry(Role::ProductRefresh).or_default() += more;
    }
}

fn crawls_of(runs: &BTreeMap<Role, f64>) -> f64 {
    runs.iter().filter(|(role, _)| is_crawl(**role)).map(|(_, runs)| runs).sum()
}

fn is_unmeasured(role: &RoleForecast) -> bool {
    role.busy_slots.is_none() || role.requests_per_second.is_none()
}

/// A run that asks a host holds one session all the time.
fn sessions_of(role: &RoleForecast) -> Option<f64> {
    if role.role.kind().needs_proxy { role.busy_slots } else { Some(0.0) }
}

/// None if that of a crawl is not known; other roles without a measured run are left out.
fn sum(roles: &[RoleForecast], of: impl Fn(&RoleForecast) -> Option<f64>) -> Option<f64> {
    roles.iter().filter(|role| is_needed(role.role) || !is_unmeasured(role)).map(of).sum()
}

/// Needed share of what is available; infinite where nothing is.
fn share(need: f64, there: f64) -> f64 {
    if need > 0.0 { need / there } else { 0.0 }
}

/// How many times each of `lanes` takes a store until all are done; None: there is no lane.
fn rounds(stores: i64, lanes: i64) -> Option<f64> {
    (lanes > 0).then(|| (stores as f64 / lanes as f64).ceil())
}

fn whole_above(number: f64) -> i64 {
    (number - TOLERANCE).ceil().max(0.0) as i64
}

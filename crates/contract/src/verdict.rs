//! `Verdict`: the sentence on the state of the crawl that the overview begins with; and why no store is crawled.
//!
//! Pure. In: [`Facts`] of one moment. Out: two sentences. Media jobs are left out: one that waits makes no crawl
//! late. It must not know the clock or the database.

#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::overview::StoreCounts;
use super::pauses::Pause;
use super::tasks::{Counts, ReadyTasks, TaskCounts};
use domain::amounts::{counted, duration, grouped};
use domain::proxy::{HealthCounts, RestingProxies};
use domain::task::pause::{PauseTarget, Pauses};
use domain::task::role::{Family, Role};
use domain::vocabulary::Word;
use domain::worker::{WorkerDocument, WorkerStatus};

/// Wait in seconds from which on a ready task is late.
const LATE_SECONDS: f64 = 600.0;

/// The state of the crawl in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Verdict {
    /// `Crawling, and keeping up.`
    pub state: String,
    /// Its reason, and how many stores are fresh.
    pub why: String,
}

/// Crawlable stores that are asked at one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoresOfHost {
    pub host: String,
    pub stores: i64,
    /// Stores among these that are paused themselves.
    pub paused: i64,
}

/// Facts from which the verdict follows, all read at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    pub counts: &'a TaskCounts,
    pub ready: &'a [ReadyTasks],
    pub workers: &'a [WorkerDocument],
    pub stores: &'a StoreCounts,
    pub hosts: &'a [StoresOfHost],
    pub proxies: &'a HealthCounts,
    /// Proxies that are neither switched off nor benched everywhere.
    pub usable_proxies: i64,
    pub resting: &'a RestingProxies,
    pub pauses: &'a [Pause],
    /// The next run of an enabled schedule.
    pub next_run_at: Option<DateTime<Utc>>,
    pub now: DateTime<Utc>,
}

impl Verdict {
    pub fn of(facts: &Facts) -> Verdict {
        let found = facts.lacks().or_else(|| facts.is_stopped()).or_else(|| facts.takes_none());
        found.unwrap_or_else(|| facts.pace())
    }

    fn new(state: impl Into<String>, why: impl Into<String>) -> Verdict {
        Verdict { state: state.into(), why: why.into() }
    }
}

/// Why no store is crawled, as a part of a sentence; None: nothing stops the crawl as a whole.
pub fn stopped(pauses: &[Pause], hosts: &[StoresOfHost], resting: &RestingProxies) -> Option<String> {
    let paused = Stop::find(pauses, hosts).map(|Stop { what, by }| match by {
        Some(pause) => format!("{what} by {} ({})", pause.created_by, pause.reason),
        None => what,
    });
    paused.or_else(|| resting.is_all().then(|| resting.to_string()))
}

/// Pauses by which no store is crawled.
struct Stop<'a> {
    /// `role payload_fetch is paused`.
    what: String,
    /// The pause, where one is enough.
    by: Option<&'a Pause>,
}

impl<'a> Stop<'a> {
    /// The widest one.
    fn find(pauses: &'a [Pause], hosts: &[StoresOfHost]) -> Option<Stop<'a>> {
        let stops_crawl = |pause: &&Pause| pause.parsed().is_some_and(|target| target.stops_role(Role::PayloadFetch));
        if let Some(pause) = pauses.iter().find(stops_crawl) {
            return Some(Stop { what: format!("{} is paused", pause.target()), by: Some(pause) });
        }
        let pause_of =
            |host: &str| pauses.iter().find(|pause| pause.parsed() == Some(PauseTarget::Host(host.to_owned())));
        let (shut, open): (Vec<_>, Vec<_>) = hosts.iter().partition(|host| pause_of(&host.host).is_some());
        if hosts.is_empty() || open.iter().any(|host| host.stores > host.paused) {
            return None;
        }
        let what = match (shut.len(), open.len()) {
            (0, _) => "each store is paused".to_owned(),
            (1, 0) => format!("host {} is paused", shut[0].host),
            (_, 0) => "each host is paused".to_owned(),
            _ => "each store or its host is paused".to_owned(),
        };
        Some(Stop { what, by: if hosts.len() == 1 { pause_of(&hosts[0].host) } else { None } })
    }
}

/// Whether its tasks are work of the crawl.
fn is_crawl(role: Role) -> bool {
    role.family() == Family::Crawl
}

fn is_crawl_word(role: &Word<Role>) -> bool {
    matches!(role, Word::Known(role) if is_crawl(*role))
}

/// One that lists no role claims all of them.
fn crawls(worker: &WorkerDocument) -> bool {
    worker.roles.is_empty() || worker.roles.iter().any(|role| role.parse().is_ok_and(is_crawl))
}

impl<'a> Facts<'a> {
    /// Verdict when something is missing that every crawl needs.
    fn lacks(&self) -> Option<Verdict> {
        if self.live().next().is_none() {
            return Some(Verdict::new("Not crawling: no worker runs.", "Start one with drover up or drover worker."));
        }
        if self.crawlers().next().is_none() {
            let why = "The running workers claim only media tasks.";
            return Some(Verdict::new("Not crawling: no worker claims tasks of the crawl.", why));
        }
        if self.usable_proxies == 0 {
            let why = "Import some, or wait until they are no longer benched.";
            return Some(Verdict::new("Not crawling: no proxy is usable.", why));
        }
        if self.resting.is_all() {
            return Some(Verdict::new(format!("Not crawling: {}.", self.resting), self.fresh()));
        }
        (self.stores.enabled == 0)
            .then(|| Verdict::new("No store to crawl yet.", "Import some, or let discovery find them."))
    }

    /// Verdict when pauses or the hosts stop the claims.
    fn is_stopped(&self) -> Option<Verdict> {
        if let Some(Stop { what, by }) = Stop::find(self.pauses, self.hosts) {
            let is_all = by.is_some_and(|pause| pause.parsed() == Some(PauseTarget::All));
            let state =
                if is_all { "Paused: no task is claimed.".to_owned() } else { format!("Not crawling: {what}.") };
            let why = by.map(|pause| format!("{}: {}. ", pause.created_by, pause.reason)).unwrap_or_default();
            return Some(Verdict::new(state, format!("{why}{}{}", self.goes_on(), self.fresh())));
        }
        (self.stores.held == self.stores.enabled)
            .then(|| Verdict::new("Not crawling: every store waits for its host.", self.fresh()))
    }

    /// No worker takes a task.
    fn takes_none(&self) -> Option<Verdict> {
        if self.crawlers().any(|worker| self.status(worker) == WorkerStatus::Active) {
            return None;
        }
        let words = [
            (WorkerStatus::Draining, "drains", "drain"),
            (WorkerStatus::Paused, "is paused", "are paused"),
            (WorkerStatus::BackingOff, "backs off", "back off"),
        ];
        let mut parts: Vec<String> = Vec::new();
        for (status, one, many) in words {
            let number = self.crawlers().filter(|worker| self.status(worker) == status).count() as i64;
            let named = if parts.is_empty() { counted(number, "worker") } else { grouped(number) };
            match number {
                0 => {}
                1 => parts.push(format!("{named} {one}")),
                _ => parts.push(format!("{named} {many}")),
            }
        }
        let state = format!("Taking no new task: {}.", parts.join(", "));
        Some(Verdict::new(state, format!("{}{}", self.goes_on(), self.fresh())))
    }

    /// How the work of the crawl continues, or that there is none.
    fn pace(&self) -> Verdict {
        let pauses = self.targets();
        let ready = self.ready.iter().filter(|each| is_crawl_word(&each.role));
        let is_paused = |each: &&ReadyTasks| matches!(each.role, Word::Known(role) if pauses.stops_role(role));
        let (paused, claimable): (Vec<_>, Vec<_>) = ready.partition(is_paused);
        if self.running() == 0 && claimable.is_empty() {
            return self.idle(paused.first().map(|each| &each.role));
        }
        let oldest = claimable.iter().map(|each| each.oldest_seconds).fold(0.0, f64::max);
        let pace = if self.proxies.healthy + self.proxies.untested == 0 {
            "but no proxy is healthy".to_owned()
        } else if oldest > LATE_SECONDS {
            format!("but behind: a task has been ready for {}", duration(oldest))
        } else if let Some(each) = paused.first() {
            format!("but role {} is paused", each.role)
        } else {
            "and keeping up".to_owned()
        };
        let crawlers = self.crawlers().count();
        let active = self.crawlers().filter(|worker| self.status(worker) == WorkerStatus::Active).count();
        let on = match active < crawlers {
            true => format!(" with {} of {}", grouped(active as i64), counted(crawlers as i64, "worker")),
            false => String::new(),
        };
        Verdict::new(format!("Crawling{on}, {pace}."), self.fresh())
    }

    /// `paused`: a paused role with tasks that are ready.
    fn idle(&self, paused: Option<&Word<Role>>) -> Verdict {
        let pending = self.of_crawl(|counts| counts.pending);
        let state = match paused {
            Some(role) => format!("Idle: role {role} is paused, and {}.", waits(pending)),
            None if pending > 0 => "Idle: no task of the crawl is due.".to_owned(),
            None if self.counts.all.pending > 0 => "Idle: no task of the crawl waits.".to_owned(),
            None => "Idle: nothing waits.".to_owned(),
        };
        Verdict::new(state, format!("{} {}", self.fresh(), self.next_run()))
    }

    fn next_run(&self) -> String {
        match self.next_run_at {
            None => "No schedule is enabled.".to_owned(),
            Some(at) if at <= self.now => "The next run is due.".to_owned(),
            Some(at) => format!("The next run is at {}.", at.format("%-d %b %H:%M UTC")),
        }
    }

    fn fresh(&self) -> String {
        let StoreCounts { fresh, enabled, .. } = self.stores;
        let verb = if *fresh == 1 { "is" } else { "are" };
        format!("{} of {} {verb} fresh.", grouped(*fresh), counted(*enabled, "store"))
    }

    fn goes_on(&self) -> String {
        match self.running() {
            0 => String::new(),
            1 => "1 task is still running. ".to_owned(),
            running => format!("{} are still running. ", counted(running, "task")),
        }
    }

    /// Tasks of the crawl in the hands of a worker.
    fn running(&self) -> i64 {
        self.of_crawl(|counts| counts.running + counts.claimed)
    }

    fn of_crawl(&self, of: fn(&Counts) -> i64) -> i64 {
        self.counts.by_role.iter().filter(|(role, _)| is_crawl_word(role)).map(|(_, counts)| of(counts)).sum()
    }

    fn live(&self) -> impl Iterator<Item = &'a WorkerDocument> {
        self.workers.iter().filter(|worker| worker.status != WorkerStatus::Offline)
    }

    fn crawlers(&self) -> impl Iterator<Item = &'a WorkerDocument> {
        self.live().filter(|worker| crawls(worker))
    }

    /// A pause is in force before its worker reports it.
    fn status(&self, worker: &WorkerDocument) -> WorkerStatus {
        let roles: Vec<Role> = worker.roles.iter().filter_map(|role| role.parse().ok()).collect();
        let roles = if roles.is_empty() { &Role::CRAWL[..] } else { &roles };
        match worker.status {
            WorkerStatus::Active if self.targets().stops_worker(&worker.pod, &worker.friendly_name, roles) => {
                WorkerStatus::Paused
            }
            status => status,
        }
    }

    fn targets(&self) -> Pauses {
        Pauses::new(self.pauses.iter().filter_map(Pause::parsed).collect())
    }
}

/// `1 task waits`, `2 tasks wait`.
fn waits(tasks: i64) -> String {
    format!("{} {}", counted(tasks, "task"), if tasks == 1 { "waits" } else { "wait" })
}

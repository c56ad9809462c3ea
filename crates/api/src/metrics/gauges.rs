//! Gauges that are made at each scrape: from values to metrics. Pure.

use prometheus::{Gauge, GaugeVec, IntGauge, IntGaugeVec, Opts};
use strum::VariantArray;

use contract::overview::StoreCounts;
use contract::pauses::Pause;
use contract::tasks::{ReadyTasks, TaskCounts};
use domain::host::BreakerState;
use domain::proxy::HealthCounts;
use domain::store::StoreStatus;
use domain::task::pause::PauseScope;
use domain::task::role::Role;
use domain::vocabulary::Word;
use domain::worker::{WorkerDocument, WorkerStatus};

pub fn event_clients(clients: usize) -> Result<IntGauge, prometheus::Error> {
    let gauge = IntGauge::new("drover_event_clients", "Clients that listen to this process's stream of events")?;
    gauge.set(clients as i64);
    Ok(gauge)
}

pub fn storage_free_bytes(bytes: u64) -> Result<Gauge, prometheus::Error> {
    let help = "Bytes that this process may still write below its storage root";
    let gauge = Gauge::new("drover_storage_free_bytes", help)?;
    gauge.set(bytes as f64);
    Ok(gauge)
}

pub fn database_up(is_up: bool) -> Result<IntGauge, prometheus::Error> {
    let gauge = IntGauge::new("drover_database_up", "Whether the database answered this scrape")?;
    gauge.set(i64::from(is_up));
    Ok(gauge)
}

pub fn tasks(counts: &TaskCounts) -> Result<IntGaugeVec, prometheus::Error> {
    let opts = Opts::new("drover_tasks", "Tasks in the queue; ended ones as counted in the last half minute");
    let gauge = IntGaugeVec::new(opts, &["role", "status"])?;
    for (role, of_role) in &counts.by_role {
        let role = role.to_string();
        for (status, tasks) in of_role.by_status() {
            gauge.with_label_values(&[role.as_str(), status.into()]).set(tasks);
        }
    }
    Ok(gauge)
}

/// Zero where nothing is ready: a series that ended would keep its alert on.
pub fn ready_tasks(ready: &[ReadyTasks]) -> Result<(IntGaugeVec, GaugeVec), prometheus::Error> {
    let tasks = IntGaugeVec::new(Opts::new("drover_ready_tasks", "Tasks that may be claimed now"), &["role"])?;
    let help = "For how long the oldest ready task has been due";
    let oldest = GaugeVec::new(Opts::new("drover_oldest_ready_seconds", help), &["role"])?;
    for role in Role::CRAWL {
        tasks.with_label_values(&[role.name()]).set(0);
        oldest.with_label_values(&[role.name()]).set(0.0);
    }
    for of_role in ready {
        let role = of_role.role.to_string();
        tasks.with_label_values(&[&role]).set(of_role.tasks);
        oldest.with_label_values(&[&role]).set(of_role.oldest_seconds);
    }
    Ok((tasks, oldest))
}

pub fn registered_workers(workers: &[WorkerDocument]) -> Result<IntGaugeVec, prometheus::Error> {
    let opts = Opts::new("drover_registered_workers", "Workers of all processes, as the registry lists them");
    by_word(opts, "status", |status: WorkerStatus| {
        workers.iter().filter(|worker| worker.status == status).count() as i64
    })
}

pub fn known_proxies(counts: HealthCounts) -> Result<IntGaugeVec, prometheus::Error> {
    let gauge = IntGaugeVec::new(Opts::new("drover_known_proxies", "Proxies, as the table lists them"), &["state"])?;
    for (health, count) in counts.each() {
        gauge.with_label_values(&[health.name()]).set(count as i64);
    }
    Ok(gauge)
}

pub fn paused(pauses: &[Pause]) -> Result<IntGaugeVec, prometheus::Error> {
    let opts = Opts::new("drover_paused", "Pauses in force, by scope");
    by_word(opts, "scope", |scope: PauseScope| {
        pauses.iter().filter(|pause| pause.scope == Word::Known(scope)).count() as i64
    })
}

/// The enabled stores.
pub fn stores(counts: &StoreCounts) -> Result<IntGaugeVec, prometheus::Error> {
    let opts = Opts::new("drover_stores", "Stores that are crawled, by the state of their crawls");
    by_word(opts, "crawl_status", |status: StoreStatus| match status {
        StoreStatus::NeedsMenuId => counts.needs_menu_id,
        StoreStatus::Held => counts.held,
        StoreStatus::EmptyMenu => counts.empty_menu,
        StoreStatus::NeverCrawled => counts.never_crawled,
        StoreStatus::Late => counts.late,
        StoreStatus::Fresh => counts.fresh,
    })
}

pub fn hosts(breakers: &[(Word<BreakerState>, i64)]) -> Result<IntGaugeVec, prometheus::Error> {
    let opts = Opts::new("drover_hosts", "Hosts that were asked, by the state of their breaker");
    by_word(opts, "breaker", |state: BreakerState| {
        breakers.iter().filter(|(breaker, _)| *breaker == Word::Known(state)).map(|(_, hosts)| hosts).sum()
    })
}

pub fn schedule_late_seconds(seconds: f64) -> Result<Gauge, prometheus::Error> {
    let help = "For how long the schedule that waits longest for its run has been due";
    let gauge = Gauge::new("drover_schedule_late_seconds", help)?;
    gauge.set(seconds);
    Ok(gauge)
}

/// A series for each word, zero where there is none: a series that ended would keep its alert on.
fn by_word<T: VariantArray + Copy + Into<&'static str>>(
    opts: Opts,
    label: &str,
    count: impl Fn(T) -> i64,
) -> Result<IntGaugeVec, prometheus::Error> {
    let gauge = IntGaugeVec::new(opts, &[label])?;
    for word in T::VARIANTS.iter().copied() {
        gauge.with_label_values(&[word.into()]).set(count(word));
    }
    Ok(gauge)
}

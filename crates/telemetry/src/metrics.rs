//! The names, labels and buckets of the metrics that this process counts by itself.
//!
//! Names begin with `drover_`, units are base units, label sets are closed: never a task id, store, proxy,
//! worker id or URL. Numbers of the whole service (tasks by status, oldest ready task) are computed from the
//! database at scrape instead.

use std::sync::LazyLock;

use prometheus::core::Collector;
use prometheus::proto::MetricFamily;
use prometheus::{
    CounterVec, Error, Gauge, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge,
    IntGaugeVec, Opts, Registry, TextEncoder,
};

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::new);

const SECONDS_OF_TASKS: [f64; 10] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 120.0, 600.0];
const SECONDS_OF_WAITS: [f64; 9] = [0.01, 0.1, 0.5, 1.0, 5.0, 30.0, 120.0, 600.0, 3600.0];
const SECONDS_OF_REQUESTS: [f64; 10] = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0];
const SECONDS_OF_DELAYS: [f64; 9] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 1.0, 10.0];
const SECONDS_OF_BORROWS: [f64; 6] = [0.001, 0.01, 0.1, 0.5, 1.0, 5.0];
const SECONDS_OF_ANSWERS: [f64; 9] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];
/// Bounds of chores; few, because every chore has them.
const SECONDS_OF_CHORES: [f64; 2] = [1.0, 30.0];
const SHARES: [f64; 6] = [0.5, 0.9, 0.95, 0.98, 0.995, 1.0];

/// One static for each metric, all of them registered before the first scrape.
macro_rules! metrics {
    ($($name:ident: $kind:ident = $make:ident($($argument:expr),+);)+) => {
        $(pub static $name: LazyLock<$kind> = LazyLock::new(|| registered($make($($argument),+)));)+

        fn register_all() {
            $(LazyLock::force(&$name);)+
        }
    };
}

metrics! {
    // queue
    TASKS_ENQUEUED: IntCounterVec = counters("drover_tasks_enqueued_total", "Tasks added to the queue", &["role"]);
    TASKS_CLAIMED: IntCounterVec = counters("drover_tasks_claimed_total", "Tasks claimed", &["role"]);
    TASKS_FINISHED: IntCounterVec = counters("drover_tasks_finished_total", "Runs that ended, by outcome", &["role", "outcome"]);
    TASK_SECONDS: HistogramVec = histograms("drover_task_seconds", "Length of a run", &["role"], &SECONDS_OF_TASKS);
    TASK_WAIT_SECONDS: HistogramVec = histograms("drover_task_wait_seconds", "Time from due to claimed", &["role"], &SECONDS_OF_WAITS);
    TASKS_RECOVERED: IntCounterVec = counters("drover_tasks_recovered_total", "Tasks whose lease had run out, by result", &["result"]);
    TASKS_FENCED: IntCounter = counter("drover_tasks_fenced_total", "Results refused because the run had lost its lease");
    OPERATIONS: IntCounterVec = counters("drover_operations_total", "Bulk operations on tasks that this process ended", &["result"]);
    BEAT_LATE_SECONDS: Histogram = histogram("drover_beat_late_seconds", "Time from when a task actor's beat was due until its worker passed it on", &SECONDS_OF_DELAYS);
    HEARTBEAT_LATE_SECONDS: Histogram = histogram("drover_heartbeat_late_seconds", "Time from when leases were due to be renewed until they were renewed", &SECONDS_OF_DELAYS);
    TASKS_LOST: IntCounter = counter("drover_tasks_lost_total", "Bodies stopped because their lease was lost");

    // workers
    WORKER_SLOTS: IntGauge = int_gauge("drover_worker_slots", "Tasks that this process may run at once");
    WORKER_SLOTS_BUSY: IntGauge = int_gauge("drover_worker_slots_busy", "Tasks that this process runs now");
    WORKERS_HERE: IntGauge = int_gauge("drover_process_workers", "Workers that this process runs");
    WORKER_BACKOFFS: IntCounterVec = counters("drover_worker_backoffs_total", "Times that a worker stopped claiming", &["resource"]);
    MEMORY_RATIO: Gauge = gauge("drover_memory_ratio", "Share of memory in use, as back-off of workers sees it");
    CPU_RATIO: Gauge = gauge("drover_cpu_ratio", "Share of CPU in use, as back-off of workers sees it");
    ACTOR_RESTARTS: IntCounterVec = counters("drover_actor_restarts_total", "Actors started again after a crash", &["actor"]);
    PANICS: IntCounter = counter("drover_panics_total", "Panics caught");
    CONFIG_RELOADS: IntCounterVec = counters("drover_config_reloads_total", "Times that the configuration was read again", &["result"]);
    CONFIG_REFUSED: IntGauge = int_gauge("drover_config_refused", "1 while the configuration's files are faulty, and an older one is in use");

    // fetch
    QUALITY_FINDINGS: IntGaugeVec = int_gauges("drover_quality_findings", "Stores with faulty data", &["kind"]);
    PROXIES: IntGaugeVec = int_gauges("drover_proxies", "Proxies as this process sees them", &["state"]);
    PROXY_BENCHES: IntCounter = counter("drover_proxy_benches_total", "Times that a proxy was benched");
    REQUESTS: IntCounterVec = counters("drover_requests_total", "Requests to platforms, by outcome", &["outcome"]);
    FETCH_SECONDS: Histogram = histogram("drover_fetch_seconds", "Length of a request to a platform", &SECONDS_OF_REQUESTS);
    FETCH_BYTES: IntCounter = counter("drover_fetch_bytes_total", "Bytes of bodies as received");
    FETCHES_NOT_COUNTED: IntCounter = counter("drover_fetches_not_counted_total", "Requests missing from the rollups, because these could not be written for a long time");
    BREAKER_OPENS: IntCounter = counter("drover_host_breaker_opens_total", "Times that this process opened a host's breaker");
    HOSTS_REFUSING: IntGauge = int_gauge("drover_hosts_refusing", "Hosts with an open breaker, as this process sees them");
    ROBOTS_FORBIDDEN: IntCounterVec = counters("drover_robots_forbidden_total", "Requests that a robots.txt forbids, by policy", &["policy"]);
    ROTATIONS: IntCounterVec = counters("drover_rotations_total", "Changes of proxy and identity", &["reason"]);

    // data
    PAYLOADS: IntCounter = counter("drover_payloads_total", "Payload files written");
    PAYLOAD_BYTES: IntCounter = counter("drover_payload_bytes_total", "Bytes of payload files written");
    PRODUCTS: IntCounterVec = counters("drover_products_total", "Products refreshed", &["change"]);
    RETENTION_REMOVED: IntCounterVec = counters("drover_retention_removed_total", "Rows, files and partitions that retention removed", &["kind"]);
    FILES_LEFT: IntCounter = counter("drover_storage_files_left_total", "Times that a file or object could not be moved or removed, and was left out");
    COVERAGE: Histogram = histogram("drover_crawl_coverage_ratio", "Share of the announced products that a crawl holds", &SHARES);

    // images
    IMAGES: IntCounterVec = counters("drover_images_total", "Image downloads, by result", &["result"]);
    IMAGE_BYTES: IntCounter = counter("drover_image_bytes_total", "Bytes of stored images as downloaded");

    NOTIFICATION_TRIES: IntCounterVec = counters("drover_notification_tries_total", "Tries to send a notification, by result", &["result"]);
    IMAGES_SERVED: IntCounterVec = counters("drover_images_served_total", "Images that clients asked for, by where they came from", &["source"]);
    IMAGES_NOT_CACHED: IntCounter = counter("drover_images_not_cached_total", "Resized images that could not be written to the cache");

    // system
    SCHEDULE_RUNS: IntCounterVec = counters("drover_schedule_runs_total", "Generations of schedules", &["result"]);
    CHORE_TURNS: IntCounterVec = counters("drover_chore_turns_total", "Turns of periodic chores, by result", &["chore", "result"]);
    CHORE_CHANGES: IntCounterVec = counters("drover_chore_changes_total", "Rows, files and partitions that chores changed", &["chore"]);
    CHORE_SECONDS: HistogramVec = histograms("drover_chore_seconds", "Length of a chore's turn", &["chore"], &SECONDS_OF_CHORES);
    DB_POOL_WAIT_SECONDS: HistogramVec = histograms("drover_db_pool_wait_seconds", "Wait for a connection from a pool, until it came or the wait timed out", &["pool"], &SECONDS_OF_BORROWS);
    GEO_READS: IntCounterVec = counters("drover_geo_reads_total", "Times that the geo database was read, or could not be", &["result"]);
    HTTP_CONNECTIONS_REFUSED: IntCounter = counter("drover_http_connections_refused_total", "Connections refused because their address had reached its maximum");
    HTTP_REQUESTS: IntCounterVec = counters("drover_http_requests_total", "Requests that this process answered", &["route", "status"]);
    HTTP_SECONDS: Histogram = histogram("drover_http_request_seconds", "Time from a request to the head of its answer", &SECONDS_OF_ANSWERS);
    // a histogram for each route would be half of all series
    HTTP_ROUTE_SECONDS: CounterVec = float_counters("drover_http_route_seconds_total", "Seconds from requests to the heads of their answers", &["route"]);
    LOG_LINES_LOST: IntCounter = counter("drover_log_lines_lost_total", "Log lines dropped because the reader of stderr was too slow");
    SCHEDULE_TASKS: IntCounter = counter("drover_schedule_tasks_total", "Tasks that schedules created");
    BUILD_INFO: GaugeVec = gauges("drover_build_info", "1, with the version as label", &["version"]);
}

/// Runs of this process, for people who watch it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunCounts {
    /// Tasks that may run at once.
    pub slots: u64,
    pub busy: u64,
    pub completed: u64,
    /// Runs, of which a task may have several.
    pub failed: u64,
}

pub fn run_counts() -> RunCounts {
    let ended = |outcome: &str| {
        let families = TASKS_FINISHED.collect();
        let series = families.iter().flat_map(MetricFamily::get_metric);
        let of_outcome = series.filter(|series| series.get_label().iter().any(|label| label.value() == outcome));
        of_outcome.map(|series| series.get_counter().get_value() as u64).sum()
    };
    let gauge = |gauge: &IntGauge| u64::try_from(gauge.get()).unwrap_or(0);
    RunCounts {
        slots: gauge(&WORKER_SLOTS),
        busy: gauge(&WORKER_SLOTS_BUSY),
        completed: ended("completed"),
        failed: ended("failed"),
    }
}

/// This process's counts, in Prometheus's text format.
pub fn render() -> Result<String, Error> {
    register_all();
    BUILD_INFO.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1.0);
    TextEncoder::new().encode_to_string(&REGISTRY.gather())
}

/// A metric that cannot be made or registered has a wrong or doubled name in the table above, which a test
/// would show.
#[expect(clippy::expect_used, reason = "every name is a constant, and a test makes them all")]
fn registered<M: Collector + Clone + 'static>(made: Result<M, Error>) -> M {
    let metric = made.expect("a valid name");
    REGISTRY.register(Box::new(metric.clone())).expect("a name of its own");
    metric
}

fn counter(name: &str, help: &str) -> Result<IntCounter, Error> {
    IntCounter::new(name, help)
}

fn counters(name: &str, help: &str, labels: &[&str]) -> Result<IntCounterVec, Error> {
    IntCounterVec::new(Opts::new(name, help), labels)
}

fn float_counters(name: &str, help: &str, labels: &[&str]) -> Result<CounterVec, Error> {
    CounterVec::new(Opts::new(name, help), labels)
}

fn int_gauge(name: &str, help: &str) -> Result<IntGauge, Error> {
    IntGauge::new(name, help)
}

fn int_gauges(name: &str, help: &str, labels: &[&str]) -> Result<IntGaugeVec, Error> {
    IntGaugeVec::new(Opts::new(name, help), labels)
}

fn gauge(name: &str, help: &str) -> Result<Gauge, Error> {
    Gauge::new(name, help)
}

fn gauges(name: &str, help: &str, labels: &[&str]) -> Result<GaugeVec, Error> {
    GaugeVec::new(Opts::new(name, help), labels)
}

fn histogram(name: &str, help: &str, buckets: &[f64]) -> Result<Histogram, Error> {
    Histogram::with_opts(HistogramOpts::new(name, help).buckets(buckets.to_vec()))
}

fn histograms(name: &str, help: &str, labels: &[&str], buckets: &[f64]) -> Result<HistogramVec, Error> {
    HistogramVec::new(HistogramOpts::new(name, help).buckets(buckets.to_vec()), labels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_a_name_of_its_own_that_begins_with_drover() {
        let text = render().unwrap();
        assert!(text.contains("drover_build_info{version="), "{text}");
        for family in REGISTRY.gather() {
            assert!(family.name().starts_with("drover_"), "{}", family.name());
        }
    }
}

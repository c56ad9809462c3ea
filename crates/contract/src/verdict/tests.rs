//! Tables of the verdict: pauses of each scope and their combinations, queues, workers and proxies.

use std::collections::BTreeMap;

use rstest::rstest;

use super::*;
use domain::task::pause::PauseScope;
use domain::worker::Resources;

/// Two workers, 60 of 63 stores fresh, and nothing to do.
struct World {
    counts: TaskCounts,
    ready: Vec<ReadyTasks>,
    workers: Vec<WorkerDocument>,
    stores: StoreCounts,
    hosts: Vec<StoresOfHost>,
    proxies: HealthCounts,
    usable_proxies: i64,
    resting: RestingProxies,
    pauses: Vec<Pause>,
    next_run_at: Option<DateTime<Utc>>,
}

fn now() -> DateTime<Utc> {
    "2026-11-28T12:00:00Z".parse().unwrap()
}

fn world() -> World {
    let stores = StoreCounts {
        enabled: 63,
        fresh: 60,
        late: 0,
        never_crawled: 3,
        needs_menu_id: 0,
        empty_menu: 0,
        held: 0,
        unscheduled: 0,
        products: 0,
        announced: 0,
        troubled: Vec::new(),
    };
    World {
        counts: TaskCounts { all: Counts::default(), by_role: BTreeMap::new(), as_of: now() },
        ready: Vec::new(),
        workers: vec![worker("Kryll-1", "Kryll", "any"), worker("Xylos-1", "Xylos", "any")],
        stores,
        hosts: vec![host("a.test", 40), host("b.test", 23)],
        proxies: HealthCounts { healthy: 3, ..HealthCounts::default() },
        usable_proxies: 3,
        resting: RestingProxies::default(),
        pauses: Vec::new(),
        next_run_at: None,
    }
}

fn worker(name: &str, pod: &str, roles: &str) -> WorkerDocument {
    let roles: domain::task::role::RoleSet = roles.parse().unwrap();
    WorkerDocument {
        worker_id: name.to_owned(),
        current_task_id: None,
        current_task_ids: Vec::new(),
        active_task_count: 0,
        max_concurrent_tasks: 3,
        status: WorkerStatus::Active,
        resources: Resources::default(),
        friendly_name: name.to_owned(),
        pod: pod.to_owned(),
        role: roles.label(),
        roles: roles.roles().iter().map(|role| role.to_string()).collect(),
        last_heartbeat_at: None,
        started_at: None,
    }
}

fn host(name: &str, stores: i64) -> StoresOfHost {
    StoresOfHost { host: name.to_owned(), stores, paused: 0 }
}

impl World {
    fn verdict(&self) -> Verdict {
        Verdict::of(&Facts {
            counts: &self.counts,
            ready: &self.ready,
            workers: &self.workers,
            stores: &self.stores,
            hosts: &self.hosts,
            proxies: &self.proxies,
            usable_proxies: self.usable_proxies,
            resting: &self.resting,
            pauses: &self.pauses,
            next_run_at: self.next_run_at,
            now: now(),
        })
    }

    /// `role product_refresh`; several are apart by commas.
    fn paused(mut self, targets: &str) -> World {
        for (id, target) in targets.split(',').map(str::trim).filter(|target| !target.is_empty()).enumerate() {
            let (scope, of) = target.split_once(' ').map_or((target, None), |(scope, of)| (scope, Some(of.to_owned())));
            let scope: Word<PauseScope> = scope.to_owned().into();
            let (reason, created_by) = ("repairs".to_owned(), "ann".to_owned());
            self.pauses.push(Pause { id: id as i64, scope, of, reason, until: None, created_at: now(), created_by });
        }
        self
    }

    fn running(mut self, role: Role, tasks: i64) -> World {
        self.counts.by_role.entry(Word::Known(role)).or_default().running += tasks;
        self.counts.all.running += tasks;
        self
    }

    fn pending(mut self, role: Role, tasks: i64) -> World {
        self.counts.by_role.entry(Word::Known(role)).or_default().pending += tasks;
        self.counts.all.pending += tasks;
        self
    }

    /// Pending tasks; the oldest has been due for `oldest_seconds`.
    fn ready(mut self, role: Role, tasks: i64, oldest_seconds: f64) -> World {
        self.ready.push(ReadyTasks { role: Word::Known(role), tasks, oldest_seconds });
        self.pending(role, tasks)
    }

    fn with(mut self, change: impl FnOnce(&mut World)) -> World {
        change(&mut self);
        self
    }
}

/// Stores wait for their first crawl, and some are crawled.
fn busy() -> World {
    world().running(Role::PayloadFetch, 2).ready(Role::PayloadFetch, 5, 30.0)
}

/// Nothing runs, and fetches are ready for a long time: whatever is paused stops them.
fn stuck() -> World {
    world().ready(Role::PayloadFetch, 5, 1_411.0)
}

#[rstest]
#[case::nothing(busy(), "", "Crawling, and keeping up.")]
#[case::late(stuck(), "", "Crawling, but behind: a task has been ready for 23 m 31 s.")]
#[case::all(busy(), "all", "Paused: no task is claimed.")]
#[case::all_and_more(busy(), "all, role payload_fetch, pod Kryll", "Paused: no task is claimed.")]
#[case::the_family(stuck(), "family crawl", "Not crawling: family crawl is paused.")]
#[case::the_other_family(busy(), "family media", "Crawling, and keeping up.")]
#[case::fetches(stuck(), "role payload_fetch", "Not crawling: role payload_fetch is paused.")]
#[case::fetches_and_a_pod_and_a_worker(
    stuck(),
    "role payload_fetch, pod Kryll, worker Xylos-1",
    "Not crawling: role payload_fetch is paused."
)]
#[case::refreshes_where_some_wait(
    busy().ready(Role::ProductRefresh, 2, 9_000.0),
    "role product_refresh",
    "Crawling, but role product_refresh is paused."
)]
#[case::refreshes_where_none_waits(busy(), "role product_refresh", "Crawling, and keeping up.")]
#[case::only_refreshes_wait(
    world().ready(Role::ProductRefresh, 2, 9_000.0),
    "role product_refresh",
    "Idle: role product_refresh is paused, and 2 tasks wait."
)]
#[case::a_media_role(busy(), "role scrape_account", "Crawling, and keeping up.")]
#[case::a_pod(busy(), "pod Kryll", "Crawling with 1 of 2 workers, and keeping up.")]
#[case::a_worker(busy(), "worker Kryll-1", "Crawling with 1 of 2 workers, and keeping up.")]
#[case::a_pod_and_the_worker_of_the_other(
    stuck(),
    "pod Kryll, worker Xylos-1",
    "Taking no new task: 2 workers are paused."
)]
#[case::a_host(busy(), "host a.test", "Crawling, and keeping up.")]
#[case::each_host(stuck(), "host a.test, host b.test", "Not crawling: each host is paused.")]
#[case::a_store(busy(), "store 7", "Crawling, and keeping up.")]
#[case::the_only_host(stuck().with(|world| world.hosts.truncate(1)), "host a.test", "Not crawling: host a.test is paused.")]
#[case::a_host_and_the_stores_of_the_other(
    stuck().with(|world| world.hosts[1].paused = 23),
    "host a.test, store 7",
    "Not crawling: each store or its host is paused."
)]
#[case::each_store(
    stuck().with(|world| world.hosts = vec![StoresOfHost { paused: 2, ..host("a.test", 2) }]),
    "store 7, store 8",
    "Not crawling: each store is paused."
)]
#[case::without_a_crawlable_store(busy().with(|world| world.hosts.clear()), "host a.test", "Crawling, and keeping up.")]
#[case::of_a_newer_program(busy(), "planet Mars", "Crawling, and keeping up.")]
fn the_verdict_names_the_pause_that_stops_the_crawl(#[case] world: World, #[case] pauses: &str, #[case] state: &str) {
    assert_eq!(world.paused(pauses).verdict().state, state);
}

#[rstest]
#[case::nothing(world(), "Idle: nothing waits.")]
#[case::a_media_job_that_no_worker_takes(world().ready(Role::ScrapeAccount, 1, 90_000.0), "Idle: no task of the crawl waits.")]
#[case::a_media_job_beside_a_crawl(busy().ready(Role::ScrapeAccount, 1, 90_000.0), "Crawling, and keeping up.")]
#[case::a_media_job_runs(world().running(Role::DownloadMedia, 1), "Idle: nothing waits.")]
#[case::a_notification_waits(world().ready(Role::Notify, 1, 90_000.0), "Idle: no task of the crawl waits.")]
#[case::tasks_are_not_due(world().pending(Role::PayloadFetch, 3), "Idle: no task of the crawl is due.")]
#[case::one_runs(world().running(Role::PayloadFetch, 1), "Crawling, and keeping up.")]
#[case::one_is_ready(world().ready(Role::AnalyticsRefresh, 1, 1.0), "Crawling, and keeping up.")]
fn the_verdict_counts_the_work_of_the_crawl_alone(#[case] world: World, #[case] state: &str) {
    assert_eq!(world.verdict().state, state);
}

#[rstest]
#[case::no_worker(busy().with(|world| world.workers.clear()), "Not crawling: no worker runs.")]
#[case::lost_ones(
    busy().with(|world| world.workers.iter_mut().for_each(|worker| worker.status = WorkerStatus::Offline)),
    "Not crawling: no worker runs."
)]
#[case::of_media_alone(
    busy().with(|world| world.workers = vec![worker("Kryll-1", "Kryll", "media")]),
    "Not crawling: no worker claims tasks of the crawl."
)]
#[case::one_of_media_beside_others(
    busy().with(|world| world.workers.push(worker("Zyx-1", "Zyx", "media"))),
    "Crawling, and keeping up."
)]
#[case::some_drain(
    busy().with(|world| world.workers[0].status = WorkerStatus::Draining),
    "Crawling with 1 of 2 workers, and keeping up."
)]
#[case::each_for_its_reason(
    busy().with(|world| {
        world.workers[0].status = WorkerStatus::BackingOff;
        world.workers[1].status = WorkerStatus::Paused;
    }),
    "Taking no new task: 1 worker is paused, 1 backs off."
)]
#[case::no_proxy(busy().with(|world| world.usable_proxies = 0), "Not crawling: no proxy is usable.")]
#[case::dead_proxies(
    busy().with(|world| world.proxies = HealthCounts { failing: 2, refused: 1, ..HealthCounts::default() }),
    "Crawling, but no proxy is healthy."
)]
#[case::untested_proxies(
    busy().with(|world| world.proxies = HealthCounts { failing: 2, untested: 1, ..HealthCounts::default() }),
    "Crawling, and keeping up."
)]
#[case::resting_proxies(
    busy().with(|world| world.resting = RestingProxies { proxies: 2, switched_on: 2, until: Some(now()) }),
    "Not crawling: every proxy rests until 2026-11-28 12:00 UTC, because the budget of the day is spent (proxies.budget_bytes_per_day)."
)]
#[case::no_store(busy().with(|world| world.stores.enabled = 0), "No store to crawl yet.")]
#[case::held_stores(stuck().with(|world| world.stores.held = 63), "Not crawling: every store waits for its host.")]
fn the_verdict_names_what_the_crawl_lacks(#[case] world: World, #[case] state: &str) {
    assert_eq!(world.verdict().state, state);
}

#[rstest]
#[case::of_a_pause(busy().paused("role payload_fetch"), "ann: repairs. 2 tasks are still running. 60 of 63 stores are fresh.")]
#[case::of_several(busy().paused("host a.test, host b.test"), "2 tasks are still running. 60 of 63 stores are fresh.")]
#[case::of_a_crawl(busy(), "60 of 63 stores are fresh.")]
#[case::without_a_schedule(world(), "60 of 63 stores are fresh. No schedule is enabled.")]
#[case::a_run_is_due(world().with(|world| world.next_run_at = Some(now())), "60 of 63 stores are fresh. The next run is due.")]
#[case::a_run_is_ahead(
    world().with(|world| world.next_run_at = "2026-11-29T08:05:00Z".parse().ok()),
    "60 of 63 stores are fresh. The next run is at 29 Nov 08:05 UTC."
)]
fn the_verdict_has_a_reason(#[case] world: World, #[case] why: &str) {
    assert_eq!(world.verdict().why, why);
}

#[rstest]
#[case::nothing("", None)]
#[case::another_role("role product_refresh", None)]
#[case::a_pod("pod Kryll", None)]
#[case::fetches("role payload_fetch", Some("role payload_fetch is paused by ann (repairs)"))]
#[case::the_widest("all, role payload_fetch", Some("everything is paused by ann (repairs)"))]
#[case::each_host("host a.test, host b.test", Some("each host is paused"))]
fn a_stopped_crawl_says_why(#[case] pauses: &str, #[case] why: Option<&str>) {
    let world = world().paused(pauses);
    assert_eq!(stopped(&world.pauses, &world.hosts, &world.resting).as_deref(), why);
}

//! Bombs and floods against a whole worker: each is stopped at its bound, and the memory of the process stays
//! within what its slots may hold.

use std::time::Duration;

use db::tasks::{self, NewTask};
use domain::store::Platform;
use domain::task::role::Role;
use sim::{Coding, Fault, FaultKind, Flood, FloodOf};

use testkit::{Child, Farm, until};

const MIB: usize = 1 << 20;
/// Number of tasks that may hold large answers at once: more would wait for them in the queue.
const SLOTS: usize = 2;
/// Maximum memory of a task beyond an idle process: a body as it came, and inflated.
const PER_TASK: usize = 64;

fn floods() -> Vec<Flood> {
    let flood = |of, mib: usize, codings: &[Coding]| Flood { of, bytes: mib * MIB, codings: codings.to_vec() };
    let all = [Coding::Gzip, Coding::Brotli, Coding::Deflate, Coding::Zstd];
    let mut floods: Vec<Flood> = all.iter().map(|coding| flood(FloodOf::Blanks, 256, &[*coding])).collect();
    floods.extend(all.iter().map(|coding| flood(FloodOf::Blanks, 256, &[*coding, Coding::Gzip])));
    floods.push(flood(FloodOf::Blanks, 1024, &[]));
    // up to the bound of a body, so that it is read, and beyond it
    for of in [FloodOf::TinyElements, FloodOf::TinyProducts, FloodOf::Brackets, FloodOf::Text] {
        floods.push(flood(of, 31, &[]));
        floods.push(flood(of, 31, &[Coding::Gzip]));
    }
    floods.push(flood(FloodOf::Text, 50, &[Coding::Gzip]));
    floods
}

#[tokio::test]
async fn floods_are_stopped_at_their_bounds_and_take_a_bounded_share_of_memory() {
    let floods = floods();
    let farm = Farm::with_stores(floods.len()).await;
    for (flood, store) in floods.iter().zip(farm.sim.stores()) {
        farm.sim.add_fault(Fault::new(FaultKind::Flood(flood.clone())).at_store(&store.platform_dispensary_id));
    }
    let mut command = farm.drover(&["worker", "--workers", "1", "--slots", &SLOTS.to_string()]);
    let worker = Child::spawn(&mut command).allow_errors(&["failed for good"]);
    let registered = "SELECT count(*) FROM worker_registry WHERE last_heartbeat_at IS NOT NULL";
    farm.until_counted("the worker is idle", registered, 1).await;
    let pid = worker.id().unwrap();
    let idle = memory(pid, "VmRSS:");
    // one attempt each: an answer too large now is too large later
    let task = |store: &i64| NewTask {
        dispensary_id: Some(*store),
        platform: Some(Platform::Dutchie.name().to_owned()),
        max_retries: Some(0),
        ..NewTask::new(Role::PayloadFetch)
    };
    let new: Vec<NewTask> = farm.stores.iter().map(task).collect();
    tasks::enqueue(&farm.db.client().await.unwrap(), &new).await.unwrap();

    let failed = "SELECT count(*) FROM worker_tasks WHERE status = 'failed'";
    until("all have failed", Duration::from_secs(240), async || farm.count(failed).await == floods.len() as i64).await;

    let more = (memory(pid, "VmHWM:") - idle) / 1024;
    println!("{more} MiB more than when idle ({} MiB) for {} floods", idle / 1024, floods.len());
    assert!(more < SLOTS * PER_TASK, "{more} MiB more than when idle");
    assert_eq!(farm.count("SELECT count(*) FROM raw_crawl_payloads").await, 0);
    assert_eq!(farm.sim.counts().direct_connections, 0);
}

/// Memory in kB.
fn memory(pid: u32, line: &str) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let value = status.lines().find_map(|text| text.strip_prefix(line)).unwrap();
    value.trim().trim_end_matches(" kB").parse().unwrap()
}

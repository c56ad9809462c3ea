//! Memory and CPU of this process and its container, sampled each second, and whether they say to claim
//! nothing new.
//!
//! Memory is the container's working set (cgroup v2 or v1: usage less inactive file pages), otherwise the
//! host's. CPU is the container's where it has a quota, otherwise this process's own, as a share of the CPUs
//! that it may use, averaged over 10 s; it counts only while a task runs here, so that a busy neighbour never
//! starves this process. In: /proc and cgroup files. Out: [`Load`]. It must not know what workers do about
//! it.

mod cgroup;

use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use sysinfo::{MemoryRefreshKind, ProcessRefreshKind, ProcessesToUpdate, System};
use tokio::sync::watch;
use tokio::time::MissedTickBehavior;

use cgroup::{Memory, allowed_cpus, cpu_time_of_container};
use domain::worker::Resources;
use queue::held_tasks::HeldTasks;
use settings::LiveConfig;
use supervision::background::{Background, BackgroundLoop};
use telemetry::events::{self, Backoff};

const SAMPLE_INTERVAL: Duration = Duration::from_secs(1);
const MAX_CPU_SAMPLES: usize = 10;
const CGROUP: &str = "/sys/fs/cgroup";

/// The latest sample, and why nothing new is claimed, if so.
#[derive(Clone, Debug, Default)]
pub struct Load {
    pub used: Resources,
    pub backoff: Option<Backoff>,
}

/// Samples in the background until the last receiver is gone.
pub fn start_sampling(live: LiveConfig, held_tasks: HeldTasks, background: &Background) -> watch::Receiver<Load> {
    let mut sampler = Sampler::new(held_tasks);
    let (loads, receiver) = watch::channel(sampler.sample(&live.current().config.worker));
    background.start("sampler of resources", Sampling { live, sampler, loads });
    receiver
}

struct Sampling {
    live: LiveConfig,
    sampler: Sampler,
    loads: watch::Sender<Load>,
}

impl BackgroundLoop for Sampling {
    async fn run(&mut self) {
        let mut tick = tokio::time::interval(SAMPLE_INTERVAL);
        // samples in a row would shrink the average's window
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.loads.is_closed() {
            tick.tick().await;
            fail::fail_point!("resources");
            self.loads.send_replace(self.sampler.sample(&self.live.current().config.worker));
        }
    }
}

struct Sampler {
    held_tasks: HeldTasks,
    system: System,
    cpu: VecDeque<(Instant, Duration)>,
    /// End and reason of the time in which it backs off.
    backing_off: Option<(Instant, Backoff)>,
}

impl Sampler {
    fn new(held_tasks: HeldTasks) -> Self {
        Sampler { held_tasks, system: System::new(), cpu: VecDeque::new(), backing_off: None }
    }

    fn sample(&mut self, config: &settings::Worker) -> Load {
        let now = Instant::now();
        let memory = self.memory();
        let cpu_share = self.cpu_share(now);
        self.update_backoff(config, now, memory.share(), cpu_share);
        events::resources_sampled(memory.share(), cpu_share, self.held_tasks.count());
        Load { used: self.resources(&memory, cpu_share), backoff: self.backing_off.map(|(_, why)| why) }
    }

    fn update_backoff(&mut self, config: &settings::Worker, now: Instant, memory: f64, cpu: f64) {
        let (max_memory, max_cpu) = (config.memory_backoff_threshold, config.cpu_backoff_threshold);
        let too_much = if max_memory > 0.0 && memory > max_memory {
            Some(Backoff::Memory { share: memory, threshold: max_memory })
        } else if max_cpu > 0.0 && cpu > max_cpu && self.held_tasks.count() > 0 {
            Some(Backoff::Cpu { share: cpu, threshold: max_cpu })
        } else {
            None
        };
        match too_much {
            Some(why) => self.backing_off = Some((now + config.backoff_duration, why)),
            None => self.backing_off = self.backing_off.filter(|(until, _)| now < *until),
        }
    }

    fn memory(&mut self) -> Memory {
        Memory::of_container(Path::new(CGROUP)).unwrap_or_else(|| {
            self.system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
            Memory { used: self.system.used_memory(), total: self.system.total_memory() }
        })
    }

    /// The share of the container's CPUs, otherwise the machine's, over the window.
    fn cpu_share(&mut self, now: Instant) -> f64 {
        let Some(used) = cpu_time_of_container(Path::new(CGROUP)).or_else(own_cpu_time) else { return 0.0 };
        self.cpu.push_back((now, used));
        if self.cpu.len() > MAX_CPU_SAMPLES + 1 {
            self.cpu.pop_front();
        }
        let Some((first_at, first_used)) = self.cpu.front() else { return 0.0 };
        let elapsed = now.saturating_duration_since(*first_at).as_secs_f64();
        if elapsed < 0.5 {
            return 0.0;
        }
        used.saturating_sub(*first_used).as_secs_f64() / elapsed / allowed_cpus(Path::new(CGROUP))
    }

    fn resources(&mut self, memory: &Memory, cpu_share: f64) -> Resources {
        let rss = self.rss();
        let (user, system) = cpu_times().unwrap_or_default();
        // `memory_mb` and `memory_rss_mb` are this process; `memory_total_mb` and `memory_percent` are its
        // container
        Resources {
            memory_mb: rss >> 20,
            memory_total_mb: memory.total >> 20,
            memory_rss_mb: rss >> 20,
            memory_percent: (memory.share() * 1000.0).round() / 10.0,
            cpu_user_ms: user.as_millis() as u64,
            cpu_system_ms: system.as_millis() as u64,
            cpu_percent: (cpu_share * 1000.0).round() / 10.0,
            is_backing_off: false,
            backoff_reason: None,
        }
    }

    fn rss(&mut self) -> u64 {
        let Ok(me) = sysinfo::get_current_pid() else { return 0 };
        self.system.refresh_processes_specifics(
            ProcessesToUpdate::Some(&[me]),
            false,
            ProcessRefreshKind::nothing().with_memory(),
        );
        self.system.process(me).map_or(0, sysinfo::Process::memory)
    }
}

fn own_cpu_time() -> Option<Duration> {
    cpu_times().map(|(user, system)| user + system)
}

fn cpu_times() -> Option<(Duration, Duration)> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let duration =
        |time: nix::sys::time::TimeVal| Duration::new(time.tv_sec().max(0) as u64, time.tv_usec().max(0) as u32 * 1000);
    Some((duration(usage.user_time()), duration(usage.system_time())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use queue::held_tasks::HeldTask;

    #[test]
    fn cpu_holds_back_only_while_a_task_runs_here() {
        let settings = [("worker.memory_backoff_threshold", "0"), ("worker.cpu_backoff_threshold", "0.9")];
        let config = settings::Config::with(&settings).unwrap().worker;
        let held_tasks = HeldTasks::default();
        let mut sampler = Sampler::new(held_tasks.clone());
        let now = Instant::now();
        sampler.update_backoff(&config, now, 0.0, 0.95);
        assert_eq!(sampler.backing_off, None);
        let lease = domain::task::TaskLease { id: 1, fence: 1, worker_id: "w".to_owned() };
        let _stop_signal = held_tasks.enter(HeldTask { lease, task_actor: 1, is_suspect: false, stop_at: now });
        sampler.update_backoff(&config, now, 0.0, 0.95);
        assert!(sampler.backing_off.is_some());
        sampler.update_backoff(&config, now + Duration::from_secs(9), 0.0, 0.1);
        assert!(sampler.backing_off.is_some(), "it lasts for the whole duration");
        sampler.update_backoff(&config, now + Duration::from_secs(11), 0.0, 0.1);
        assert_eq!(sampler.backing_off, None);
    }
}

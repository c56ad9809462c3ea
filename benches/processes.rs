//! CPU and memory that processes have used, by Linux's /proc.

use std::fs;

use anyhow::{Context, Result};
use nix::unistd::{SysconfVar, sysconf};

/// CPU seconds of a process, and of its children that have ended.
pub fn cpu(pid: u32) -> Result<f64> {
    Ok(Stat::of(pid)?.seconds())
}

/// CPU seconds of a process and of all its children, running and ended.
pub fn family_cpu(parent: u32) -> Result<f64> {
    // first: a child that ends meanwhile is then counted by its parent
    let children: f64 = children(parent)?.map(|(_, stat)| stat.seconds()).sum();
    Ok(children + cpu(parent)?)
}

/// The most memory that a process and its running children ever held, in bytes, each by itself.
pub fn family_peak_rss(parent: u32) -> Result<u64> {
    let children: u64 = children(parent)?.filter_map(|(pid, _)| peak_rss(pid).ok()).sum();
    Ok(children + peak_rss(parent)?)
}

fn children(parent: u32) -> Result<impl Iterator<Item = (u32, Stat)>> {
    let pids = fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let stats = pids.filter_map(|pid| Some((pid, Stat::of(pid).ok()?)));
    Ok(stats.filter(move |(_, stat)| stat.parent == parent))
}

/// CPU seconds that the whole machine has been busy.
pub fn machine_cpu() -> Result<f64> {
    let text = fs::read_to_string("/proc/stat")?;
    let line = text.lines().next().context("/proc/stat is empty")?;
    // user, nice, system, (idle, iowait,) irq, softirq
    let ticks: Vec<f64> = line.split_whitespace().skip(1).flat_map(str::parse).collect();
    Ok([0, 1, 2, 5, 6].iter().filter_map(|at| ticks.get(*at)).sum::<f64>() / ticks_per_second())
}

/// The most memory that the process ever held, in bytes.
pub fn peak_rss(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kilobytes * 1024)
}

pub fn parent(pid: u32) -> Result<u32> {
    Ok(Stat::of(pid)?.parent)
}

struct Stat {
    parent: u32,
    ticks: f64,
}

impl Stat {
    fn of(pid: u32) -> Result<Stat> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // the name, in parentheses, may hold anything
        let fields: Vec<&str> = text.rsplit_once(')').context("no name")?.1.split_whitespace().collect();
        let ticks = fields.get(11..15).context("too few fields")?.iter().flat_map(|field| field.parse::<f64>()).sum();
        Ok(Stat { parent: fields[1].parse()?, ticks })
    }

    fn seconds(&self) -> f64 {
        self.ticks / ticks_per_second()
    }
}

fn ticks_per_second() -> f64 {
    sysconf(SysconfVar::CLK_TCK).ok().flatten().unwrap_or(100) as f64
}

//! A container's limits and usage of memory and CPU, by the files of cgroup v2 or v1.
//!
//! In: the root of the cgroup files. Out: numbers, or None without a cgroup or a limit. It must not
//! know what they are compared with.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// Memory in bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    pub used: u64,
    pub total: u64,
}

impl Memory {
    pub fn share(&self) -> f64 {
        if self.total == 0 { 0.0 } else { self.used as f64 / self.total as f64 }
    }

    /// Memory of the container; None where there is no cgroup, or one without a limit.
    pub fn of_container(root: &Path) -> Option<Memory> {
        let v1 = root.join("memory");
        let (usage, limit, stat, inactive) = if v1.is_dir() {
            (
                v1.join("memory.usage_in_bytes"),
                v1.join("memory.limit_in_bytes"),
                v1.join("memory.stat"),
                "total_inactive_file",
            )
        } else {
            (root.join("memory.current"), root.join("memory.max"), root.join("memory.stat"), "inactive_file")
        };
        let total = number(&limit).filter(|limit| *limit < 1 << 60)?;
        let inactive = field(&fs::read_to_string(stat).ok()?, inactive).unwrap_or(0);
        Some(Memory { used: number(&usage)?.saturating_sub(inactive), total })
    }
}

/// CPU time of the container; None where there is no quota: then the container's CPUs are the machine's.
pub fn cpu_time_of_container(root: &Path) -> Option<Duration> {
    quota(root)?;
    if let Ok(stat) = fs::read_to_string(root.join("cpu.stat"))
        && let Some(micros) = field(&stat, "usage_usec")
    {
        return Some(Duration::from_micros(micros));
    }
    number(&root.join("cpuacct/cpuacct.usage")).map(Duration::from_nanos)
}

/// CPUs that the container may use, otherwise the machine's.
pub fn allowed_cpus(root: &Path) -> f64 {
    let machine = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    quota(root).map_or(machine, |quota| quota.min(machine))
}

fn quota(root: &Path) -> Option<f64> {
    if let Ok(text) = fs::read_to_string(root.join("cpu.max")) {
        let (quota, period) = text.trim().split_once(' ')?;
        return Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?);
    }
    let quota = number(&root.join("cpu/cpu.cfs_quota_us"))?;
    Some(quota as f64 / number(&root.join("cpu/cpu.cfs_period_us"))? as f64)
}

fn number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// `name 123` among the lines of a cgroup file.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cgroup(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn working_set_leaves_out_inactive_file_pages_in_v2() {
        let root = cgroup(&[
            ("memory.current", "900\n"),
            ("memory.max", "1000\n"),
            ("memory.stat", "anon 1\ninactive_file 400\n"),
        ]);
        assert_eq!(Memory::of_container(root.path()), Some(Memory { used: 500, total: 1000 }));
    }

    #[test]
    fn working_set_leaves_out_inactive_file_pages_in_v1() {
        let root = cgroup(&[
            ("memory/memory.usage_in_bytes", "900"),
            ("memory/memory.limit_in_bytes", "1000"),
            ("memory/memory.stat", "inactive_file 1\ntotal_inactive_file 300\n"),
        ]);
        assert_eq!(Memory::of_container(root.path()), Some(Memory { used: 600, total: 1000 }));
    }

    #[test]
    fn a_cgroup_without_a_limit_is_the_hosts() {
        let root = cgroup(&[("memory.current", "900"), ("memory.max", "max"), ("memory.stat", "")]);
        assert_eq!(Memory::of_container(root.path()), None);
    }

    #[test]
    fn cpu_quota_is_read_in_both_versions() {
        assert_eq!(quota(cgroup(&[("cpu.max", "150000 100000\n")]).path()), Some(1.5));
        assert_eq!(quota(cgroup(&[("cpu.max", "max 100000\n")]).path()), None);
        let v1 = cgroup(&[("cpu/cpu.cfs_quota_us", "50000"), ("cpu/cpu.cfs_period_us", "100000")]);
        assert_eq!(quota(v1.path()), Some(0.5));
    }
}

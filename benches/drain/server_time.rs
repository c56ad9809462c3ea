//! The processor time that a server and its processes have used.
//!
//! In: a connection to a server of this machine. Out: a time, also of processes that have ended.

use std::path::Path;
use std::time::Duration;

use nix::unistd::{SysconfVar, sysconf};
use tokio_postgres::Client;

/// Fields of `/proc/PID/stat`, counted after the program's name.
const PARENT: usize = 1;
const OWN: std::ops::Range<usize> = 11..13;
const ENDED_CHILDREN: std::ops::Range<usize> = 13..15;

pub async fn of(client: &Client) -> Duration {
    let backend: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await.unwrap().get(0);
    let server = stat(&backend.to_string()).unwrap()[PARENT];
    let children = std::fs::read_dir("/proc").unwrap().filter_map(|entry| stat(entry.ok()?.file_name().to_str()?));
    let running: u64 = children.filter(|stat| stat[PARENT] == server).flat_map(|stat| stat[OWN].to_vec()).sum();
    let parent = stat(&server.to_string()).unwrap();
    let ticks = running + parent[OWN].iter().chain(&parent[ENDED_CHILDREN]).sum::<u64>();
    let ticks_per_second = sysconf(SysconfVar::CLK_TCK).unwrap().unwrap();
    Duration::from_secs_f64(ticks as f64 / ticks_per_second as f64)
}

/// Numbers after the name; a letter is 0.
fn stat(pid: &str) -> Option<Vec<u64>> {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat")).ok()?;
    Some(stat.rsplit(')').next()?.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect())
}

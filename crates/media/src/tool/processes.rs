//! Processes of a tool, found by their group and by their work directory.
//!
//! In: a group, a directory. Out: whether all of them have ended. A process that has left its group is found
//! by its `HOME`, which is the work directory; only Linux shows that.

use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

const MAX_WAIT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(5);

/// Kills the processes of a directory, and of a group that is known to be its own, until none is left; false
/// when one is.
pub fn end_all(group: Option<Pid>, directory: &Path) -> bool {
    let begun = Instant::now();
    loop {
        if let Some(group) = group {
            let _ = killpg(group, Signal::SIGKILL);
        }
        if !kill_living(group, directory) {
            return true;
        }
        if begun.elapsed() > MAX_WAIT {
            return false;
        }
        std::thread::park_timeout(POLL);
    }
}

pub use system::{kill_living, start_time};

#[cfg(target_os = "linux")]
mod system {
    use std::fs::{self, File};
    use std::io::Read;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use nix::sys::signal::{Signal, kill};
    use nix::unistd::{Pid, getpid};

    /// Maximum number of bytes read of a process's environment; a tool's has a few hundred.
    const MAX_ENVIRONMENT: u64 = 256 << 10;

    /// Whether there were any. Zombies have ended: reading their end is their parent's business. Each is
    /// killed where it is found, before its number can be another's.
    pub fn kill_living(group: Option<Pid>, directory: &Path) -> bool {
        let mut found = false;
        for pid in living(group, directory) {
            let _ = kill(pid, Signal::SIGKILL);
            found = true;
        }
        found
    }

    /// The boot and the clock tick in which a process began: its number may be given out again, but not with
    /// the same time.
    pub fn start_time(pid: Pid) -> Option<String> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let stat = Stat::of(pid).filter(|stat| !stat.is_zombie)?;
        Some(format!("{}/{}", boot.trim(), stat.start))
    }

    fn living(group: Option<Pid>, directory: &Path) -> impl Iterator<Item = Pid> {
        let home = [b"HOME=", directory.as_os_str().as_bytes()].concat();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().map(Pid::from_raw));
        let is_ours = move |pid: &Pid| {
            let Some(stat) = Stat::of(*pid).filter(|stat| !stat.is_zombie) else { return false };
            group.is_some_and(|group| group.as_raw() == stat.group) || has_variable(*pid, &home)
        };
        pids.filter(|pid| *pid != getpid()).filter(is_ours)
    }

    struct Stat {
        is_zombie: bool,
        group: i32,
        start: String,
    }

    impl Stat {
        /// `4242 (sh) S ppid group …`: the name may hold spaces and brackets. The start is field 22 of them
        /// all.
        fn of(pid: Pid) -> Option<Stat> {
            // the kernel cuts a name between any two bytes
            let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
            let text = String::from_utf8_lossy(&text);
            let fields: Vec<&str> = text.rsplit_once(") ")?.1.split(' ').collect();
            let is_zombie = matches!(*fields.first()?, "Z" | "X");
            Some(Stat { is_zombie, group: fields.get(2)?.parse().ok()?, start: (*fields.get(19)?).to_owned() })
        }
    }

    fn has_variable(pid: Pid, variable: &[u8]) -> bool {
        let mut environment = vec![];
        let file = File::open(format!("/proc/{pid}/environ"));
        let read = file.and_then(|file| file.take(MAX_ENVIRONMENT).read_to_end(&mut environment));
        read.is_ok() && environment.split(|byte| *byte == 0).any(|found| found == variable)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::Path;
    use std::process::Command;

    use nix::sys::signal::killpg;
    use nix::unistd::Pid;

    pub fn kill_living(group: Option<Pid>, _: &Path) -> bool {
        group.is_some_and(|group| killpg(group, None).is_ok())
    }

    pub fn start_time(pid: Pid) -> Option<String> {
        let shown = Command::new("/bin/ps").args(["-o", "lstart=", "-p", &pid.to_string()]).output().ok()?;
        let time = String::from_utf8(shown.stdout).ok()?.split_whitespace().collect::<Vec<_>>().join("-");
        (!time.is_empty()).then_some(time)
    }
}

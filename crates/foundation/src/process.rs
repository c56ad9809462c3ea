//! `ProcessIdentity`: names a process across restarts and machines, so that a successor can tell whether it has ended.
//!
//! In: the system's identity of this boot and of the process numbers. Out: whether a process is known to have ended. It must
//! not know what the process did.

use std::sync::LazyLock;

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::Pid;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// Name of its machine or container.
    pub host: String,
    pub pid: i32,
    /// Space in which its number is unique: this boot of the machine, and the container. None: unknown to the system.
    pub pid_space: Option<String>,
}

impl ProcessIdentity {
    pub fn own(host: &str) -> ProcessIdentity {
        ProcessIdentity { host: host.to_owned(), pid: nix::unistd::getpid().as_raw(), pid_space: PID_SPACE.clone() }
    }

    /// Whether `other` is certain to have ended. A number that was given out again counts as a process that lives; one that was
    /// killed has ended, though its parent has not read that yet.
    pub fn knows_end_of(&self, other: &ProcessIdentity) -> bool {
        let is_visible = self.pid_space.is_some() && self.pid_space == other.pid_space;
        is_visible && other.pid != self.pid && other.pid > 0 && has_ended(other.pid)
    }
}

fn has_ended(pid: i32) -> bool {
    kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH) || is_zombie(pid)
}

#[cfg(target_os = "linux")]
fn is_zombie(pid: i32) -> bool {
    // `4242 (drover) Z 1 …`: the name may hold spaces and brackets
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']))
}

#[cfg(not(target_os = "linux"))]
fn is_zombie(_: i32) -> bool {
    false
}

/// Space of process ids, read once: it never changes while a process runs.
static PID_SPACE: LazyLock<Option<String>> = LazyLock::new(pid_space);

/// The identity of this boot, and the namespace of process numbers.
#[cfg(target_os = "linux")]
fn pid_space() -> Option<String> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = std::fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{} {}", boot.trim(), namespace.display()))
}

#[cfg(not(target_os = "linux"))]
fn pid_space() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    fn identity_of(pid: u32) -> ProcessIdentity {
        ProcessIdentity { pid: pid as i32, ..ProcessIdentity::own("here") }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_has_ended_is_known_in_its_own_space_alone() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let (own, other) = (ProcessIdentity::own("here"), identity_of(child.id()));
        assert!(!own.knows_end_of(&other), "it lives");
        child.kill().unwrap();
        while !own.knows_end_of(&other) {
            // a zombie within a moment, as no one waits for it
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(own.knows_end_of(&other));
        for pid_space in [None, Some("another boot".to_owned())] {
            assert!(!own.knows_end_of(&ProcessIdentity { pid_space, ..other.clone() }));
        }
    }

    #[test]
    fn a_process_never_takes_itself_or_the_first_one_for_ended() {
        let own = ProcessIdentity::own("here");
        assert!(!own.knows_end_of(&own));
        assert!(!own.knows_end_of(&identity_of(1)));
    }
}

//! The server's processes: finds, starts and stops the server, and cleans up after a crashed one.

use std::fs;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::account::Account;
use super::{Install, Layout, PrivateServerError, io};

const POLL: Duration = Duration::from_millis(10);
const ORPHANS_DEADLINE: Duration = Duration::from_secs(20);
/// Fast (clients are cut off, data is written), then immediate (the next start recovers).
const STOP_STEPS: [(Signal, Duration); 2] =
    [(Signal::SIGINT, Duration::from_secs(30)), (Signal::SIGQUIT, Duration::from_secs(10))];

/// Settings for a queue on one machine: connections for every pool, a short autovacuum_naptime, no JIT for short statements.
const SETTINGS: [&str; 15] = [
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "max_connections=200",
    "shared_buffers=128MB",
    "wal_buffers=16MB", // of the default 4 MB a crawl fills all while the disk syncs, and then every write waits, heartbeats too
    "max_wal_size=1GB",
    "wal_compression=on",
    "autovacuum_naptime=20s",
    "jit=off",
    "timezone=UTC",
    "log_timezone=UTC",
    "log_checkpoints=off",
    "log_min_messages=warning",
    "log_error_verbosity=terse", // DETAIL repeats whole rows, passwords of proxies included
    "log_min_error_statement=panic", // the program logs its own failed statements, once
];

/// One of the server's programs under its account, with an empty environment: variables such as PG* would
/// change it.
pub fn command(install: &Install, program: &str, account: Option<&Account>) -> Command {
    let mut command = Command::new(install.bin.join(program));
    command.current_dir("/").stdin(Stdio::null()).env_clear().env("LC_ALL", "C").env("PATH", "/usr/bin:/bin");
    if let Some(account) = account {
        command.uid(account.uid).gid(account.gid);
    }
    command
}

/// Starts the server, after removing the files that a crashed one left behind; None when another process has
/// just started it.
pub fn spawn(
    layout: &Layout,
    install: &Install,
    account: Option<&Account>,
    settings: &[String],
) -> Result<Option<Child>, PrivateServerError> {
    if !passes_within(ORPHANS_DEADLINE, || running(layout).is_some() || !has_orphans(&layout.data)) {
        return Err(PrivateServerError::Orphans(layout.data.clone()));
    }
    if running(layout).is_some() {
        return Ok(None);
    }
    clear_stale(layout);
    let mut postgres = command(install, "postgres", account);
    postgres.arg("-D").arg(&layout.data);
    if cfg!(target_os = "linux") {
        // recovery would otherwise sync every single file before it begins
        postgres.args(["-c", "recovery_init_sync_method=syncfs"]);
    }
    postgres.arg("-c").arg(format!("unix_socket_directories={}", layout.socket_dir.display()));
    for setting in SETTINGS.into_iter().chain(settings.iter().map(String::as_str)) {
        postgres.args(["-c", setting]);
    }
    let log = layout.open_log(account)?;
    let errors = log.try_clone().map_err(io("open the server's log"))?;
    postgres.stdout(log).stderr(errors).spawn().map(Some).map_err(io("run postgres"))
}

/// The pid of the live server of exactly this cluster.
pub fn running(layout: &Layout) -> Option<Pid> {
    let pid = pid_file_line(layout, 0)?.parse().ok().map(Pid::from_raw)?;
    (is_alive(pid) && is_server(layout, pid)).then_some(pid)
}

/// Whether the server accepts connections, by its pid file: test connections would fill its log.
pub fn is_ready(layout: &Layout) -> bool {
    pid_file_line(layout, 7).is_some_and(|state| state == "ready") && running(layout).is_some()
}

/// Stops the server by the steps of [`STOP_STEPS`]. Ok when none runs.
pub fn stop(layout: &Layout) -> Result<(), PrivateServerError> {
    for (signal, limit) in STOP_STEPS {
        let Some(pid) = running(layout) else { return Ok(()) };
        let _ = kill(pid, signal);
        if passes_within(limit, || running(layout).is_none()) {
            return Ok(());
        }
    }
    Err(PrivateServerError::Stop(layout.dir.clone()))
}

/// Polls `condition`, the only way to watch a process that is not a child.
pub fn passes_within(limit: Duration, condition: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        if condition() {
            return true;
        }
        pause(POLL);
    }
    condition()
}

/// Pauses the keeper or a start, which run on threads of their own.
#[expect(clippy::disallowed_methods, reason = "there is no runtime here, and the thread has no other work")]
pub fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// The log's last lines, for an error message.
pub fn log_tail(layout: &Layout) -> String {
    let text = fs::read(layout.log()).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

fn pid_file_line(layout: &Layout, line: usize) -> Option<String> {
    let text = fs::read_to_string(layout.pid_file()).ok()?;
    text.lines().nth(line).map(|line| line.trim().to_owned())
}

fn is_alive(pid: Pid) -> bool {
    matches!(kill(pid, None), Ok(()) | Err(Errno::EPERM))
}

/// Pids are reused after a crash, so the process's working directory, a server's data directory, is compared.
/// Without /proc (macOS), a server that listens on the socket is this cluster's. A zombie has neither.
fn is_server(layout: &Layout, pid: Pid) -> bool {
    if !has_proc() {
        return UnixStream::connect(layout.socket()).is_ok();
    }
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == layout.data)
}

/// A lock file whose pid has been reused would keep a new server from starting. A server that is stopped
/// removes its own.
fn clear_stale(layout: &Layout) {
    if !has_proc() || !layout.pid_file().exists() {
        return;
    }
    for stale in [layout.pid_file(), layout.socket(), layout.socket_dir.join(".s.PGSQL.5432.lock")] {
        let _ = fs::remove_file(stale);
    }
}

/// Whether children of a killed server still run; they end by themselves after a moment. Without /proc, left
/// to the server's own checks.
fn has_orphans(data: &Path) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut numbered =
        processes.filter(|entry| entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit));
    numbered.any(|entry| fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == data))
}

fn has_proc() -> bool {
    Path::new("/proc/self").exists()
}

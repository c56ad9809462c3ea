//! `Cage::start`: starts a tool in its process group, and a thread that keeps it until nothing of the group
//! is left.
//!
//! In: a prepared program. Out: its pipes, and its [`Group`]. The thread starts the tool, because
//! PR_SET_PDEATHSIG fires when the *thread* that started a process ends: threads of a runtime end when they
//! have been idle. It reaps the tool only after the last signal was sent: until then its number is taken,
//! and a signal to the group reaches no stranger.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStderr, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, getpid};
use tokio::sync::{OwnedMutexGuard, oneshot};
use tokio::time::timeout;

use super::{Command, Limits, WorkDirectory, processes};

/// The descriptor of the configuration, in the tool.
const CONFIGURATION: RawFd = 3;
/// SIGKILL is obeyed at once, unless the kernel itself waits for a disk.
const MAX_WAIT_FOR_KILLED: Duration = Duration::from_secs(15);

/// A program that can be started, and nothing of it runs yet.
pub struct Cage {
    command: std::process::Command,
    configuration: Option<(PipeReader, PipeWriter)>,
    directory: WorkDirectory,
    /// The turn in the directory: the tool of a run that was dropped may still be there.
    _turn: OwnedMutexGuard<()>,
}

pub struct Started {
    pub pipes: Pipes,
    pub group: Group,
}

pub struct Pipes {
    pub stdin: Option<ChildStdin>,
    pub fd3: Option<PipeWriter>,
    pub stdout: Option<ChildStdout>,
    pub stderr: Option<ChildStderr>,
}

/// The processes of a tool. They are killed when it is dropped.
pub struct Group {
    leader: Pid,
    exited: Option<oneshot::Receiver<()>>,
    /// Prevents, while it exists, that the tool is reaped.
    unreaped: Option<mpsc::Sender<()>>,
    reaped: oneshot::Receiver<io::Result<ExitStatus>>,
}

impl Cage {
    pub async fn new(program: &Path, command: &Command, directory: &WorkDirectory) -> io::Result<Cage> {
        let turn = timeout(MAX_WAIT_FOR_KILLED, directory.turn()).await;
        let turn = turn.map_err(|_| io::Error::other("the tool before it does not end"))?;
        let configuration = command.fd3.as_ref().map(|_| io::pipe()).transpose()?;
        let mut prepared = std::process::Command::new(program);
        prepared.args(&command.args).current_dir(directory.path()).process_group(0);
        prepared.env_clear().env("PATH", &command.search_path).env("HOME", directory.path());
        prepared.env("LANG", "C.UTF-8").env("PYTHONUNBUFFERED", "1");
        prepared.stdin(if command.stdin.is_empty() { Stdio::null() } else { Stdio::piped() });
        prepared.stdout(Stdio::piped()).stderr(Stdio::piped());
        let command = limited(prepared, &command.limits)?;
        Ok(Cage { command, configuration, directory: directory.clone(), _turn: turn })
    }

    pub async fn start(self) -> io::Result<Started> {
        let (report, started) = oneshot::channel();
        // one thread a tool; it lasts longer than the tool
        std::thread::Builder::new().name("tool".to_owned()).spawn(move || self.keep(report))?;
        started.await.unwrap_or_else(|_| Err(io::Error::other("its thread has ended")))
    }

    fn keep(mut self, report: oneshot::Sender<io::Result<Started>>) {
        let mut child = match self.spawn() {
            Ok(child) => child,
            Err(error) => {
                self.directory.clear_record();
                let _ = report.send(Err(error));
                return;
            }
        };
        let leader = Pid::from_raw(child.id().cast_signed());
        // before the tool has its input, and before a line of its output is read
        let recorded = self.directory.record(leader);
        let (tell_exit, exited) = oneshot::channel();
        let (unreaped, last_signal_sent) = mpsc::channel();
        let (tell_end, reaped) = oneshot::channel();
        let group = Group { leader, exited: Some(exited), unreaped: Some(unreaped), reaped };
        let fd3 = self.configuration.take().map(|(_, writer)| writer);
        let pipes = Pipes { stdin: child.stdin.take(), fd3, stdout: child.stdout.take(), stderr: child.stderr.take() };
        // where it cannot be received it is dropped, and its group is killed
        let _ = report.send(recorded.map(|()| Started { pipes, group }));

        wait_without_reaping(leader);
        let _ = tell_exit.send(());
        let _ = last_signal_sent.recv();
        let _ = killpg(leader, Signal::SIGKILL);
        let status = match processes::end_all(Some(leader), self.directory.path()) {
            true => child.wait().inspect(|_| self.directory.clear_record()),
            // the record stays, so that whoever locks the directory next looks for it again
            false => Err(io::Error::other("a process of it does not end, though it was killed")),
        };
        // the next run may lock the directory as soon as this one is known to have ended
        drop(self);
        let _ = tell_end.send(status);
    }

    fn spawn(&mut self) -> io::Result<std::process::Child> {
        self.directory.expect_tool()?;
        let Some((reader, _)) = &self.configuration else { return self.command.spawn() };
        // std opens a pipe of its own for the start: it must not become descriptor 3, which is replaced in
        // the child
        let _placeholder = duplicate_from(&File::open("/dev/null")?, CONFIGURATION)?;
        let reader = duplicate_from(reader, CONFIGURATION + 1)?;
        let source = reader.as_raw_fd();
        // SAFETY: dup2 is safe between fork and exec, and `reader` is open until the child was started
        unsafe {
            self.command
                .pre_exec(move || Errno::result(libc::dup2(source, CONFIGURATION)).map(drop).map_err(Into::into));
        }
        self.command.spawn()
    }
}

impl Group {
    /// Signals all processes of the tool; nothing happens where all have ended.
    pub fn signal(&self, signal: Signal) {
        let _ = killpg(self.leader, signal);
    }

    /// Returns when the group's first process has ended. May be dropped and called again.
    pub async fn exited(&mut self) {
        if let Some(exited) = &mut self.exited {
            let _ = exited.await;
            self.exited = None;
        }
    }

    /// Kills what is left, and returns when nothing is.
    pub async fn end(mut self) -> io::Result<ExitStatus> {
        self.kill();
        match timeout(MAX_WAIT_FOR_KILLED, &mut self.reaped).await {
            Ok(Ok(status)) => status,
            Ok(Err(_)) => Err(io::Error::other("its thread has ended")),
            Err(_) => Err(io::Error::other("it does not end, though it was killed")),
        }
    }

    fn kill(&mut self) {
        if let Some(unreaped) = self.unreaped.take() {
            self.signal(Signal::SIGKILL);
            drop(unreaped);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The limits are set between fork and exec: set from outside they would come too late, a shell that sets
/// them would be one more program to trust with the arguments, and `prlimit` and `setpriv` exist on Linux
/// alone.
fn limited(mut command: std::process::Command, limits: &Limits) -> io::Result<std::process::Command> {
    let mut wanted = vec![
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_NOFILE, limits.open_files),
        (Resource::RLIMIT_FSIZE, limits.file_size),
    ];
    if cfg!(target_os = "linux") {
        wanted.push((Resource::RLIMIT_AS, limits.address_space));
    }
    for (resource, limit) in &mut wanted {
        // only root may raise a hard limit
        *limit = getrlimit(*resource)?.1.min(*limit);
    }
    let parent = getpid();
    // SAFETY: setrlimit, prctl and getppid are safe between fork and exec; nothing is allocated there
    unsafe {
        command.pre_exec(move || {
            for (resource, limit) in &wanted {
                setrlimit(*resource, *limit, *limit)?;
            }
            die_with(parent)
        });
    }
    Ok(command)
}

/// Kills at once: without a parent, no one could send SIGKILL later.
#[cfg(target_os = "linux")]
fn die_with(parent: Pid) -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
    match nix::unistd::getppid() == parent {
        true => Ok(()),
        // it died before the call above
        false => Err(Errno::ESRCH.into()),
    }
}

/// Other systems have nothing like it: the next sweep ends the group.
#[cfg(not(target_os = "linux"))]
fn die_with(_: Pid) -> io::Result<()> {
    Ok(())
}

fn duplicate_from(source: &impl std::os::fd::AsFd, at_least: RawFd) -> io::Result<OwnedFd> {
    let duplicate = fcntl(source.as_fd(), FcntlArg::F_DUPFD_CLOEXEC(at_least))?;
    // SAFETY: the descriptor is new, and no one else's
    Ok(unsafe { std::os::fd::FromRawFd::from_raw_fd(duplicate) })
}

fn wait_without_reaping(pid: Pid) {
    let mut info = std::mem::MaybeUninit::<libc::siginfo_t>::zeroed();
    let (id, options) = (pid.as_raw().cast_unsigned(), libc::WEXITED | libc::WNOWAIT);
    // SAFETY: `info` is writable and as large as the call expects
    let mut wait = || unsafe { libc::waitid(libc::P_PID, id, info.as_mut_ptr(), options) };
    while Errno::result(wait()) == Err(Errno::EINTR) {}
}

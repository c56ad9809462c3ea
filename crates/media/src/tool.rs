//! `run`: one external tool in a cage: a process group of its own, limits, an empty environment, pipes with
//! bounds.
//!
//! In: a [`Command`] and a locked [`WorkDirectory`]. Out: the lines of stdout, one by one, then how the tool
//! [`Ended`]. Nothing of its process group is left then. It must not know any tool: arguments, lines and
//! exit codes are its caller's.

mod keeper;
mod processes;
mod stderr;
mod streams;
mod work_directory;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::future::Future;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use nix::sys::signal::Signal;
use thiserror::Error;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

pub use streams::{MAX_LINE_BYTES, MAX_LINES_IN_FLIGHT};
pub use work_directory::{Swept, WorkDirectory, WorkDirectoryError, sweep};

use domain::task::disposition::{Disposition, HasDisposition};
use keeper::{Cage, Group};
use streams::{Activity, Streams};

/// Programs are looked for here unless the caller names other places.
pub const DEFAULT_SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Maximum time that a caller may take for the last lines of a tool that was ended.
const MAX_DRAIN_OF_ENDED: Duration = Duration::from_secs(2);
/// The directory is looked at this often in each span of silence.
const LOOKS_IN_SILENCE: u32 = 8;

/// A tool and its input. It has no `Debug`: stdin and the configuration may hold secrets.
pub struct Command {
    /// A path, or a name that is looked for in `search_path`.
    pub program: PathBuf,
    /// Shown where the program is missing, such as `pip install gallery-dl`.
    pub how_to_install: String,
    /// Arguments, which every account of the machine can see: never a secret.
    pub args: Vec<OsString>,
    pub stdin: Vec<u8>,
    /// Readable at descriptor 3, as `/dev/fd/3`: configuration with secrets.
    pub fd3: Option<Vec<u8>>,
    /// Masked in all that is kept of stderr, plain and percent-encoded.
    pub secrets: Vec<String>,
    /// `PATH` of the tool.
    pub search_path: OsString,
    pub limits: Limits,
}

impl Command {
    pub fn new(program: impl Into<PathBuf>, how_to_install: impl Into<String>) -> Command {
        Command {
            program: program.into(),
            how_to_install: how_to_install.into(),
            args: vec![],
            stdin: vec![],
            fd3: None,
            secrets: vec![],
            search_path: DEFAULT_SEARCH_PATH.into(),
            limits: Limits::default(),
        }
    }
}

/// Bounds of one run. The limits of memory, files and descriptors hold for each process of the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum address space of a process, in bytes; 1 GiB. Only Linux enforces it: elsewhere it is not set.
    pub address_space: u64,
    /// Maximum size of a file that it writes, in bytes; 16 GiB.
    pub file_size: u64,
    /// Maximum number of open descriptors of a process; 256.
    pub open_files: u64,
    /// Maximum time of the run; 6 hours.
    pub time: Duration,
    /// Maximum time without output and without a change of the work directory's size; 10 minutes. A tool
    /// that waits for the reader of its lines is not silent.
    pub silence: Duration,
    /// Time from SIGTERM to SIGKILL; 10 seconds. It ends with the tool's first process, whatever else is
    /// left of the group.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            address_space: 1 << 30,
            file_size: 16 << 30,
            open_files: 256,
            time: Duration::from_secs(6 * 60 * 60),
            silence: Duration::from_secs(10 * 60),
            grace: Duration::from_secs(10),
        }
    }
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub how: How,
    /// The last 64 KiB of stderr, masked.
    pub stderr: String,
    /// The first line of stderr that begins with `error` in any case; else its last line, unless the tool
    /// exited with 0. Masked.
    pub first_error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Exit(i32),
    /// Died by a signal that was not ours.
    Signal(i32),
    TimedOut,
    /// No output and no growth for as long as [`Limits::silence`].
    Hung,
    Cancelled,
    /// A line of stdout had no end.
    LineTooLong,
}

/// Writes the end for people, after the tool's name.
impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            How::Exit(code) => write!(f, "exit code {code}"),
            How::Signal(signal) => write!(f, "signal {signal}"),
            How::TimedOut => f.write_str("its time limit was reached"),
            How::Hung => f.write_str("it printed and wrote nothing for too long"),
            How::Cancelled => f.write_str("it was cancelled"),
            How::LineTooLong => f.write_str("a line of its output was too long"),
        }
    }
}

impl HasDisposition for ToolError {
    fn disposition(&self) -> Disposition {
        match self {
            ToolError::NotInstalled { .. } => Disposition::Permanent,
            ToolError::NotStarted { .. } | ToolError::Lost { .. } => Disposition::Retry,
        }
    }
}

#[derive(Debug, Error)]
pub enum ToolError {
    #[error("{} is not installed: {how_to_install}", program.display())]
    NotInstalled { program: PathBuf, how_to_install: String },
    #[error("{} cannot be started: {source}", program.display())]
    NotStarted { program: PathBuf, source: io::Error },
    #[error("the end of {} is unknown: {source}", program.display())]
    Lost { program: PathBuf, source: io::Error },
}

/// The channel for the lines of stdout. The tool waits while it is full; where its receiver is dropped,
/// lines are thrown away.
pub fn lines() -> (mpsc::Sender<Vec<u8>>, mpsc::Receiver<Vec<u8>>) {
    mpsc::channel(MAX_LINES_IN_FLIGHT)
}

/// Runs a tool to its end. Lines come without their newline while it runs, a long one as its first
/// [`MAX_LINE_BYTES`]: receive them beside this future (`tokio::join!`).
///
/// The tool's group ends by itself, by `cancel`, by a limit, or when this future is dropped, which sends
/// SIGKILL at once.
pub async fn run(
    command: Command,
    directory: &WorkDirectory,
    lines: mpsc::Sender<Vec<u8>>,
    cancel: impl Future<Output = ()>,
) -> Result<Ended, ToolError> {
    let program = find(&command.program, &command.search_path).ok_or_else(|| ToolError::NotInstalled {
        program: command.program.clone(),
        how_to_install: command.how_to_install.clone(),
    })?;
    let failed = |source| ToolError::NotStarted { program: command.program.clone(), source };
    let cage = Cage::new(&program, &command, directory).await.map_err(failed)?;
    let mut started = cage.start().await.map_err(failed)?;
    let streams = Streams::new(started.pipes, command.stdin, command.fd3, lines, command.secrets).map_err(failed)?;

    let mut run = Run { streams, directory, limits: command.limits, deadline: Instant::now() };
    run.deadline += run.limits.time;
    let mut cancel = pin!(cancel);
    let mut end = run.until_end(&mut started.group, cancel.as_mut()).await;
    if end.is_some() {
        run.terminate(&mut started.group).await;
    }
    let status = started.group.end().await;
    end = match end {
        Some(how) => {
            let _ = timeout(MAX_DRAIN_OF_ENDED, run.streams.drain()).await;
            Some(how)
        }
        None => run.drain(cancel).await,
    };
    // also after a cancel: while something of the tool lives, its directory is not free
    let status = status.map_err(|source| ToolError::Lost { program: command.program, source })?;
    let how = end.unwrap_or_else(|| own_end(status));
    let (stderr, first_error) = run.streams.into_messages(how != How::Exit(0));
    Ok(Ended { how, stderr, first_error })
}

struct Run<'a> {
    streams: Streams,
    directory: &'a WorkDirectory,
    limits: Limits,
    deadline: Instant,
}

impl Run<'_> {
    /// The reason to end the tool; None when it has ended by itself.
    async fn until_end(&mut self, group: &mut Group, cancel: impl Future<Output = ()>) -> Option<How> {
        let activity = self.streams.activity();
        tokio::select! {
            biased;
            () = group.exited() => None,
            () = cancel => Some(How::Cancelled),
            () = sleep_until(self.deadline) => Some(How::TimedOut),
            () = hung(&activity, self.directory.path(), self.limits.silence) => Some(How::Hung),
            () = self.streams.pump() => Some(How::LineTooLong),
        }
    }

    /// SIGTERM, and time to obey it. Its output is read meanwhile: a full pipe would keep it from ending.
    async fn terminate(&mut self, group: &mut Group) {
        group.signal(Signal::SIGTERM);
        tokio::select! {
            () = group.exited() => {}
            () = tokio::time::sleep(self.limits.grace) => {}
            () = self.streams.pump_all() => {}
        }
    }

    /// The lines that a tool left in its pipe. Their reader may take as long as the run may last.
    async fn drain(&mut self, cancel: impl Future<Output = ()>) -> Option<How> {
        tokio::select! {
            biased;
            is_whole = self.streams.drain() => (!is_whole).then_some(How::LineTooLong),
            () = cancel => Some(How::Cancelled),
            () = sleep_until(self.deadline) => Some(How::TimedOut),
        }
    }
}

fn own_end(status: ExitStatus) -> How {
    match (status.code(), status.signal()) {
        (Some(code), _) => How::Exit(code),
        (None, signal) => How::Signal(signal.unwrap_or_default()),
    }
}

/// Returns when neither output nor directory has changed for `silence`.
async fn hung(activity: &Activity, directory: &Path, silence: Duration) {
    let mut before = (activity.bytes(), None);
    let mut since = Instant::now();
    loop {
        tokio::time::sleep(silence / LOOKS_IN_SILENCE).await;
        let path = directory.to_owned();
        let size = tokio::task::spawn_blocking(move || work_directory::size(&path)).await.ok();
        let now = (activity.bytes(), size);
        if now != before || activity.waits_for_reader() {
            (before, since) = (now, Instant::now());
        }
        if since.elapsed() >= silence {
            return;
        }
    }
}

/// The program that a path names or, as a shell looks for it, a name in `search_path`; None: it is not installed. The
/// answer is absolute, since the tool starts in another directory; links stay, since Python finds its libraries beside
/// them.
pub fn find(program: &Path, search_path: &OsStr) -> Option<PathBuf> {
    let found = match program.components().count() > 1 || program.is_absolute() {
        true => is_executable(program).then(|| program.to_owned()),
        false => std::env::split_paths(search_path).map(|folder| folder.join(program)).find(|path| is_executable(path)),
    };
    std::path::absolute(found?).ok()
}

fn is_executable(path: &Path) -> bool {
    path.is_file() && nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok()
}

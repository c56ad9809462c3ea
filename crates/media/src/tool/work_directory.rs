//! `WorkDirectory::lock`: a directory for one subject, held by one run. `sweep`: removes those that a
//! process left behind.
//!
//! In: a root, and a name that the caller made. Out: a locked directory. Beside the directory `NAME` lies
//! `NAME.lock`: locked by the process that works in it, and holding the number and start time of the tool
//! that it runs. Whoever gets the lock next ends that tool first: its holder has died.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::unistd::Pid;
use thiserror::Error;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::processes;

const MAX_NAME: usize = 64;
/// Maximum length of a record that is read; ours have a hundred bytes.
const MAX_RECORD: u64 = 1 << 10;
/// Maximum number of entries that count for a directory's size.
const MAX_ENTRIES: usize = 100_000;
/// A sweep looks into each directory for some milliseconds.
const MAX_WAIT_FOR_SWEEP: Duration = Duration::from_secs(1);
const POLL: Duration = Duration::from_millis(10);
const LOCK: &str = "lock";
/// The record of a directory in which no tool runs.
const IDLE: &str = "idle\n";

/// Unlocked when its last clone is dropped; a run that was dropped keeps one until its tool has ended.
#[derive(Clone, Debug)]
pub struct WorkDirectory(Arc<Locked>);

#[derive(Debug)]
struct Locked {
    path: PathBuf,
    lock: File,
    /// Lock that is held while a tool runs here.
    turn: Arc<Mutex<()>>,
}

impl Drop for Locked {
    /// Unlocks the file. Closing alone is not enough: a process that is being started elsewhere has the file open as well,
    /// until it executes its program.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

/// The work of one sweep. A directory that fails does not keep it from the others.
#[derive(Debug, Default)]
pub struct Swept {
    pub removed: usize,
    pub failures: Vec<WorkDirectoryError>,
}

#[derive(Debug, Error)]
pub enum WorkDirectoryError {
    #[error("a work directory's name has 1 to {MAX_NAME} of a-z, 0-9, - and _")]
    BadName,
    #[error("{} is in use by another process", .0.display())]
    InUse(PathBuf),
    #[error("a tool that a process left in {} does not end", .0.display())]
    NotEnded(PathBuf),
    #[error("cannot {action} {}: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
}

impl WorkDirectory {
    /// Makes the directory where there is none, and ends the tool that a dead process left in it. Its files
    /// stay. It blocks: for some milliseconds, 1 s where another run has it, or 5 s where a tool has to end.
    pub fn lock(root: &Path, name: &str) -> Result<WorkDirectory, WorkDirectoryError> {
        let directory = WorkDirectory::take(root, name, MAX_WAIT_FOR_SWEEP)?;
        directory.end_left_tool()?;
        let path = directory.path();
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed("create", path))?;
        Ok(directory)
    }

    /// Removes the directory with its files, and frees it.
    pub fn remove(self) -> Result<(), WorkDirectoryError> {
        let path = self.path();
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed("remove", path)(error)),
            _ => {}
        }
        let lock = path.with_extension(LOCK);
        fs::remove_file(&lock).map_err(failed("remove", &lock))
    }

    /// Waits until no other tool runs here.
    pub(super) async fn turn(&self) -> OwnedMutexGuard<()> {
        self.0.turn.clone().lock_owned().await
    }

    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The lock alone.
    fn take(root: &Path, name: &str, wait: Duration) -> Result<WorkDirectory, WorkDirectoryError> {
        if !is_name(name) {
            return Err(WorkDirectoryError::BadName);
        }
        DirBuilder::new().recursive(true).mode(0o700).create(root).map_err(failed("create", root))?;
        // tools run elsewhere: a relative path would mean another directory to them
        let root = root.canonicalize().map_err(failed("find", root))?;
        let lock = open_locked(&root, name, wait)?;
        Ok(WorkDirectory(Arc::new(Locked { lock, path: root.join(name), turn: Arc::default() })))
    }

    /// A tool is about to be started: from here on a process may be left.
    pub(super) fn expect_tool(&self) -> io::Result<()> {
        self.write("starting\n")
    }

    /// Names the tool that runs here.
    pub(super) fn record(&self, leader: Pid) -> io::Result<()> {
        let start = processes::start_time(leader).unwrap_or_default();
        self.write(&format!("{leader} {start}\n"))
    }

    /// Removes the record, since nothing runs here any more.
    pub(super) fn clear_record(&self) {
        // a record that stays names processes that have ended
        let _ = self.write(IDLE);
    }

    /// Writes the record, not atomically: half a record names no process, and then its `HOME` and the death of its parent end it.
    fn write(&self, record: &str) -> io::Result<()> {
        let mut lock = &self.0.lock;
        lock.set_len(0)?;
        lock.rewind()?;
        lock.write_all(record.as_bytes())
    }

    fn read(&self) -> io::Result<String> {
        let mut text = String::new();
        let mut lock = &self.0.lock;
        lock.rewind()?;
        lock.take(MAX_RECORD).read_to_string(&mut text)?;
        Ok(text)
    }

    fn end_left_tool(&self) -> Result<(), WorkDirectoryError> {
        let path = self.path();
        let record = self.read().unwrap_or_default();
        if record != IDLE && !processes::end_all(recorded(&record), path) {
            return Err(WorkDirectoryError::NotEnded(path.to_owned()));
        }
        self.write(IDLE).map_err(failed("write the lock of", path))
    }

    /// Time since it was locked, or since a tool in it began or ended.
    fn age(&self) -> io::Result<Duration> {
        Ok(self.0.lock.metadata()?.modified()?.elapsed().unwrap_or_default())
    }
}

/// Ends the tools that dead processes left below `root`, and removes directories that were not locked for
/// `older_than`. It blocks.
pub fn sweep(root: &Path, older_than: Duration) -> Swept {
    let mut swept = Swept::default();
    let names = match names(root) {
        Ok(names) => names,
        Err(error) => {
            swept.failures.push(failed("read", root)(error));
            return swept;
        }
    };
    for name in names {
        match sweep_one(root, &name, older_than) {
            Ok(removed) => swept.removed += usize::from(removed),
            Err(WorkDirectoryError::InUse(_)) => {}
            Err(error) => swept.failures.push(error),
        }
    }
    swept
}

fn sweep_one(root: &Path, name: &str, older_than: Duration) -> Result<bool, WorkDirectoryError> {
    let directory = WorkDirectory::take(root, name, Duration::ZERO)?;
    let age = directory.age().map_err(failed("read the lock of", directory.path()))?;
    if directory.read().is_ok_and(|record| record == IDLE) && age < older_than {
        return Ok(false);
    }
    directory.end_left_tool()?;
    if age < older_than {
        return Ok(false);
    }
    directory.remove().map(|()| true)
}

/// The recorded tool, where it is still the same process.
fn recorded(record: &str) -> Option<Pid> {
    let (pid, start) = record.strip_suffix('\n')?.split_once(' ')?;
    let pid = pid.parse().ok().filter(|pid| *pid > 1).map(Pid::from_raw)?;
    (processes::start_time(pid)? == start).then_some(pid)
}

/// Bytes and number of entries, to see whether they change.
pub fn size(directory: &Path) -> (u64, usize) {
    let (mut bytes, mut entries) = (0, 0);
    let mut open = vec![directory.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            if found.is_dir() {
                open.push(entry.path());
            }
            (bytes, entries) = (bytes + found.len(), entries + 1);
            if entries >= MAX_ENTRIES {
                return (bytes, entries);
            }
        }
    }
    (bytes, entries)
}

/// A sweep may have removed the file between its opening and its locking: then it locks nothing.
fn open_locked(root: &Path, name: &str, wait: Duration) -> Result<File, WorkDirectoryError> {
    let path = root.join(name).with_extension(LOCK);
    let begun = Instant::now();
    loop {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true).mode(0o600);
        let file = options.open(&path).map_err(failed("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if begun.elapsed() < wait => {
                std::thread::park_timeout(POLL);
                continue;
            }
            Err(TryLockError::WouldBlock) => return Err(WorkDirectoryError::InUse(root.join(name))),
            Err(TryLockError::Error(error)) => return Err(failed("lock", &path)(error)),
        }
        let locked = file.metadata().map_err(failed("read", &path))?;
        if fs::metadata(&path).is_ok_and(|found| found.ino() == locked.ino() && found.dev() == locked.dev()) {
            return Ok(file);
        }
    }
}

fn names(root: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(root) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        entries => entries?,
    };
    let name = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        let name = name.strip_suffix(".lock").unwrap_or(&name);
        is_name(name).then(|| name.to_owned())
    };
    let mut names: Vec<String> = entries.flatten().filter_map(name).collect();
    names.sort();
    names.dedup();
    Ok(names)
}

fn is_name(name: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_safe)
}

fn failed(action: &'static str, path: &Path) -> impl Fn(io::Error) -> WorkDirectoryError {
    let path = path.to_owned();
    move |source| WorkDirectoryError::Io { action, path: path.clone(), source }
}

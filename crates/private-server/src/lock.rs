//! `Lock`: a file lock that the kernel frees when its holder ends, even by kill -9.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use super::account::{self, Account};
use super::{PrivateServerError, io, server};

const POLL: Duration = Duration::from_millis(10);

/// Freed when the last process that has the file open closes it. It is never unlocked explicitly: that would
/// free it for every process that has inherited it.
#[derive(Debug)]
pub struct Lock(File);

#[derive(Clone, Copy)]
pub enum Kind {
    Shared,
    Exclusive,
}

impl Lock {
    /// Waits for the lock until `deadline` has passed. A new lock file belongs to the server's account.
    pub fn acquire(
        path: &Path,
        kind: Kind,
        account: Option<&Account>,
        deadline: Duration,
    ) -> Result<Lock, PrivateServerError> {
        let begun = Instant::now();
        loop {
            if let Some(lock) = Self::try_acquire(path, kind, account)? {
                return Ok(lock);
            }
            if begun.elapsed() > deadline {
                return Err(PrivateServerError::Locked { lock: path.to_owned(), waited: deadline });
            }
            server::pause(POLL);
        }
    }

    /// None when another process holds it.
    pub fn try_acquire(path: &Path, kind: Kind, account: Option<&Account>) -> Result<Option<Lock>, PrivateServerError> {
        let file = open(path, account)?;
        let locked = match kind {
            Kind::Shared => file.try_lock_shared(),
            Kind::Exclusive => file.try_lock(),
        };
        match locked {
            Ok(()) => Ok(Some(Lock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => Ok(None),
            Err(TryLockError::Error(error)) => Err(io(format!("lock {}", path.display()))(error)),
        }
    }

    /// Leaves the file open in programs that this process executes or starts: the lock belongs to the open
    /// file.
    pub fn keep_through_exec(&self) -> Result<(), PrivateServerError> {
        match fcntl(&self.0, FcntlArg::F_SETFD(FdFlag::empty())) {
            Ok(_) => Ok(()),
            Err(errno) => Err(io("pass the lock on")(errno.into())),
        }
    }
}

fn open(path: &Path, account: Option<&Account>) -> Result<File, PrivateServerError> {
    let failed = || io(format!("open {}", path.display()));
    // opened for reading, since another account's file cannot be opened for writing
    if let Ok(file) = File::open(path) {
        return Ok(file);
    }
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(failed())?;
    account::give(path, account)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_lock_that_a_child_inherited_outlives_its_parents_handle() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("users.lock");
        let lock = Lock::try_acquire(&path, Kind::Shared, None).unwrap().unwrap();
        lock.keep_through_exec().unwrap();
        let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        drop(lock);
        let taken = Lock::try_acquire(&path, Kind::Exclusive, None).unwrap();
        assert!(taken.is_none(), "the parent's drop freed the child's lock");
        drop(child.stdin.take());
        child.wait().unwrap();
        // a child process that another test is starting may have inherited it, until it executes its program
        Lock::acquire(&path, Kind::Exclusive, None, Duration::from_secs(5)).unwrap();
    }
}

//! `Lock`: a file lock that the kernel frees when its holder is gone, however it went.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use super::account::{self, Account};
use super::{PrivateServerError, io, server};

const POLL: Duration = Duration::from_millis(10);

/// Free again when the last process that has the file open has closed it. It is never unlocked by hand: that would free it for all of
/// them, a process that inherited it included.
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
                return Err(PrivateServerError::Locked { what: path.to_owned(), waited: deadline });
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

    /// The lock belongs to the open file; left open by exec, it goes on to the program that takes this one's place.
    pub fn keep_through_exec(&self) -> Result<(), PrivateServerError> {
        match fcntl(&self.0, FcntlArg::F_SETFD(FdFlag::empty())) {
            Ok(_) => Ok(()),
            Err(errno) => Err(io("pass the lock on")(errno.into())),
        }
    }
}

fn open(path: &Path, account: Option<&Account>) -> Result<File, PrivateServerError> {
    let doing = || io(format!("open {}", path.display()));
    // opening for writing would fail for another account's file, and a lock needs no writing
    if let Ok(file) = File::open(path) {
        return Ok(file);
    }
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(doing())?;
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
        // a process that another test has just started may hold it for a moment
        Lock::acquire(&path, Kind::Exclusive, None, Duration::from_secs(5)).unwrap();
    }
}

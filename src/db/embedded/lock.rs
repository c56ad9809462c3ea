//! `Lock`: a file lock that the kernel frees when its holder is gone, however it went.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, Flock, FlockArg, fcntl};

use super::account::{self, Account};
use super::{EmbeddedError, io, server};

const POLL: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub struct Lock(Flock<File>);

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
    ) -> Result<Lock, EmbeddedError> {
        let begun = Instant::now();
        loop {
            if let Some(lock) = Self::try_acquire(path, kind, account)? {
                return Ok(lock);
            }
            if begun.elapsed() > deadline {
                return Err(EmbeddedError::Locked { what: path.to_owned(), waited: deadline });
            }
            server::pause(POLL);
        }
    }

    /// The lock, unless somebody holds it against us.
    pub fn try_acquire(path: &Path, kind: Kind, account: Option<&Account>) -> Result<Option<Lock>, EmbeddedError> {
        let wish = match kind {
            Kind::Shared => FlockArg::LockSharedNonblock,
            Kind::Exclusive => FlockArg::LockExclusiveNonblock,
        };
        match Flock::lock(open(path, account)?, wish) {
            Ok(lock) => Ok(Some(Lock(lock))),
            Err((_, Errno::EWOULDBLOCK | Errno::EINTR)) => Ok(None),
            Err((_, errno)) => Err(io(format!("lock {}", path.display()))(errno.into())),
        }
    }

    /// The lock belongs to the open file; left open by exec, it goes on to the program that takes this one's place.
    pub fn keep_through_exec(&self) -> Result<(), EmbeddedError> {
        match fcntl(&*self.0, FcntlArg::F_SETFD(FdFlag::empty())) {
            Ok(_) => Ok(()),
            Err(errno) => Err(io("pass the lock on")(errno.into())),
        }
    }
}

fn open(path: &Path, account: Option<&Account>) -> Result<File, EmbeddedError> {
    let doing = || io(format!("open {}", path.display()));
    // opening for writing would fail for another account's file, and a lock needs no writing
    if let Ok(file) = File::open(path) {
        return Ok(file);
    }
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).map_err(doing())?;
    account::give(path, account)?;
    Ok(file)
}

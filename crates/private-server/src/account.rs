//! The account that runs the server: this process's own, or, since PostgreSQL refuses root, an unprivileged
//! one.

use std::fs::Metadata;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;

use nix::unistd::{Uid, User};

use super::{PrivateServerError, io};

/// An account other than this process's own.
#[derive(Clone, Debug)]
pub struct Account {
    pub uid: u32,
    pub gid: u32,
    pub name: String,
}

/// The account to run the server under; None = this process's own account. The owner of an existing cluster
/// comes first. Never `nobody`: other programs run under that account, and could read and write the data.
pub fn for_server(data: &Path) -> Result<Option<Account>, PrivateServerError> {
    if !Uid::effective().is_root() {
        return Ok(None);
    }
    if let Ok(meta) = data.metadata()
        && meta.uid() != 0
    {
        return Ok(Some(owner(&meta)));
    }
    ["postgres", "_postgres", "drover"]
        .iter()
        .find_map(|name| User::from_name(name).ok().flatten())
        .map(|user| Some(Account { uid: user.uid.as_raw(), gid: user.gid.as_raw(), name: user.name }))
        .ok_or(PrivateServerError::NoAccount)
}

/// Changes the owner of `path` to the account.
pub fn give(path: &Path, account: Option<&Account>) -> Result<(), PrivateServerError> {
    match account {
        Some(account) => {
            chown(path, Some(account.uid), Some(account.gid)).map_err(io(format!("chown {}", path.display())))
        }
        None => Ok(()),
    }
}

/// Refuses a directory below one that the account may not enter, such as root's home.
pub fn require_reachable(dir: &Path, account: Option<&Account>) -> Result<(), PrivateServerError> {
    let Some(account) = account else { return Ok(()) };
    for parent in dir.ancestors() {
        let meta = parent.metadata().map_err(io(format!("read the mode of {}", parent.display())))?;
        if !may_enter(&meta, account) {
            return Err(PrivateServerError::Unreachable { closed: parent.to_owned(), account: account.name.clone() });
        }
    }
    Ok(())
}

fn may_enter(meta: &Metadata, account: &Account) -> bool {
    let bit = match (meta.uid() == account.uid, meta.gid() == account.gid) {
        (true, _) => 0o100,
        (false, true) => 0o010,
        (false, false) => 0o001,
    };
    meta.mode() & bit != 0
}

fn owner(meta: &Metadata) -> Account {
    let name = User::from_uid(Uid::from_raw(meta.uid())).ok().flatten().map(|user| user.name);
    Account { uid: meta.uid(), gid: meta.gid(), name: name.unwrap_or_else(|| format!("with uid {}", meta.uid())) }
}

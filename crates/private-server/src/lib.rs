//! A private PostgreSQL cluster that needs no configuration: the machine's own server binaries, one
//! directory, no TCP port.
//!
//! In: a directory. Out: a [`PrivateServer`]; its URL works until the value is dropped. Any number of
//! processes share one cluster. They coordinate by three locks (flock, so the kernel frees them even after
//! kill -9): `start.lock` serialises initialising and starting; every process that uses the server holds
//! `users.lock` shared; the keeper, which is this program run again, holds `keeper.lock`, and stops the
//! server when `users.lock` has been free for a while. It must not know drover's tables, nor the database
//! driver.

mod account;
mod cluster;
mod install;
mod keeper;
mod layout;
mod lock;
mod server;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use thiserror::Error;

pub use keeper::{KEEPER_ARG, keeper_main};

use install::Install;
use layout::Layout;
use lock::{Kind, Lock};

/// Initialising, crash recovery and another process's start together.
const START_DEADLINE: Duration = Duration::from_secs(120);
const STOP_DEADLINE: Duration = Duration::from_secs(60);

/// A server that runs until this value is dropped, and [`Options::linger`] longer, so that a restarted
/// process finds it running.
#[derive(Debug)]
pub struct PrivateServer {
    url: String,
    user: Lock,
}

/// How a private server is started; tests change the defaults.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that becomes the keeper when run with [`KEEPER_ARG`]; None = this one.
    pub keeper: Option<PathBuf>,
    /// The directory of the server's binaries; None = search the directories of the usual packages.
    pub bin: Option<PathBuf>,
    /// How long the server outlives its last user.
    pub linger: Duration,
    /// Server settings as `name=value`; they override the default ones.
    pub settings: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options { keeper: None, bin: None, linger: Duration::from_secs(30), settings: Vec::new() }
    }
}

/// Why there is no private server. Trying again helps with none of them.
#[derive(Debug, Error)]
pub enum PrivateServerError {
    #[error(
        "no PostgreSQL server of version {min} or newer was found{found}. Install one (Debian, Ubuntu: apt-get install \
         postgresql; macOS: brew install postgresql@17), point DROVER_PG_BIN at its bin directory, or set DATABASE_URL \
         to use a server of your own"
    )]
    NoServer { min: u32, found: String },
    #[error(
        "the cluster in {data} was created by PostgreSQL {made_by}, which is not installed{found}. Install PostgreSQL \
         {made_by}, upgrade the cluster with pg_upgrade, or choose another directory to start afresh"
    )]
    VersionMismatch { data: PathBuf, made_by: String, found: String },
    #[error(
        "{closed} is closed to the account {account}, which must run the server since root may not; choose a directory \
         that it can reach, such as /var/lib/drover"
    )]
    Unreachable { closed: PathBuf, account: String },
    #[error(
        "running as root, and there is no account to run the server under: create one (useradd --system drover), or run drover \
         under an account of your own"
    )]
    NoAccount,
    #[error("{0} exists but is not a PostgreSQL cluster; it was left untouched: choose another directory")]
    NotACluster(PathBuf),
    #[error(
        "{0} is a symbolic link or belongs to another account, so that others could read the socket in it: remove it, or choose \
         another directory"
    )]
    UnsafeSocketDir(PathBuf),
    #[error("another process has held {lock} for {waited:?}: see with `fuser {lock}` which one, and end it")]
    Locked { lock: PathBuf, waited: Duration },
    #[error("the private server's cluster could not be initialised: {0}")]
    Init(String),
    #[error("the private server did not start; {log} ends with:\n{tail}")]
    Start { log: PathBuf, tail: String },
    #[error("processes of a killed server still use {0}: end them (`fuser {0}` names them), then start again")]
    Orphans(PathBuf),
    #[error("the private server in {0} did not stop; {0}/server.log may have the cause")]
    Stop(PathBuf),
    #[error("cannot {action}: {error}")]
    Io { action: String, error: std::io::Error },
}

/// The private server's directory in a data directory.
pub fn dir_in(data_dir: &Path) -> PathBuf {
    data_dir.join("postgres")
}

/// Starts the private server in `dir`, or joins the one that runs there.
pub async fn start(dir: &Path) -> Result<PrivateServer, PrivateServerError> {
    start_with(dir, Options::default()).await
}

/// Same as [`start`], with other options. Joining a server that runs, they have no effect.
pub async fn start_with(dir: &Path, options: Options) -> Result<PrivateServer, PrivateServerError> {
    let dir = dir.to_owned();
    in_background("start the private server", move || start_blocking(&dir, &options)).await
}

/// Version of the installed server that would run a cluster in `dir`; creates nothing.
pub fn installed(dir: &Path, bin: Option<&Path>) -> Result<String, PrivateServerError> {
    account::for_server(&dir.join("data"))?;
    Ok(Install::for_cluster(&dir.join("data"), bin)?.version)
}

/// One of the programs of the server that would run a cluster in `data`, under the account that may run it, with an
/// empty environment.
pub fn program(name: &str, data: &Path, bin: Option<&Path>) -> Result<Command, PrivateServerError> {
    let account = account::for_server(data)?;
    Ok(server::command(&Install::for_cluster(data, bin)?, name, account.as_ref()))
}

/// The path of a client program, such as `pg_dump`: the one beside the server that would run a cluster in `data`, else
/// the one that PATH has.
pub fn client_program(name: &str, data: &Path, bin: Option<&Path>) -> PathBuf {
    match Install::for_cluster(data, bin) {
        Ok(install) if install.bin.join(name).is_file() => install.bin.join(name),
        _ => name.into(),
    }
}

/// Changes the owner of a directory to the servers' account.
pub fn give(dir: &Path) -> Result<(), PrivateServerError> {
    account::give(dir, account::for_server(dir)?.as_ref())
}

/// The server as [`stop`] found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoppedServer {
    NotRunning,
    Unused,
    /// Processes have lost their database.
    InUse,
}

/// Stops the server in `dir`, even while it is in use.
pub async fn stop(dir: &Path) -> Result<StoppedServer, PrivateServerError> {
    let dir = dir.to_owned();
    in_background("stop the private server", move || stop_blocking(&dir)).await
}

impl PrivateServer {
    /// The libpq URL of the database `drover` in this server, without a password.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Lets programs that this process executes or starts continue using the server.
    pub fn keep_through_exec(&self) -> Result<(), PrivateServerError> {
        self.user.keep_through_exec()
    }
}

async fn in_background<T: Send + 'static>(
    action: &str,
    work: impl FnOnce() -> Result<T, PrivateServerError> + Send + 'static,
) -> Result<T, PrivateServerError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(io(action)(std::io::Error::other(error))),
    }
}

fn start_blocking(dir: &Path, options: &Options) -> Result<PrivateServer, PrivateServerError> {
    let layout = Layout::create(dir)?;
    let account = account::for_server(&layout.data)?;
    account::require_reachable(&layout.dir, account.as_ref())?;
    let _starting = Lock::acquire(&layout.start_lock(), Kind::Exclusive, account.as_ref(), START_DEADLINE)?;
    // waits while a keeper is stopping the server
    let user = Lock::acquire(&layout.users_lock(), Kind::Shared, account.as_ref(), START_DEADLINE)?;
    layout.clear_stop_request()?;

    let install = Install::for_cluster(&layout.data, options.bin.as_deref())?;
    layout.create_socket_dir(account.as_ref())?;
    if !layout.is_initialised() {
        cluster::initialise(&layout, &install, account.as_ref())?;
    }
    keeper::bring_up(&layout, &install, options, START_DEADLINE)?;
    Ok(PrivateServer { url: layout.url(), user })
}

fn stop_blocking(dir: &Path) -> Result<StoppedServer, PrivateServerError> {
    if !dir.exists() {
        return Ok(StoppedServer::NotRunning);
    }
    let layout = Layout::create(dir)?;
    let account = account::for_server(&layout.data)?;
    let _starting = Lock::acquire(&layout.start_lock(), Kind::Exclusive, account.as_ref(), START_DEADLINE)?;
    let found = match server::running(&layout) {
        None => StoppedServer::NotRunning,
        Some(_) if Lock::try_acquire(&layout.users_lock(), Kind::Exclusive, account.as_ref())?.is_some() => {
            StoppedServer::Unused
        }
        Some(_) => StoppedServer::InUse,
    };
    layout.request_stop()?;
    // the keeper holds its lock until the server is down; without a keeper, this process stops the server
    let _keeper = Lock::acquire(&layout.keeper_lock(), Kind::Exclusive, account.as_ref(), STOP_DEADLINE)?;
    let stopped = server::stop(&layout);
    layout.clear_stop_request()?;
    stopped.map(|()| found)
}

/// An I/O error with the action that failed, such as "open x".
fn io(action: impl Into<String>) -> impl FnOnce(std::io::Error) -> PrivateServerError {
    let action = action.into();
    move |error| PrivateServerError::Io { action, error }
}

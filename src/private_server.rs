//! A private PostgreSQL cluster that needs no configuration: the machine's own server binaries, one directory, no TCP port.
//!
//! In: a directory. Out: a [`PrivateServer`], whose URL works for as long as it lives. Any number of processes share one
//! cluster. Three locks (flock, so the kernel frees them even after kill -9) hold it together: `start.lock` serialises
//! initialising and starting; `users.lock` is held shared by every process that uses the server; `keeper.lock` by the
//! keeper, which is this program run again and stops the server when nobody holds `users.lock` for a while.
//! It must not know drover's tables, nor how anybody connects.

mod account;
mod cluster;
mod install;
mod keeper;
mod layout;
mod lock;
mod server;

use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

pub use keeper::{KEEPER_ARG, keeper_main};

use install::Install;
use layout::Layout;
use lock::{Kind, Lock};

/// Initialising, crash recovery and another process's start together.
const START_DEADLINE: Duration = Duration::from_secs(120);
const STOP_DEADLINE: Duration = Duration::from_secs(60);

/// A server that runs for as long as this value lives (and a little longer, so that a restart finds it warm).
#[derive(Debug)]
pub struct PrivateServer {
    url: String,
    user: Lock,
}

/// What may differ from the ordinary private server.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that becomes the keeper when run with [`KEEPER_ARG`]; none = this one.
    pub keeper: Option<PathBuf>,
    /// Where the server's binaries are; none = look in the usual places.
    pub bin: Option<PathBuf>,
    /// How long the server outlives its last user.
    pub linger: Duration,
    /// Server settings as `name=value`, beside and above the usual ones.
    pub settings: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options { keeper: None, bin: None, linger: Duration::from_secs(30), settings: Vec::new() }
    }
}

/// Why there is no private server. Each message names the remedy; none of them passes by trying again.
#[derive(Debug, Error)]
pub enum PrivateServerError {
    #[error(
        "no PostgreSQL server of version {min} or newer was found{found}. Install one (Debian, Ubuntu: apt-get install \
         postgresql; macOS: brew install postgresql@17), point DROVER_PG_BIN at its bin directory, or set DATABASE_URL \
         to use a server of your own"
    )]
    NoServer { min: u32, found: String },
    #[error(
        "the cluster in {data} was made by PostgreSQL {made_by}, which is not installed{found}. Install PostgreSQL \
         {made_by}, upgrade the cluster with pg_upgrade, or choose another directory to start afresh"
    )]
    VersionMismatch { data: PathBuf, made_by: String, found: String },
    #[error(
        "{closed} is closed to the account {account}, which must run the server since root may not; choose a directory \
         that it can reach, such as /var/lib/drover"
    )]
    Unreachable { closed: PathBuf, account: String },
    #[error(
        "running as root, and there is no account to run the server under: make one (useradd --system drover), or run drover \
         under an account of your own"
    )]
    NoAccount,
    #[error("{0} exists but is no PostgreSQL cluster; it was left untouched: choose another directory")]
    NotACluster(PathBuf),
    #[error("{0} is a symbolic link or belongs to another account, which is no safe place for a socket")]
    UnsafeSocketDir(PathBuf),
    #[error("{what} is still held by another process after {waited:?}")]
    Locked { what: PathBuf, waited: Duration },
    #[error("initdb failed: {0}")]
    Init(String),
    #[error("the private server did not start; {log} ends with:\n{tail}")]
    Start { log: PathBuf, tail: String },
    #[error("processes of a killed server still use {0}")]
    Orphans(PathBuf),
    #[error("the private server in {0} did not stop")]
    Stop(PathBuf),
    #[error("{doing}: {why}")]
    Io { doing: String, why: std::io::Error },
}

/// Where the private server lives in a data directory.
pub fn dir_in(data_dir: &Path) -> PathBuf {
    data_dir.join("postgres")
}

/// Starts the private server in `dir`, or joins the one that runs there.
pub async fn start(dir: &Path) -> Result<PrivateServer, PrivateServerError> {
    start_with(dir, Options::default()).await
}

/// Like [`start`], with other options. They count only for the process that starts the server.
pub async fn start_with(dir: &Path, options: Options) -> Result<PrivateServer, PrivateServerError> {
    let dir = dir.to_owned();
    in_background("start the private server", move || start_blocking(&dir, &options)).await
}

/// Stops the server in `dir`, whoever uses it. Fine when none runs.
pub async fn stop(dir: &Path) -> Result<(), PrivateServerError> {
    let dir = dir.to_owned();
    in_background("stop the private server", move || stop_blocking(&dir)).await
}

impl PrivateServer {
    /// A libpq URL of the database `drover` in this server. It holds no secret.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Lets programs that this process becomes, or starts, go on using the server.
    pub fn keep_through_exec(&self) -> Result<(), PrivateServerError> {
        self.user.keep_through_exec()
    }
}

async fn in_background<T: Send + 'static>(
    doing: &str,
    work: impl FnOnce() -> Result<T, PrivateServerError> + Send + 'static,
) -> Result<T, PrivateServerError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(error) => Err(PrivateServerError::Io { doing: doing.to_owned(), why: std::io::Error::other(error) }),
    }
}

fn start_blocking(dir: &Path, options: &Options) -> Result<PrivateServer, PrivateServerError> {
    let layout = Layout::create(dir)?;
    let account = account::for_server(&layout.data)?;
    account::require_reachable(&layout.dir, account.as_ref())?;
    let _starting = Lock::acquire(&layout.start_lock(), Kind::Exclusive, account.as_ref(), START_DEADLINE)?;
    // waits while a keeper is just stopping the server
    let user = Lock::acquire(&layout.users_lock(), Kind::Shared, account.as_ref(), START_DEADLINE)?;
    layout.forget_stop_request()?;

    let install = Install::for_cluster(&layout.data, options.bin.as_deref())?;
    layout.create_socket_dir(account.as_ref())?;
    if !layout.is_initialised() {
        cluster::initialise(&layout, &install, account.as_ref())?;
    }
    keeper::bring_up(&layout, &install, options, START_DEADLINE)?;
    Ok(PrivateServer { url: layout.url(), user })
}

fn stop_blocking(dir: &Path) -> Result<(), PrivateServerError> {
    if !dir.exists() {
        return Ok(());
    }
    let layout = Layout::create(dir)?;
    let account = account::for_server(&layout.data)?;
    let _starting = Lock::acquire(&layout.start_lock(), Kind::Exclusive, account.as_ref(), START_DEADLINE)?;
    layout.request_stop()?;
    // the keeper holds its lock until the server is down; without a keeper the server is ours to stop
    let _keeper = Lock::acquire(&layout.keeper_lock(), Kind::Exclusive, account.as_ref(), STOP_DEADLINE)?;
    let stopped = server::stop(&layout);
    layout.forget_stop_request()?;
    stopped
}

/// Puts what was being done in front of an I/O error.
fn io(doing: impl Into<String>) -> impl FnOnce(std::io::Error) -> PrivateServerError {
    let doing = doing.into();
    move |why| PrivateServerError::Io { doing, why }
}

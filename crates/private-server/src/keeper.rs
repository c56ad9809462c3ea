//! The keeper: a process of its own that starts the server, restarts it when it dies, and stops it when the
//! last user is gone.
//!
//! It begins a session of its own, so that it outlives even kill -9 of its starter's process group. Its
//! stderr is the server's log.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::account::{self, Account};
use super::{Install, Kind, Layout, Lock, Options, PrivateServerError, io, server};

/// The first argument that turns `drover` into the keeper.
pub const KEEPER_ARG: &str = "__pg-keeper";

const POLL: Duration = Duration::from_millis(100);
const READY_POLL: Duration = Duration::from_millis(8);
/// A server that dies sooner than this after its start counts as an early death.
const HEALTHY_AFTER: Duration = Duration::from_secs(10);
/// How long `pg_ctl restart` may take between its stop and its start.
const MAX_RESTART_GAP: Duration = Duration::from_secs(1);
/// Number of early deaths in a row after which the keeper gives up.
const MAX_EARLY_DEATHS: u32 = 5;
/// Minimum time between two launches: a keeper ends where another one is running, which may have been about to end.
const RELAUNCH_AFTER: Duration = Duration::from_millis(500);

/// Makes sure that a keeper is running, and waits until the server accepts connections.
pub fn bring_up(
    layout: &Layout,
    install: &Install,
    options: &Options,
    deadline: Duration,
) -> Result<(), PrivateServerError> {
    let begun = Instant::now();
    let mut keeper = launch(layout, install, options)?;
    let mut launched = Instant::now();
    while !server::is_ready(layout) {
        let ended = keeper.try_wait().map_err(io("watch the keeper"))?;
        if ended.is_some_and(|status| !status.success()) || begun.elapsed() > deadline {
            return Err(PrivateServerError::Start { log: layout.log(), tail: server::log_tail(layout) });
        }
        // it ended with success because another keeper was running, which may have ended since
        if ended.is_some() && launched.elapsed() > RELAUNCH_AFTER {
            keeper = launch(layout, install, options)?;
            launched = Instant::now();
        }
        server::pause(READY_POLL);
    }
    // reaps the keeper when it ends before this process
    std::thread::spawn(move || keeper.wait());
    Ok(())
}

/// Starts a keeper process, which ends at once when another one is running.
fn launch(layout: &Layout, install: &Install, options: &Options) -> Result<Child, PrivateServerError> {
    let program = match &options.keeper {
        Some(program) => program.clone(),
        None => std::env::current_exe().map_err(io("find this program"))?,
    };
    let log = layout.open_log(account::for_server(&layout.data)?.as_ref())?;
    Command::new(program)
        .arg(KEEPER_ARG)
        .arg(&layout.dir)
        .arg(&install.bin)
        .arg(options.linger.as_millis().to_string())
        .args(&options.settings)
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .map_err(io("run the keeper"))
}

/// Runs `drover __pg-keeper DIR BIN LINGER_MS [SETTING…]`; `args` are the ones after [`KEEPER_ARG`].
pub fn keeper_main(args: impl Iterator<Item = String>) -> ExitCode {
    let _ = nix::unistd::setsid();
    let result = Keeper::from_args(args).and_then(|keeper| keeper.map_or(Ok(()), Keeper::run));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "keeper: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Keeper {
    layout: Layout,
    install: Install,
    account: Option<Account>,
    linger: Duration,
    settings: Vec<String>,
    /// Lock that is held as long as it runs, so that there is one keeper.
    lock: Lock,
}

/// The running server: the keeper's child, or started by an earlier keeper.
struct Server {
    child: Option<Child>,
    since: Instant,
    history: History,
}

/// How this server and those before it have run.
#[derive(Clone, Copy, Default)]
struct History {
    /// One of them accepted connections, so the settings are valid.
    was_ready: bool,
    /// Number of early deaths in a row.
    early_deaths: u32,
}

impl Keeper {
    /// None when another keeper is running.
    fn from_args(mut args: impl Iterator<Item = String>) -> Result<Option<Keeper>, PrivateServerError> {
        let mut next =
            || args.next().ok_or_else(|| io("read the keeper's arguments")(std::io::ErrorKind::InvalidInput.into()));
        let layout = Layout::create(Path::new(&next()?))?;
        let bin = PathBuf::from(next()?);
        let linger = Duration::from_millis(next()?.parse().unwrap_or(30_000));
        let account = account::for_server(&layout.data)?;
        let Some(lock) = Lock::try_acquire(&layout.keeper_lock(), Kind::Exclusive, account.as_ref())? else {
            return Ok(None);
        };
        let install = Install::for_cluster(&layout.data, Some(&bin))?;
        Ok(Some(Keeper { layout, install, account, linger, settings: args.collect(), lock }))
    }

    fn run(self) -> Result<(), PrivateServerError> {
        let mut server = self.server(History::default())?;
        let mut unused_since = Instant::now();
        loop {
            server::pause(POLL);
            if self.layout.stop_is_requested() {
                return self.stop(server);
            }
            if !self.layout.users_lock().exists() {
                server.end_at_once(); // its directory was removed, and must not be created again
                return Ok(());
            }
            if server.has_ended(&self.layout) {
                self.wait_for_restart_by_others();
                server = self.restart(&mut server)?;
            }
            server.history.was_ready |= server::is_ready(&self.layout);
            let Some(no_users) = self.lock_out_users()? else {
                unused_since = Instant::now();
                continue;
            };
            if unused_since.elapsed() >= self.linger {
                let stopped = self.stop(server);
                // the next user waits for the second lock, and then launches a keeper, which needs the first
                drop(self.lock);
                drop(no_users);
                return stopped;
            }
        }
    }

    /// The running server, or a new one.
    fn server(&self, history: History) -> Result<Server, PrivateServerError> {
        let child = match server::running(&self.layout) {
            Some(_) => None,
            None => server::spawn(&self.layout, &self.install, self.account.as_ref(), &self.settings)?,
        };
        Ok(Server { child, since: Instant::now(), history })
    }

    /// Waits where the lock file is missing: the server was stopped, not killed, and `pg_ctl restart` may be about to start
    /// it.
    fn wait_for_restart_by_others(&self) {
        if !self.layout.pid_file().exists() {
            server::passes_within(MAX_RESTART_GAP, || server::running(&self.layout).is_some());
        }
    }

    /// A server in the place of one that ended. Another process may have started it already. A server that
    /// refuses to start is not tried again.
    fn restart(&self, ended: &mut Server) -> Result<Server, PrivateServerError> {
        let died_early = ended.since.elapsed() < HEALTHY_AFTER;
        let early_deaths = if died_early { ended.history.early_deaths + 1 } else { 0 };
        let gives_up = ended.refused_to_start() || early_deaths > MAX_EARLY_DEATHS;
        if gives_up && server::running(&self.layout).is_none() {
            return Err(PrivateServerError::Start { log: self.layout.log(), tail: server::log_tail(&self.layout) });
        }
        self.server(History { early_deaths, ..ended.history })
    }

    /// The users' lock, exclusively; None while the server has users.
    fn lock_out_users(&self) -> Result<Option<Lock>, PrivateServerError> {
        Lock::try_acquire(&self.layout.users_lock(), Kind::Exclusive, self.account.as_ref())
    }

    fn stop(&self, mut server: Server) -> Result<(), PrivateServerError> {
        let reaper = server.child.take().map(|mut child| std::thread::spawn(move || child.wait()));
        server::stop(&self.layout)?;
        if let Some(reaper) = reaper {
            let _ = reaper.join();
        }
        Ok(())
    }
}

impl Server {
    fn has_ended(&mut self, layout: &Layout) -> bool {
        match &mut self.child {
            Some(child) => !matches!(child.try_wait(), Ok(None)),
            None => server::running(layout).is_none(),
        }
    }

    /// A server that is not this keeper's child ends by itself within a minute after its directory was
    /// removed.
    fn end_at_once(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGQUIT);
            let _ = child.wait();
        }
    }

    /// Whether the server exited with an error, not by a signal, before any accepted connections.
    fn refused_to_start(&mut self) -> bool {
        let status = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
        !self.history.was_ready && status.is_some_and(|status| status.code().is_some_and(|code| code != 0))
    }
}

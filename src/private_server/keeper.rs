//! The keeper: a process of its own that starts the server, starts it again when it dies, and stops it when the last
//! user is gone.
//!
//! It leaves its starter's session, so that it outlives even kill -9 of the whole process group. It writes to the
//! server's log, since it has nobody to talk to.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::account::{self, Account};
use super::install::Install;
use super::layout::Layout;
use super::lock::{Kind, Lock};
use super::{Options, PrivateServerError, io, server};

/// The first argument that turns `drover` into the keeper.
pub const KEEPER_ARG: &str = "__pg-keeper";

const POLL: Duration = Duration::from_millis(100);
const READY_POLL: Duration = Duration::from_millis(8);
/// A server that dies sooner than this after its start has died young.
const HEALTHY_AFTER: Duration = Duration::from_secs(10);
/// How long an administrator's restart may take between its stop and its start.
const STOPPED_FOR: Duration = Duration::from_secs(1);
/// This many early deaths in a row, and the keeper gives up.
const MAX_EARLY_DEATHS: u32 = 5;
/// A starter's patience with a keeper that was on its way out when ours looked.
const RELAUNCH_AFTER: Duration = Duration::from_millis(500);

/// Makes sure that a keeper is at work, and waits until the server takes connections.
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
        // it ended well because it met another keeper, which may have been ending too
        if ended.is_some() && launched.elapsed() > RELAUNCH_AFTER {
            keeper = launch(layout, install, options)?;
            launched = Instant::now();
        }
        server::pause(READY_POLL);
    }
    // reaps the keeper should it end before us
    std::thread::spawn(move || keeper.wait());
    Ok(())
}

/// Runs the keeper beside us. When another one is at work already, it ends at once.
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

/// Runs `drover __pg-keeper DIR BIN LINGER_MS [SETTING…]`; `args` are those behind [`KEEPER_ARG`].
pub fn keeper_main(args: impl Iterator<Item = String>) -> ExitCode {
    let _ = nix::unistd::setsid();
    let ended = Keeper::from_args(args).and_then(|keeper| keeper.map_or(Ok(()), Keeper::run));
    match ended {
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
    /// One keeper is enough.
    only: Lock,
}

/// The server as the keeper sees it: its own child, or one that an earlier keeper started.
struct Server {
    child: Option<Child>,
    since: Instant,
    history: History,
}

/// What the keeper has seen of this server and those before it.
#[derive(Clone, Copy, Default)]
struct History {
    /// One of them took connections, so that the settings are not at fault.
    was_ready: bool,
    /// In a row.
    early_deaths: u32,
}

impl Keeper {
    /// None when another keeper is at work.
    fn from_args(mut args: impl Iterator<Item = String>) -> Result<Option<Keeper>, PrivateServerError> {
        let mut next =
            || args.next().ok_or_else(|| io("read the keeper's arguments")(std::io::ErrorKind::InvalidInput.into()));
        let layout = Layout::create(Path::new(&next()?))?;
        let bin = PathBuf::from(next()?);
        let linger = Duration::from_millis(next()?.parse().unwrap_or(30_000));
        let account = account::for_server(&layout.data)?;
        let Some(only) = Lock::try_acquire(&layout.keeper_lock(), Kind::Exclusive, account.as_ref())? else {
            return Ok(None);
        };
        let install = Install::for_cluster(&layout.data, Some(&bin))?;
        Ok(Some(Keeper { layout, install, account, linger, settings: args.collect(), only }))
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
                server.end_at_once(); // its directory was removed: nothing is to be kept, and nothing made there again
                return Ok(());
            }
            if server.has_ended(&self.layout) {
                self.let_others_start_it();
                server = self.server_after(&mut server)?;
            }
            server.history.was_ready |= server::is_ready(&self.layout);
            let Some(nobody) = self.nobody_uses_it()? else {
                unused_since = Instant::now();
                continue;
            };
            if unused_since.elapsed() >= self.linger {
                let stopped = self.stop(server);
                // whoever comes next waits for this lock, and then must be able to launch a keeper
                drop(self.only);
                drop(nobody);
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

    /// Without its lock file the server was stopped, not killed: `pg_ctl restart` must see it gone, and is next.
    fn let_others_start_it(&self) {
        if !self.layout.pid_file().exists() {
            server::passes_within(STOPPED_FOR, || server::running(&self.layout).is_some());
        }
    }

    /// Somebody may have started one already. A server that refused to start will not think better of it.
    fn server_after(&self, dead: &mut Server) -> Result<Server, PrivateServerError> {
        let died_early = dead.since.elapsed() < HEALTHY_AFTER;
        let early_deaths = if died_early { dead.history.early_deaths + 1 } else { 0 };
        let hopeless = dead.refused_to_start() || early_deaths > MAX_EARLY_DEATHS;
        if hopeless && server::running(&self.layout).is_none() {
            return Err(PrivateServerError::Start { log: self.layout.log(), tail: server::log_tail(&self.layout) });
        }
        self.server(History { early_deaths, ..dead.history })
    }

    /// Holding the answer keeps new users out.
    fn nobody_uses_it(&self) -> Result<Option<Lock>, PrivateServerError> {
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

    /// One that is not our child finds out within a minute that its directory is gone.
    fn end_at_once(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGQUIT);
            let _ = child.wait();
        }
    }

    /// It ended by its own decision (a signal leaves no exit code) before it, or any before it, took connections.
    fn refused_to_start(&mut self) -> bool {
        let status = self.child.as_mut().and_then(|child| child.try_wait().ok().flatten());
        !self.history.was_ready && status.is_some_and(|status| status.code().is_some_and(|code| code != 0))
    }
}

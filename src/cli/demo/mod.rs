//! `drover demo`: crawls a simulated platform, with a database of its own, proxies of which some get blocked,
//! pods and workers; at the end it compares the product table with the simulator's oracle.
//!
//! Without `--dir` it works in a temporary directory that is removed at the end. With `--dir`, a demo that
//! was killed resumes its crawl, and one that had finished begins the next crawl.

mod crawl;
mod images;
mod oracle;
mod state;
mod summary;
mod world;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use sim::Simulator;
use tokio::time::Instant;

use self::state::State;
use self::summary::Summary;
use super::http::{Listeners, Servers};
use super::{CliError, Env, ExitCode, Stop, service, values};
use crate::actors::plan::Plan;
use crate::app::database::{self, OpenDatabase};
use crate::app::{App, PreparedApp, names};
use dashboard::IS_BUILT;
use db::{Db, migrate, schedules, tasks};
use settings::{Config, Secret};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Exit after one crawl, with 0 only if all tasks completed and all products are as simulated
    #[arg(long)]
    once: bool,
    /// Number of simulated stores [default: 60]
    #[arg(long, value_name = "N", value_parser = values::number(1..=5000_u16))]
    stores: Option<u16>,
    /// Seed of the simulated stores and products [default: 1]
    #[arg(long, value_name = "N", value_parser = values::number(0..=u64::MAX))]
    seed: Option<u64>,
    /// Delay of each simulated answer in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = values::number(0..=60_000_u64))]
    latency: u64,
    /// Seconds from the start of one crawl to the next; a crawl that takes longer is followed at once
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = values::number(0..=86_400_u64))]
    every: u64,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let stop = env.stop.take_over();
    let dir = DemoDir::open(env.dir.as_deref())?;
    let mut state = State::open(dir.path(), args.seed, args.stores.map(usize::from))?;
    let sim = world::start(&mut state, Duration::from_millis(args.latency)).await?;
    state.save(dir.path())?;
    let demo = Demo { args: &args, env, dir: dir.path(), sim: &sim, stop: &stop };
    let result = demo.run(state).await;
    dir.remove().await;
    result
}

struct Demo<'a> {
    args: &'a Args,
    env: &'a Env,
    dir: &'a Path,
    sim: &'a Simulator,
    stop: &'a Stop,
}

impl Demo<'_> {
    async fn run(&self, mut state: State) -> anyhow::Result<ExitCode> {
        let config = Arc::new(self.config());
        // a signal ends this part at once: no task runs yet
        let Some(prepared) = self.stop.drain.run_until_cancelled(self.prepare(&config)).await else {
            return Ok(ExitCode::Interrupted);
        };
        let (opened, prepared) = prepared?;
        let app = prepared.start().await?;
        let servers = self.serve(&config, &app, &opened.db).await;
        let result = tokio::select! {
            result = self.crawl(&mut state, &opened, &app, servers.as_ref()) => result,
            () = self.stop.drain.cancelled() => self.interrupted(),
            () = app.until_failed() => Ok(ExitCode::Failure),
        };
        let cause = app.stop(service::second_signal(self.stop)).await;
        if let Some(servers) = servers {
            servers.close().await;
        }
        match cause {
            Some(message) => Err(CliError { code: ExitCode::Failure, message }.into()),
            None => result,
        }
    }

    fn interrupted(&self) -> anyhow::Result<ExitCode> {
        if !self.env.out.is_json() {
            self.env.out.line("\nStopping: running tasks end first. Press Ctrl-C again to stop at once.")?;
        }
        Ok(ExitCode::Interrupted)
    }

    async fn prepare(&self, config: &Arc<Config>) -> anyhow::Result<(OpenDatabase, PreparedApp)> {
        let opened = database::open(config).await?;
        migrate::up_own(&opened.db).await?;
        world::seed_database(&opened.db, self.sim, &self.env.config.secrets.keys()).await?;
        schedules::ensure_defaults(&opened.db.client().await?).await?;
        // a running demo would hold the ports, so claimed tasks belong to a dead process
        tasks::recover_all(&opened.db.client().await?).await?;
        let plan = Plan { schedules: false, pods: names::pods(config)? };
        let prepared = App::prepare(config.clone(), opened.db.clone(), self.env.runtime.clone(), plan).await?;
        Ok((opened, prepared))
    }

    /// None when the API cannot be served: the demo crawls without it.
    async fn serve(&self, config: &Arc<Config>, app: &App, db: &Db) -> Option<Servers> {
        let listeners = self.listeners().await.inspect_err(|error| tracing::warn!("{error}")).ok()?;
        listeners.serve(self.env, config, app, db.clone()).inspect_err(|error| tracing::warn!("{error:#}")).ok()
    }

    /// On a free port where the configured one is taken, as by a real drover.
    async fn listeners(&self) -> Result<Listeners, CliError> {
        let mut config = (*self.env.config).clone();
        let taken = match Listeners::bind(&config, true).await {
            Err(taken) => taken,
            bound => return bound,
        };
        let host = config.api.listen.rsplit_once(':').map_or("127.0.0.1", |(host, _)| host);
        config.api.listen = format!("{host}:0");
        tracing::warn!("{taken}; the demo takes a free port");
        Listeners::bind(&config, true).await
    }

    /// Runs one crawl after the other; with `--once` a single one.
    async fn crawl(
        &self,
        state: &mut State,
        opened: &OpenDatabase,
        app: &App,
        servers: Option<&Servers>,
    ) -> anyhow::Result<ExitCode> {
        self.announce(servers)?;
        loop {
            let next_at = Instant::now() + Duration::from_secs(self.args.every);
            let crawled = crawl::run(&opened.db, state.crawl, state.stores).await?;
            // the summary reads the proxies' counters from the table
            if let Some(proxies) = app.proxies() {
                proxies.flush(Duration::from_secs(5)).await;
            }
            let client = opened.db.client().await?;
            let url = self.env.dir.is_some().then(|| opened.url.reveal().to_owned());
            let mut summary = Summary::of(&client, self.sim, crawled, url).await?;
            if let Some(queue) = app.downloads() {
                let waited = images::wait(&opened.db, queue).await?;
                summary.images = Some(images::compare(&client, self.sim, self.dir, waited).await?);
                summary.direct_requests = self.sim.counts().direct;
            }
            self.env.out.either(&summary, ToString::to_string)?;
            state.finished = true;
            state.save(self.dir)?;
            if self.args.once {
                return conclusion(&summary);
            }
            if !self.env.out.is_json() {
                let wait = next_at.saturating_duration_since(Instant::now()).as_secs();
                self.env.out.line(format_args!(
                    "Starting the next crawl in {wait} s with changed prices; press Ctrl-C to end the demo.\n"
                ))?;
            }
            tokio::time::sleep_until(next_at).await;
            (state.crawl, state.finished) = (state.crawl + 1, false);
            self.sim.set_crawl(state.crawl);
            state.save(self.dir)?;
        }
    }

    /// Prints the address of dashboard and API; with `--json` the log has it.
    fn announce(&self, servers: Option<&Servers>) -> std::io::Result<()> {
        match servers.and_then(|servers| servers.api).filter(|_| !self.env.out.is_json()) {
            Some(address) => {
                let base = format!("http://{address}{}", self.env.config.api.base_path);
                if IS_BUILT {
                    self.env.out.line(format_args!("Dashboard   {base}/admin"))?;
                }
                self.env.out.line(format_args!("API         {base}/api/tasks\n"))
            }
            None => Ok(()),
        }
    }

    fn config(&self) -> Config {
        let mut config = (*self.env.config).clone();
        config.database.url = Secret::default();
        config.database.dir = Some(self.dir.to_owned());
        config.storage.root = None;
        world::adapt(&mut config, self.sim);
        config
    }
}

/// The exit code of `--once`, with the reason of a failure.
fn conclusion(summary: &Summary) -> anyhow::Result<ExitCode> {
    let faults = summary.faults();
    if faults.is_empty() {
        return Ok(ExitCode::Ok);
    }
    let message = format!("the crawl is not as simulated: {}", faults.join(", "));
    Err(CliError { code: ExitCode::Failure, message }.into())
}

/// The demo's directory: given, or temporary.
enum DemoDir {
    Given(PathBuf),
    Temporary(tempfile::TempDir),
}

impl DemoDir {
    fn open(dir: Option<&Path>) -> anyhow::Result<DemoDir> {
        let Some(dir) = dir else {
            // the database server may run under another account
            let permissions = Permissions::from_mode(0o755);
            let created = tempfile::Builder::new().prefix("drover-demo-").permissions(permissions).tempdir();
            return Ok(DemoDir::Temporary(created.context("cannot create a temporary directory")?));
        };
        std::fs::create_dir_all(dir).with_context(|| format!("cannot create {}", dir.display()))?;
        Ok(DemoDir::Given(dir.canonicalize()?))
    }

    fn path(&self) -> &Path {
        match self {
            DemoDir::Given(dir) => dir,
            DemoDir::Temporary(dir) => dir.path(),
        }
    }

    /// Stops the database server of a temporary directory and deletes the directory; a given one stays.
    async fn remove(self) {
        let DemoDir::Temporary(dir) = self else { return };
        if let Err(error) = private_server::stop(&private_server::dir_in(dir.path())).await {
            tracing::warn!("the demo's database server could not be stopped: {error}");
        }
        if let Err(error) = dir.close() {
            tracing::warn!("the demo's directory could not be removed: {error}");
        }
    }
}

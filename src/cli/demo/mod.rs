//! `drover demo`: crawls simulated platforms, with a database of its own, proxies of which some get blocked,
//! pods and workers; at the end it compares the product table with the simulator's oracle.
//!
//! Without `--dir` it works in a temporary directory that is removed at the end. With `--dir`, a demo that
//! was killed resumes its crawl, and one that had finished begins the next crawl.

mod crawl;
mod faults;
mod history;
mod images;
mod leftovers;
mod limits;
mod oracle;
mod overrides;
mod platforms;
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

use self::crawl::Crawl;
use self::faults::FailuresOnce;
use self::history::ProductHistory;
use self::images::ImageCheck;
use self::state::{NewDemo, State};
use self::summary::{Subject, Summary};
use self::world::Pace;
use super::http::{Listeners, Servers};
use super::{CliError, Env, ExitCode, Stop, service, values};
use crate::actors::names;
use crate::actors::plan::Plan;
use crate::app::database::{self, OpenDatabase};
use crate::app::{App, PreparedApp};
use dashboard::IS_BUILT;
use db::{Db, demo, schedules, schema, tasks};
use domain::store::StoreId;
use settings::{Config, LiveConfig, Secret, Storage};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Exit after one crawl, with 0 only if all tasks completed and all products are as simulated
    #[arg(long)]
    once: bool,
    /// Number of simulated stores [default: 60]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number(1..=5000_u16))]
    stores: Option<u16>,
    /// Seed of the simulated stores and products [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = values::number(0..=u64::MAX))]
    seed: Option<u64>,
    /// Delay of each simulated answer in milliseconds [default: 150, give or take 100; with --once: 0]
    #[arg(long, value_name = "MS", allow_negative_numbers = true, value_parser = values::number(0..=60_000_u64))]
    latency: Option<u64>,
    /// Seconds from the start of one crawl to the next; a crawl that takes longer is followed at once
    #[arg(long, value_name = "SECONDS", default_value_t = 20, allow_negative_numbers = true, value_parser = values::number(0..=86_400_u64))]
    every: u64,
    /// Log a line for each task on a terminal, too
    #[arg(long, short)]
    pub verbose: bool,
}

/// Latency of a real site.
const LATENCY: Duration = Duration::from_millis(150);
const JITTER: Duration = Duration::from_millis(100);

impl Args {
    fn pace(&self) -> Pace {
        match self.latency {
            Some(ms) => Pace { latency: Duration::from_millis(ms), jitter: Duration::ZERO },
            None if self.once => Pace { latency: Duration::ZERO, jitter: Duration::ZERO },
            None => Pace { latency: LATENCY, jitter: JITTER },
        }
    }
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let stop = env.stop.take_over();
    let dir = DemoDir::open(env.dir.as_deref())?;
    let new = NewDemo { seed: args.seed, stores: args.stores.map(usize::from), has_faults: !args.once };
    let mut state = State::open(dir.path(), new)?;
    let sim = world::start(&mut state, args.pace()).await?;
    state.save(dir.path())?;
    let demo = Demo { args: &args, env, dir: dir.path(), sim: &sim, stop: &stop };
    let result = demo.run(state).await;
    dir.remove().await;
    result
}

/// All that a demo needs before it starts.
struct Prepared {
    opened: OpenDatabase,
    /// Stores in trouble on purpose.
    apart: Vec<StoreId>,
    app: PreparedApp,
}

/// The parts of a demo that runs.
struct Running<'a> {
    opened: &'a OpenDatabase,
    apart: &'a [StoreId],
    config: &'a Config,
    app: &'a App,
    servers: Option<&'a Servers>,
}

/// The state that is kept from crawl to crawl.
struct Progress {
    images: ImageCheck,
    history: ProductHistory,
    /// Time when this process began to crawl.
    began: Instant,
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
        let Some(prepared) = self.stop.drain.run_until_cancelled(self.prepare(&config, &state)).await else {
            return Ok(ExitCode::Interrupted);
        };
        let Prepared { opened, apart, app: prepared } = prepared?;
        let app = prepared.start().await?;
        let has_faults = state.has_faults;
        let servers = self.serve(&config, &app, &opened.db).await;
        let running = Running { opened: &opened, apart: &apart, config: &config, app: &app, servers: servers.as_ref() };
        let result = tokio::select! {
            result = self.crawl(&mut state, running) => result,
            () = self.stop.drain.cancelled() => self.interrupted(),
            () = app.until_failed() => Ok(ExitCode::Failure),
            never = faults::outages(self.sim), if has_faults => match never {},
        };
        let cause = app.stop(service::second_signal(self.stop)).await.cause;
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

    async fn prepare(&self, config: &Arc<Config>, state: &State) -> anyhow::Result<Prepared> {
        let server = if self.args.once { Vec::new() } else { limits::server_settings() };
        let opened = database::open_with(config, server).await?;
        schema::migrate::up_own(&opened.db).await?;
        let apart = world::seed_database(&opened.db, self.sim, state, &self.env.config.secrets.keys()).await?;
        let client = opened.db.client().await?;
        schedules::ensure_defaults(&client, &crate::platforms::default_schedules()).await?;
        demo::schedules::switch_discovery_off(&client).await?;
        drop(client);
        // a running demo would hold the ports, so claimed tasks belong to a dead process
        tasks::recover_all(&opened.db.client().await?).await?;
        leftovers::clear(&opened.db, state.crawl, &apart).await?;
        let plan = Plan { pods: names::pods(config, config.topology.pods, &[])?, ..Plan::default() };
        let app =
            App::prepare(LiveConfig::fixed(Config::clone(config)), opened.db.clone(), self.env.runtime.clone(), plan)
                .await?;
        Ok(Prepared { opened, apart, app })
    }

    /// None when the API cannot be served: the demo crawls without it.
    async fn serve(&self, config: &Arc<Config>, app: &App, db: &Db) -> Option<Servers> {
        let live = overrides::shown(&self.env.live.current(), config);
        if self.env.dir.is_some() {
            service::keep_in(self.dir, &live.current().settings).await;
        }
        let listeners = self.listeners().await.inspect_err(|error| tracing::warn!("{error}")).ok()?;
        listeners.serve(self.env, live, config, app, db.clone()).inspect_err(|error| tracing::warn!("{error:#}")).ok()
    }

    /// Binds the listeners, on a free port where the configured one is taken, as by a real drover.
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
    async fn crawl(&self, state: &mut State, running: Running<'_>) -> anyhow::Result<ExitCode> {
        self.announce(running.servers)?;
        if self.has_history(state)
            && let Some(took) = history::write_queue(&running.opened.db, state, running.apart).await?
        {
            self.say_history("runs, requests and failures", took)?;
        }
        let history = if self.has_history(state) { ProductHistory::Due } else { ProductHistory::Done };
        let mut progress = Progress { images: ImageCheck::default(), history, began: Instant::now() };
        loop {
            let next_at = Instant::now() + Duration::from_secs(self.args.every);
            let crawl = Crawl {
                number: state.crawl,
                stores: state.stores,
                apart: running.apart,
                next_at: (!self.args.once).then_some(next_at),
            };
            let summary = self.crawl_once(state, &running, crawl, &mut progress).await?;
            self.env.out.either(&summary, ToString::to_string)?;
            if !self.args.once
                && let Err(error) = limits::apply(&running.opened.db, running.config).await
            {
                tracing::warn!("old rows and files stay until the next crawl: {error:#}");
            }
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

    async fn crawl_once(
        &self,
        state: &State,
        running: &Running<'_>,
        crawl: Crawl<'_>,
        progress: &mut Progress,
    ) -> anyhow::Result<Summary> {
        let Running { opened, apart, app, .. } = *running;
        let failures = state.has_faults.then(|| FailuresOnce::begin(self.sim, state.crawl));
        let fetched = crawl::fetch(&opened.db, crawl).await?;
        if let Some(took) = progress.history.write(&opened.db, state.seed).await? {
            self.say_history("prices and stock", took)?;
        }
        let crawled = fetched.analyse(&opened.db).await?;
        if let Some(failures) = failures {
            failures.end(self.sim);
        }
        // the summary reads the proxies' counters from the table
        if let Some(proxies) = app.proxies() {
            proxies.flush(Duration::from_secs(5)).await;
        }
        let client = opened.db.client().await?;
        let database_url = self.env.dir.is_some().then(|| opened.url.reveal().to_owned());
        let began = progress.began;
        let subject = Subject { sim: self.sim, stores: state.stores, apart, crawled, began, database_url };
        let mut summary = Summary::of(&client, subject).await?;
        if let Some(queue) = app.downloads() {
            summary.images = Some(match self.args.once {
                true => {
                    let waited = images::wait(&opened.db, queue).await?;
                    progress.images.all(&client, self.sim, self.dir, waited).await?
                }
                false => progress.images.some(&client, self.sim, self.dir).await?,
            });
            summary.direct_requests = self.sim.counts().direct;
        }
        Ok(summary)
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

    /// Charts and product pages of a continuous demo have something to show from the start.
    fn has_history(&self, state: &State) -> bool {
        state.has_faults && !self.args.once
    }

    fn say_history(&self, of: &str, took: Duration) -> std::io::Result<()> {
        if self.env.out.is_json() {
            return Ok(());
        }
        let seconds = took.as_secs_f64();
        self.env.out.line(format_args!("History     7 days of simulated history: {of}, written in {seconds:.1} s"))
    }

    fn config(&self) -> Config {
        let mut config = (*self.env.config).clone();
        config.database.url = Secret::default();
        config.database.dir = Some(self.dir.to_owned());
        config.storage.driver = Storage::LOCAL.to_owned();
        config.storage.root = None;
        world::adapt(&mut config, self.sim);
        if !self.args.once {
            limits::adapt(&mut config);
        }
        config
    }
}

/// The exit code of `--once`, with the reason of a failure.
fn conclusion(summary: &Summary) -> anyhow::Result<ExitCode> {
    let deviations = summary.deviations();
    if deviations.is_empty() {
        return Ok(ExitCode::Ok);
    }
    let message = format!("the crawl is not as simulated: {}", deviations.join(", "));
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

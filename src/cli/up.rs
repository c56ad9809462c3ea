//! `drover up`: runs API, schedules and pods in one process.

use super::service::{self, Http, Look};
use super::{Env, ExitCode};
use crate::actors::names;
use crate::actors::plan::{Follows, Plan};
use crate::app::predecessors;
use db::Db;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Log a line for each task on a terminal instead of the status line
    #[arg(long, short)]
    pub verbose: bool,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    service::run(env, Http::Api, Look::of(args.verbose), async |db| plan(env, db).await).await
}

async fn plan(env: &Env, db: &Db) -> anyhow::Result<Plan> {
    let host = &env.config.worker.host;
    predecessors::take_over(db, host).await?;
    let choose = |in_use: &[String]| names::pods(&env.config, env.config.topology.pods, in_use);
    let pods = names::take(db, host, choose).await?;
    Ok(Plan { schedules: true, pods, follows: Follows::PodsAndWorkers })
}

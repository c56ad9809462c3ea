//! `drover up`: runs API, schedules and pods in one process.

use super::service::{self, Http};
use super::{Env, ExitCode};
use crate::actors::names;
use crate::actors::plan::{Follows, Plan};
use crate::app::predecessors;
use db::Db;

#[derive(Debug, clap::Args)]
pub struct Args {}

pub async fn run(_: Args, env: &Env) -> anyhow::Result<ExitCode> {
    service::run(env, Http::Api, async |db| plan(env, db).await).await
}

async fn plan(env: &Env, db: &Db) -> anyhow::Result<Plan> {
    let names_in_use = predecessors::take_over(db, &env.config.worker.host).await?;
    let pods = names::pods(&env.config, env.config.topology.pods, &names_in_use)?;
    Ok(Plan { schedules: true, pods, follows: Follows::PodsAndWorkers })
}

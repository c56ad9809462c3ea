//! `drover scheduler`: runs only schedules, in any number of replicas.

use super::service::{self, Http, Look};
use super::{Env, ExitCode};
use crate::actors::plan::Plan;

#[derive(Debug, clap::Args)]
pub struct Args {}

pub async fn run(_: Args, env: &Env) -> anyhow::Result<ExitCode> {
    service::run(env, Http::Nothing, Look::Log, async |_| Ok(Plan { schedules: true, ..Plan::default() })).await
}

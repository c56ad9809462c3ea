//! `drover scheduler`: runs only schedules, in any number of replicas.

use super::service::{self, Http};
use super::{Env, ExitCode};
use crate::actors::plan::Plan;

#[derive(Debug, clap::Args)]
pub struct Args {}

pub async fn run(_: Args, env: &Env) -> anyhow::Result<ExitCode> {
    service::run(env, Http::Nothing, async |_| Ok(Plan { schedules: true, ..Plan::default() })).await
}

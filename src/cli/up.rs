//! `drover up`: runs API, schedules and pods in one process.

use super::service::{self, Http};
use super::{Env, ExitCode};
use crate::actors::plan::Plan;
use crate::app::names;

#[derive(Debug, clap::Args)]
pub struct Args {}

pub async fn run(_: Args, env: &Env) -> anyhow::Result<ExitCode> {
    service::run(env, Http::Api, async |_| Ok(Plan { schedules: true, pods: names::pods(&env.config)? })).await
}

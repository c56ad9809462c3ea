//! `drover api`: the HTTP API and the schedules, without workers.

use super::service::{self, Http, Look};
use super::{Env, ExitCode};
use crate::actors::plan::Plan;

#[derive(Debug, clap::Args)]
pub struct Args {}

pub async fn run(_: Args, env: &Env) -> anyhow::Result<ExitCode> {
    service::run(env, Http::Api, Look::Log, async |_| Ok(Plan { schedules: true, ..Plan::default() })).await
}

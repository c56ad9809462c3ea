//! `drover scheduler`: schedules alone, in any number of replicas.

use super::{Env, ExitCode, service};
use crate::actors::tree::Plan;

#[derive(Debug, clap::Args)]
pub struct Args {}

pub async fn run(_: Args, env: &Env) -> anyhow::Result<ExitCode> {
    service::run(env, Plan { schedules: true, pods: Vec::new() }, async |_, _| Ok(())).await
}

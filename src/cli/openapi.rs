//! `drover openapi`: the API's description, as `/api/openapi.json` answers it.

use super::{Env, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_: Args, env: &Env) -> anyhow::Result<ExitCode> {
    env.out.line(serde_json::to_string_pretty(&api::openapi::document())?)?;
    Ok(ExitCode::Ok)
}

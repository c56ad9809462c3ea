//! `drover openapi`: prints the API's description, the same as `/api/openapi.json`.

use super::{Env, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Args {}

pub fn run(_: Args, env: &Env) -> anyhow::Result<ExitCode> {
    env.out.line(serde_json::to_string_pretty(&api::openapi::document())?)?;
    Ok(ExitCode::Ok)
}

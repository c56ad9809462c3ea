//! `drover version`.

use serde::Serialize;

use super::{Env, ExitCode};

#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Serialize)]
struct Version {
    version: &'static str,
    target: String,
}

pub async fn run(_: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let target = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let version = Version { version: env!("CARGO_PKG_VERSION"), target };
    env.out.either(&version, |v| format!("drover {} ({})", v.version, v.target))?;
    Ok(ExitCode::Ok)
}

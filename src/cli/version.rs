//! `drover version`.

use serde::Serialize;

use super::{Env, ExitCode};
use crate::features;

#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Serialize)]
struct Version {
    version: &'static str,
    target: String,
    features: Vec<&'static str>,
}

pub async fn run(_: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let target = format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS);
    let version = Version { version: env!("CARGO_PKG_VERSION"), target, features: features::built() };
    env.out
        .either(&version, |v| format!("drover {} ({})\nfeatures: {}", v.version, v.target, v.features.join(", ")))?;
    Ok(ExitCode::Ok)
}

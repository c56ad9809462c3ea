//! `drover completions`: prints a shell's script that completes commands and flags.

use clap_complete::Shell;

use super::{Env, ExitCode, command};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Your shell
    shell: Shell,
}

pub fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    // it panics where stdout is closed
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), "drover", &mut script);
    env.out.line(String::from_utf8_lossy(&script).trim_end())?;
    Ok(ExitCode::Ok)
}

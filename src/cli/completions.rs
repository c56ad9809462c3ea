//! `drover completions`: what a shell needs to complete commands and flags.

use clap_complete::Shell;

use super::{ExitCode, command};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell that reads it
    shell: Shell,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    // not by `Output`: it is no data but a script, and the same with --json
    clap_complete::generate(args.shell, &mut command(), "drover", &mut std::io::stdout());
    Ok(ExitCode::Ok)
}

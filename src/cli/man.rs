//! `drover man`: prints the manual pages, one for the program and one for each command.

use std::path::PathBuf;

use clap_mangen::Man;

use super::{ExitCode, command};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write one page for each command into this directory [default: print the page of the program]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.into {
        None => Man::new(command()).render(&mut std::io::stdout())?,
        Some(folder) => {
            std::fs::create_dir_all(&folder)?;
            clap_mangen::generate_to(command(), folder)?;
        }
    }
    Ok(ExitCode::Ok)
}

//! Virtual environments for programs in Python, made in `target`.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use tokio::process::Command;

/// The interpreter of an environment with these packages, which is made unless it is there.
pub async fn interpreter(environment: &Path, requirements: &Path) -> Result<PathBuf> {
    let python = environment.join("bin/python");
    let installed = environment.join("requirements.txt");
    if std::fs::read(&installed).ok() == Some(std::fs::read(requirements)?) {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv"]).arg(environment)).await?;
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "-r"]).arg(requirements)).await?;
    std::fs::copy(requirements, installed)?;
    Ok(python)
}

async fn run(command: &mut Command) -> Result<()> {
    let status = command.status().await?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

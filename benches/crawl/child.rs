//! `Child`: a process that answers lines of JSON with lines of JSON. It ends when it is dropped.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout, Command};

/// Longest wait for an answer: a crawl, or rendering the menus of one.
const PATIENCE: Duration = Duration::from_secs(900);

pub struct Child {
    process: tokio::process::Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Child {
    /// This bench in another mode.
    pub fn of_this_program(mode: &str) -> Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(mode);
        Ok(command)
    }

    pub fn spawn(command: &mut Command) -> Result<Child> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        let input = process.stdin.take().context("no stdin")?;
        let output = BufReader::new(process.stdout.take().context("no stdout")?).lines();
        Ok(Child { process, input, output })
    }

    pub fn pid(&self) -> u32 {
        self.process.id().unwrap_or_default()
    }

    pub async fn send(&mut self, message: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.input.write_all(&line).await?;
        Ok(self.input.flush().await?)
    }

    pub async fn receive<T: DeserializeOwned>(&mut self) -> Result<T> {
        let line = tokio::time::timeout(PATIENCE, self.output.next_line()).await??;
        let line = line.with_context(|| format!("process {} ended before it answered", self.pid()))?;
        serde_json::from_str(&line).with_context(|| format!("process {} answered: {line}", self.pid()))
    }

    /// Waits for its end, which the end of its stdin asks for.
    pub async fn finish(self) -> Result<()> {
        let Child { mut process, input, .. } = self;
        drop(input);
        let status = tokio::time::timeout(PATIENCE, process.wait()).await??;
        anyhow::ensure!(status.success(), "it ended with {status}");
        Ok(())
    }
}

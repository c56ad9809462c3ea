//! `ExportFile`: a dataset as the API streams it, on its way to standard output or a file.
//!
//! In: the answer of `/api/export/{dataset}`. Out: its bytes, and their number. An answer that breaks off leaves no file.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use serde_json::json;

use super::sink::Sink;
use crate::cli::progress::CommandProgress;
use crate::cli::{ApiClient, CliError, Env, ExitCode, bytes, with_query};
use contract::exports::{Dataset, ExportFormat};
use domain::amounts::counted;

pub struct ExportFile {
    pub dataset: Dataset,
    /// None: CSV, with `--json` JSON lines.
    pub format: Option<ExportFormat>,
    /// None: standard output.
    pub out: Option<PathBuf>,
}

impl ExportFile {
    /// Writes the rows that the filters leave. `filters`: those of the API, by name.
    pub async fn write(
        &self,
        api: &ApiClient,
        filters: impl IntoIterator<Item = (&'static str, Option<String>)>,
        env: &Env,
    ) -> anyhow::Result<ExitCode> {
        let format = self.format(env)?;
        let mut sink = self.out.as_deref().map_or(Ok(Sink::stdout()), Sink::file)?;
        let progress = CommandProgress::of_bytes(env);
        let query = [("format", Some(format.name().to_owned()))].into_iter().chain(filters);
        let path = with_query(&format!("/api/export/{}", self.dataset), query);
        let copied = tokio::select! {
            copied = copy(api, &path, &mut sink, &progress) => copied?,
            () = progress.until_stopped() => return Ok(progress.interrupted(self.remains())),
        };
        drop(progress);
        sink.finish()?;
        self.report(&copied, env)?;
        Ok(ExitCode::Ok)
    }

    fn format(&self, env: &Env) -> Result<ExportFormat, CliError> {
        let format = self.format.unwrap_or(if env.out.is_json() { ExportFormat::Jsonl } else { ExportFormat::Csv });
        if format == ExportFormat::Parquet && self.out.is_none() && io::stdout().is_terminal() {
            return Err(CliError::usage(
                "a terminal cannot show Parquet: give --out FILE, or redirect standard output",
            ));
        }
        Ok(format)
    }

    fn report(&self, Copied { rows, bytes: size }: &Copied, env: &Env) -> io::Result<()> {
        let Some(path) = &self.out else { return Ok(()) };
        let of = rows.map_or(format!("the dataset {}", self.dataset), |rows| counted(rows, "row"));
        let text = format!("{of} ({}) written to {}", bytes(*size), path.display());
        env.out.either(&json!({ "rows": rows, "bytes": size, "file": path }), |_| text)
    }

    /// Text about the destination of an export that a signal ended.
    fn remains(&self) -> &'static str {
        match self.out {
            Some(_) => "the file is as it was before",
            None => "the output ends in the middle",
        }
    }
}

struct Copied {
    /// None: the answer did not say.
    rows: Option<i64>,
    bytes: i64,
}

async fn copy(api: &ApiClient, path: &str, sink: &mut Sink, progress: &CommandProgress) -> anyhow::Result<Copied> {
    let mut answer = api.download(path).await?;
    let mut bytes = 0;
    while let Some(piece) = answer.next().await? {
        bytes += piece.len() as i64;
        progress.advance(piece.len() as u64);
        sink.write(piece.into()).await?;
    }
    Ok(Copied { rows: answer.rows(), bytes })
}

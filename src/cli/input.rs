//! `Input`: a list that a command reads from a file or from standard input, as text of a bounded size.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::{CliError, ExitCode};

/// Several times the longest list that `list_file` accepts.
const MAX_BYTES: u64 = 16 << 20;

/// Faults that are printed; further ones are counted.
const MAX_FAULTS: usize = 100;

pub struct Input {
    /// The file's path or `standard input`, for messages.
    pub name: String,
    pub text: String,
}

impl Input {
    /// Reads `path`; `-` is standard input. Reading blocks, so it runs on the blocking pool.
    pub async fn read(path: &Path) -> anyhow::Result<Input> {
        let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
        let file = path.to_owned();
        let read = tokio::task::spawn_blocking(move || read_all(file)).await?;
        let text = read.map_err(|error| CliError {
            code: if error.kind() == ErrorKind::NotFound { ExitCode::NotFound } else { ExitCode::Failure },
            message: format!("{name} cannot be read: {error}"),
        })?;
        Ok(Input { name, text })
    }
}

/// The error for a list with these faults; a single fault refuses the whole list.
pub fn refusal(faults: &[String]) -> CliError {
    let mut lines: Vec<String> = faults.iter().take(MAX_FAULTS).cloned().collect();
    if faults.len() > MAX_FAULTS {
        lines.push(format!("and {} more", faults.len() - MAX_FAULTS));
    }
    lines.push("nothing was imported".to_owned());
    CliError::usage(lines.join("\n"))
}

fn read_all(file: PathBuf) -> io::Result<String> {
    let reader: Box<dyn Read> =
        if file == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(file)?) };
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

//! What a command reads: a list of the operator's, from a file or from standard input, as text of a bounded size.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::{CliError, ExitCode};

/// Far more than any list needs.
const MAX_BYTES: u64 = 16 << 20;

/// Faults that are shown; who has more mends these first.
const MAX_FAULTS: usize = 100;

pub struct Input {
    /// What to call it in messages.
    pub name: String,
    pub text: String,
}

impl Input {
    /// `-` is standard input, which may take its time: it is read where waiting does no harm.
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

/// The refusal of a list with these faults, of which one is enough.
pub fn refusal(faults: &[String]) -> CliError {
    let mut lines: Vec<String> = faults.iter().take(MAX_FAULTS).cloned().collect();
    if faults.len() > MAX_FAULTS {
        lines.push(format!("and {} more", faults.len() - MAX_FAULTS));
    }
    lines.push("nothing was imported".to_owned());
    CliError::usage(lines.join("\n"))
}

fn read_all(file: PathBuf) -> io::Result<String> {
    let source: Box<dyn Read> =
        if file == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(file)?) };
    let mut bytes = Vec::new();
    source.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {} MiB", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

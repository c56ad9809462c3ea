//! `Input`: a list that a command reads from a file or from standard input, as text of a bounded size; and
//! the handling of its refused lines.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::list_file::{self, BadLine};
use super::{CliError, ExitCode};

/// Maximum size: several times the longest list that `list_file` accepts.
const MAX_BYTES: u64 = 16 << 20;

/// Maximum printed faults; further ones are counted.
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
            message: format!("cannot read {name}: {error}"),
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

/// Handles refused lines. Without a file for them the whole list is refused; else they are written there,
/// each below its faults, so that the file can be corrected and imported. `header`: the list's own first
/// line.
pub fn skip_bad(
    name: &str,
    header: Option<&str>,
    bad: &[BadLine<'_>],
    skip_bad: Option<&Path>,
) -> Result<(), CliError> {
    let Some(path) = skip_bad else {
        return if bad.is_empty() { Ok(()) } else { Err(refusal(&list_file::faults(name, bad))) };
    };
    if fs::canonicalize(path).is_ok_and(|path| fs::canonicalize(name).is_ok_and(|list| list == path)) {
        return Err(CliError::usage("--skip-bad is the imported file itself; choose another file"));
    }
    write_bad(path, header, bad).map_err(|error| CliError {
        code: ExitCode::Failure,
        message: format!("cannot write {}: {error}; nothing was imported", path.display()),
    })
}

/// Exit code of an import that skipped `remaining` entries because it was stopped, and `refused` ones because
/// of their faults.
pub fn code(remaining: usize, refused: usize) -> ExitCode {
    match (remaining, refused) {
        (1.., _) => ExitCode::Interrupted,
        (0, 1..) => ExitCode::PartialFailure,
        (0, 0) => ExitCode::Ok,
    }
}

/// The same result in words.
pub fn outcome(remaining: usize, refused: usize, skip_bad: Option<&Path>) -> Vec<String> {
    let mut lines = Vec::new();
    if let (1.., Some(path)) = (refused, skip_bad) {
        lines.push(format!("wrong lines: {refused}, written to {}", path.display()));
    }
    if remaining > 0 {
        lines.push(format!("stopped with {remaining} left; run the same command again to import them"));
    }
    lines
}

/// Writes the file whole or not at all, readable by its owner alone: lines may hold passwords.
fn write_bad(path: &Path, header: Option<&str>, bad: &[BadLine<'_>]) -> io::Result<()> {
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(dir)?;
    let mut out = io::BufWriter::new(&file);
    if let Some(header) = header {
        writeln!(out, "{header}")?;
    }
    for line in bad {
        for fault in &line.faults {
            let fault = format!("line {}: {}", line.number, fault.replace(char::is_control, " "));
            writeln!(out, "{}", list_file::comment(&fault, header))?;
        }
        writeln!(out, "{}", line.text)?;
    }
    out.flush()?;
    drop(out);
    file.persist(path).map(drop).map_err(|error| error.error)
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

//! yt-dlp: its command, its lines, its exit codes. Pure: nothing is run, read or written here.
//!
//! In: one address. Out: a [`Command`] for the runner; then a [`Line`] for each that it prints, and a
//! [`Verdict`] for its end. It must not know queue or database.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::input::{self, InputError, Login};
use crate::printed::{self, LineError};
use crate::tool::{Command, Ended};
use crate::verdict::Verdict;

pub const HOW_TO_INSTALL: &str = "`python3 -m venv DIR && DIR/bin/pip install yt-dlp`, with DIR/bin in media.tool_path";

const PROGRESS: &str = r#"download:{"bytes":%(progress.downloaded_bytes|0)d,"total":%(progress.total_bytes,progress.total_bytes_estimate|0)d}"#;
const ITEM: &str = "after_move:%(.{id,title,filepath,ext,width,height,duration,timestamp,extractor_key,webpage_url})j";

pub struct Download<'a> {
    pub address: &'a str,
    /// The locked work directory.
    pub work: &'a Path,
    /// Maximum size of a file that is downloaded; one that says that it is larger is left out, and the exit
    /// code is 0.
    pub max_bytes: u64,
    pub login: Option<Login>,
    /// File of cookies in Netscape's format, with mode 0600; yt-dlp rewrites it.
    pub cookies: Option<&'a Path>,
    pub proxy: Option<&'a str>,
    /// Whether ffmpeg is there: with it the best picture and the best sound are merged; without it the best single file is taken.
    pub has_ffmpeg: bool,
    pub script_runtime: Option<ScriptRuntime>,
}

/// YouTube needs one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptRuntime {
    Deno,
    Node,
}

/// One line of stdout.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// `total` is None where the site does not say it.
    Progress {
        bytes: u64,
        total: Option<u64>,
    },
    Item(Box<Item>),
}

/// A file that is whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The site's name in yt-dlp, such as `Youtube`.
    pub extractor: String,
    pub id: String,
    pub path: PathBuf,
    pub title: Option<String>,
    pub page: Option<String>,
    pub width: Option<u32>,
    pub height: Option<u32>,
    /// Duration in milliseconds.
    pub duration: Option<u64>,
    /// Seconds since 1970.
    pub posted_at: Option<i64>,
    /// All fields of the line.
    pub metadata: Map<String, Value>,
}

impl Download<'_> {
    pub fn command(&self, program: impl Into<PathBuf>) -> Result<Command, InputError> {
        let mut command = Command::new(program, HOW_TO_INSTALL);
        command.args = ["--ignore-config", "--config-locations", "-"].map(Into::into).to_vec();
        command.stdin = self.options()?.into_bytes();
        // a stream in fragments does not tell its size, so that its own limit does not hold
        command.limits.file_size = self.max_bytes;
        command.secrets.extend(self.login.as_ref().map(|login| login.password.clone()));
        command.secrets.extend(self.proxy.and_then(input::password_of));
        Ok(command)
    }

    /// One option a line. The address is last and begins with its scheme, so that it is not taken for an option.
    fn options(&self) -> Result<String, InputError> {
        let mut lines: Vec<String> = ["--quiet", "--no-simulate", "--progress", "--newline", "--restrict-filenames"]
            .into_iter()
            .chain(["--no-playlist", "--playlist-items 1", "--no-mtime", "--no-cache-dir", "--progress-delta 1"])
            .map(str::to_owned)
            .collect();
        lines.push(option("--progress-template", PROGRESS));
        lines.push(option("--print", ITEM));
        lines.push(option("--output", "%(extractor_key)s-%(id)s.%(ext)s"));
        lines.push(option("--paths", input::path(self.work)?));
        lines.push(format!("--max-filesize {}", self.max_bytes));
        if !self.has_ffmpeg {
            lines.push("-f b".to_owned());
        }
        if let Some(login) = &self.login {
            lines.push(option("--username", input::text("the user name", &login.username)?));
            lines.push(option("--password", input::text("the password", &login.password)?));
        }
        if let Some(cookies) = self.cookies {
            lines.push(option("--cookies", input::path(cookies)?));
        }
        if let Some(proxy) = self.proxy {
            lines.push(option("--proxy", input::text("the proxy", proxy)?));
        }
        if let Some(runtime) = self.script_runtime {
            lines.push(option("--js-runtimes", runtime.name()));
        }
        lines.push(quoted(input::address(self.address)?));
        Ok(lines.join("\n") + "\n")
    }
}

impl ScriptRuntime {
    fn name(self) -> &'static str {
        match self {
            ScriptRuntime::Deno => "deno",
            ScriptRuntime::Node => "node",
        }
    }
}

impl Line {
    pub fn read(line: &[u8], work: &Path) -> Result<Line, LineError> {
        let object = printed::object(line)?;
        if let Some(bytes) = object.get("bytes").and_then(Value::as_u64) {
            let total = object.get("total").and_then(Value::as_u64).filter(|total| *total > 0);
            return Ok(Line::Progress { bytes, total });
        }
        Item::of(object, work).map(Box::new).map(Line::Item)
    }
}

impl Item {
    fn of(object: Map<String, Value>, work: &Path) -> Result<Item, LineError> {
        let pixels = |name| object.get(name).and_then(Value::as_u64).and_then(|pixels| u32::try_from(pixels).ok());
        let seconds = object.get("duration").and_then(Value::as_f64).filter(|seconds| *seconds >= 0.0);
        Ok(Item {
            path: printed::file(&object, "filepath", work)?,
            extractor: printed::id(&object, "extractor_key")?,
            id: printed::id(&object, "id")?,
            title: printed::title(&object),
            page: printed::address(&object, "webpage_url"),
            width: pixels("width"),
            height: pixels("height"),
            // a number that is too large becomes the largest
            duration: seconds.map(|seconds| (seconds * 1000.0) as u64),
            posted_at: object.get("timestamp").and_then(Value::as_f64).map(|seconds| seconds as i64),
            metadata: printed::bounded(object),
        })
    }
}

/// `files_came`: at least one line was an [`Item`].
pub fn verdict(ended: &Ended, files_came: bool) -> Verdict {
    let error = ended.first_error.as_deref().unwrap_or_default();
    Verdict::of(ended.how, |code| of_exit(code, files_came, Reason::of(error)))
}

/// Text for people: the first error without its mark.
pub fn error_message(ended: &Ended) -> Option<String> {
    let error = ended.first_error.as_deref()?;
    Some(error.strip_prefix("ERROR: ").unwrap_or(error).to_owned())
}

/// The first error of a tool that exits with 1 for all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Login,
    /// The video does not exist, or no one can download it.
    Gone,
    Other,
}

impl Reason {
    fn of(error: &str) -> Reason {
        let says = |words: &[&str]| words.iter().any(|word| error.contains(word));
        match () {
            // the address is blocked for a time, though YouTube asks for a login
            () if says(&["not a bot"]) => Reason::Other,
            // the advice that goes with every demand for a login
            () if says(&["--cookies", "HTTP Error 401"]) => Reason::Login,
            () if says(&[
                "HTTP Error 404",
                "HTTP Error 410",
                "Unsupported URL",
                "is not a valid URL",
                "Video unavailable",
            ]) =>
            {
                Reason::Gone
            }
            () => Reason::Other,
        }
    }
}

/// The table of exit codes.
fn of_exit(code: i32, files_came: bool, reason: Reason) -> Verdict {
    match (code, reason) {
        // 101: as many as were asked for
        (0 | 101, _) if files_came => Verdict::Done,
        // it was left out, since it is too large or is not a file
        (0 | 101, _) => Verdict::PERMANENT,
        (1, Reason::Login) => Verdict::LOGIN,
        (1, Reason::Gone) => Verdict::PERMANENT,
        (2, _) => Verdict::PERMANENT,
        _ => Verdict::Retry,
    }
}

fn option(name: &str, value: &str) -> String {
    format!("{name} {}", quoted(value))
}

/// Quotes a value for a POSIX shell. Nothing in it has control characters: that was checked.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;

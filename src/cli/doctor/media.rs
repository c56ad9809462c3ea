//! Tools, their limits, work directory and credentials of media jobs, as `drover doctor` sees them.
//!
//! A missing tool is not a fault: a system without media jobs needs none.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use super::disk::{free_where_writable, shown_free};
use super::finding::Finding;
use ::media::{gallery_dl, tool, yt_dlp};
use settings::Config;
use storage::free_space;

/// Maximum time of one question for a version; Python takes half a second.
const MAX_TIME: Duration = Duration::from_secs(10);
const OLDEST_DENO: u32 = 2;
const OLDEST_NODE: u32 = 20;
const PYTHON: &str = "`apt install python3-venv` or `brew install python`";
const FFMPEG: &str = "`apt install ffmpeg` or `brew install ffmpeg`: without it, only formats that hold picture and sound together can be downloaded, often at a lower resolution";
const RUNTIME: &str = "`pip install deno` beside yt-dlp, or install Node.js 20 or later: YouTube needs one";

/// A program that media jobs run.
struct Tool {
    /// The first one that is there is taken.
    programs: Vec<PathBuf>,
    version_flag: &'static str,
    /// Minimum major version.
    oldest: u32,
    remedy: String,
}

impl Tool {
    /// `deno or node`.
    fn names(&self) -> String {
        let names: Vec<String> = self.programs.iter().map(|program| program.display().to_string()).collect();
        names.join(" or ")
    }
}

pub async fn check(config: &Config) -> Vec<Finding> {
    let media = &config.media;
    let has_python = tool::find("python3".as_ref(), media.tool_path.as_ref()).is_some();
    let of_python = |remedy: &str| if has_python { remedy.to_owned() } else { format!("{PYTHON}, then {remedy}") };
    let asked = |programs: &[&Path], version_flag, remedy: &str| Tool {
        programs: programs.iter().map(|program| program.to_path_buf()).collect(),
        version_flag,
        oldest: 0,
        remedy: remedy.to_owned(),
    };
    let tools = [
        asked(&[&media.gallery_dl], "--version", &of_python(gallery_dl::HOW_TO_INSTALL)),
        asked(&[&media.yt_dlp], "--version", &of_python(yt_dlp::HOW_TO_INSTALL)),
        asked(&["ffmpeg".as_ref()], "-version", FFMPEG),
        asked(&["ffprobe".as_ref()], "-version", FFMPEG),
        runtime(&media.tool_path),
    ];
    let mut findings = Vec::new();
    let mut missing = Vec::new();
    for tool in tools {
        match place_of(&tool, &media.tool_path) {
            Some((name, path)) => findings.push(found(&tool, &name, &path, &media.tool_path).await),
            None => missing.push(tool),
        }
    }
    findings.extend(absent(&missing, &media.tool_path));
    findings.push(limits());
    findings.push(work_directory(&config.media_work_dir()));
    findings
}

/// The one that yt-dlp is given.
fn runtime(search_path: &str) -> Tool {
    let has_deno = tool::find("deno".as_ref(), search_path.as_ref()).is_some();
    let (programs, oldest) = match has_deno {
        true => (vec!["deno".into()], OLDEST_DENO),
        false => (vec!["deno".into(), "node".into()], OLDEST_NODE),
    };
    Tool { programs, version_flag: "--version", oldest, remedy: RUNTIME.to_owned() }
}

fn limits() -> Finding {
    let memory = tool::Limits::default().address_space >> 20;
    match cfg!(target_os = "linux") {
        true => Finding::well("media limits", format!("each process of a tool has at most {memory} MiB of memory")),
        false => Finding::advice(
            "media limits",
            "this system does not limit the memory of a tool",
            "run the workers of media jobs on Linux, or in a container",
        ),
    }
}

/// The first of its programs that is there.
fn place_of(asked: &Tool, search_path: &str) -> Option<(String, PathBuf)> {
    asked.programs.iter().find_map(|program| {
        let path = tool::find(program, search_path.as_ref())?;
        Some((program.display().to_string(), path))
    })
}

/// One finding for all missing tools: crawls of menus alone need none of them.
fn absent(missing: &[Tool], search_path: &str) -> Option<Finding> {
    let names: Vec<String> = missing.iter().map(Tool::names).collect();
    let remedies: Vec<&str> =
        missing.iter().map(|tool| tool.remedy.as_str()).collect::<BTreeSet<_>>().into_iter().collect();
    let detail = format!("not in media.tool_path ({search_path}), and needed only by media jobs: {}", names.join(", "));
    (!missing.is_empty())
        .then(|| Finding::advice("media tool", detail, format!("for media jobs, {}", remedies.join("; "))))
}

async fn found(asked: &Tool, name: &str, path: &Path, search_path: &str) -> Finding {
    let remedy = asked.remedy.as_str();
    match version(path, asked.version_flag, search_path).await {
        Ok(version) if major(&version).is_some_and(|major| major < asked.oldest) => {
            Finding::advice("media tool", format!("{name} is too old: {version}"), remedy)
        }
        Ok(version) => Finding::well("media tool", format!("{name}: {version}")),
        Err(fault) => Finding::fault("media tool", format!("{name} does not run: {fault}"), remedy),
    }
}

/// The first line that the program says of itself.
async fn version(program: &Path, flag: &str, search_path: &str) -> Result<String, String> {
    let mut command = Command::new(program);
    command.arg(flag).env_clear().env("PATH", search_path).stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(MAX_TIME, command.output()).await;
    let output = output.map_err(|_| format!("no answer within {MAX_TIME:?}"))?.map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()),
        false => Err(output.status.to_string()),
    }
}

/// `v18.19.0` and `deno 2.9.8 (stable, …)` begin with it.
fn major(version: &str) -> Option<u32> {
    let digits = version.trim_start_matches(|letter: char| !letter.is_ascii_digit());
    digits.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

fn work_directory(dir: &Path) -> Finding {
    let nearest = free_space::nearest(dir);
    match free_where_writable(nearest) {
        Ok(free) => Finding::well("media work", format!("{} is writable, {}", nearest.display(), shown_free(free))),
        Err(error) => Finding::advice(
            "media work",
            format!("{}: {error}", nearest.display()),
            "media jobs work there: make it writable, or set media.work_dir",
        ),
    }
}

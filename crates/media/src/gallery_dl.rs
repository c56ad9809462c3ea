//! gallery-dl: its command, its lines, its exit codes. Pure: nothing is run, read or written here.
//!
//! In: an account's addresses and credential. Out: a [`Command`] for the runner; then an [`Event`] for each
//! line that it prints, and a [`Verdict`] for its end. It must not know queue or database.

mod archive;

use std::path::{Path, PathBuf};
use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, Utc};
use serde_json::{Map, Value, json};

use crate::input::{self, InputError, Login};
use crate::printed::{self, LineError};
use crate::tool::{Command, Ended, How};
use crate::verdict::Verdict;

pub use archive::Archive;

pub const HOW_TO_INSTALL: &str =
    "`python3 -m venv DIR && DIR/bin/pip install gallery-dl`, with DIR/bin in media.tool_path";
/// File in the work directory with addresses that gallery-dl found and cannot download.
pub const UNSUPPORTED_FILE: &str = "unsupported.txt";
/// Maximum number of unsupported addresses that are read.
pub const MAX_UNSUPPORTED: usize = 1_000;
/// The begin of a longer text may be lost.
const MAX_READ_STDERR: usize = 32 << 10;
pub const DEFAULT_WAIT_AFTER_429: Duration = Duration::from_secs(30);

/// Options that hold for all sites: a category of such a name would send its credential to each of them.
const OPTIONS: [&str; 24] = [
    "access-token",
    "api-key",
    "api-token",
    "browser",
    "ciphers",
    "client-id",
    "client-secret",
    "cookies",
    "cookies-select",
    "cookies-update",
    "headers",
    "input",
    "keywords",
    "netrc",
    "password",
    "proxy",
    "proxy-env",
    "referer",
    "refresh-token",
    "source-address",
    "token",
    "user-agent",
    "username",
    "verify",
];
/// A scrape ends at this number of known files in a row, unless it is a full one.
const MAX_KNOWN_IN_A_ROW: u32 = 20;
const EVENTS: [&str; 4] = ["after", "post", "skip", "error"];

pub struct Scrape<'a> {
    /// `https://…`, or with the name of a family of sites before it: `mastodon:https://…`.
    pub addresses: &'a [String],
    pub scrape_type: ScrapeType,
    /// The locked work directory.
    pub work: &'a Path,
    /// SQLite file of what was downloaded before ([`Archive`]); gallery-dl adds to it.
    pub archive: &'a Path,
    pub credential: Option<Credential>,
    pub proxy: Option<&'a str>,
    pub wait_after_429: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrapeType {
    /// The newest, up to what is known.
    Recent,
    Full,
}

/// A credential of one site, named by its `category`. It has no `Debug`.
pub struct Credential {
    pub category: String,
    pub secret: Secret,
}

pub enum Secret {
    Login(Login),
    /// A file in Netscape's format, with mode 0600: as mere names and values, cookies would go to every host.
    Cookies {
        file: PathBuf,
        /// Values that messages must not show.
        secrets: Vec<String>,
    },
    /// `access-token`
    Token(String),
}

/// One line of stdout.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub kind: EventKind,
    pub id: ItemId,
    /// The file in the work directory: of `After`, and of `Skip`, where it may exist no more.
    pub path: Option<PathBuf>,
    pub url: Option<String>,
    pub title: Option<String>,
    pub posted_at: Option<DateTime<Utc>>,
    /// All that the site says, as far as there is room.
    pub metadata: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A post was found; its files follow.
    Post,
    /// A file was downloaded.
    After,
    /// The file is known already.
    Skip,
    /// The file could not be downloaded.
    Error,
}

/// Names a file across runs; empty of a post without an id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ItemId {
    pub category: String,
    pub id: String,
    /// Its number within the post; 0 where there is one file, and for the post itself.
    pub num: u64,
}

impl ItemId {
    /// Makes the id as the archive makes its entry: there an id of 0 is none, and the name of the file takes its place.
    fn of(object: &Map<String, Value>) -> Result<ItemId, LineError> {
        let is_zero = object.get("id").is_some_and(|id| id.as_f64() == Some(0.0));
        let id = printed::id(object, "id").ok().filter(|_| !is_zero);
        Ok(ItemId {
            category: printed::id(object, "category")?,
            id: id.map_or_else(|| printed::id(object, "filename"), Ok)?,
            num: object.get("num").and_then(Value::as_u64).unwrap_or_default().min(i64::MAX.unsigned_abs()),
        })
    }

    /// Its name within its category.
    pub fn of_category(&self) -> String {
        format!("{}_{}", self.id, self.num)
    }

    /// The archive's entry for the file with this name in a category.
    pub fn entry(category: &str, of_category: &str) -> String {
        format!("{category}_{of_category}")
    }
}

impl Scrape<'_> {
    pub fn command(&self, program: impl Into<PathBuf>) -> Result<Command, InputError> {
        let mut command = Command::new(program, HOW_TO_INSTALL);
        let unsupported = format!("{}/{UNSUPPORTED_FILE}", input::path(self.work)?);
        let args = ["--config-ignore", "--no-input", "--config-json", "/dev/fd/3", "--write-unsupported", &unsupported];
        command.args = args.into_iter().chain(["-i", "-"]).map(Into::into).collect();
        for address in self.addresses {
            command.stdin.extend(known_address(address)?.as_bytes());
            command.stdin.push(b'\n');
        }
        command.fd3 = Some(self.configuration()?.to_string().into_bytes());
        command.secrets = self.secrets();
        Ok(command)
    }

    fn configuration(&self) -> Result<Value, InputError> {
        let mark = |event: &str| json!({"name": "metadata", "mode": "modify", "event": event, "fields": {"drover_event": event}});
        let mut postprocessors: Vec<Value> = EVENTS.into_iter().map(mark).collect();
        let events = EVENTS.join(",");
        postprocessors.push(json!({"name": "metadata", "mode": "jsonl", "filename": "-", "event": events}));
        let mut extractor = json!({
            "base-directory": input::path(self.work)?,
            "directory": [],
            "filename": "{category}_{id|filename}_{num|'0'}.{extension}",
            "metadata-path": "drover_path",
            "metadata-url": "drover_url",
            "archive": input::path(self.archive)?,
            "archive-prefix": "",
            // without its quotes, 0 is the name of a field
            "archive-format": "{category}_{id|filename}_{num|'0'}",
            "skip": self.skip(),
            "sleep-429": self.wait_after_429.as_secs(),
            "postprocessors": postprocessors,
        });
        if let Some(proxy) = self.proxy {
            extractor["proxy"] = input::text("the proxy", proxy)?.into();
        }
        if let Some(credential) = &self.credential {
            credential.add_to(&mut extractor)?;
        }
        Ok(json!({
            "extractor": extractor,
            "output": {"mode": "null", "log": {"format": "{levelname}\t{name}\t{message}"}},
            "downloader": {"progress": null},
            "cache": {"file": null},
        }))
    }

    fn skip(&self) -> Value {
        match self.scrape_type {
            ScrapeType::Recent => format!("abort:{MAX_KNOWN_IN_A_ROW}").into(),
            ScrapeType::Full => true.into(),
        }
    }

    fn secrets(&self) -> Vec<String> {
        let secret = self.credential.as_ref().map(|credential| &credential.secret);
        let mut secrets = match secret {
            Some(Secret::Login(login)) => vec![login.password.clone()],
            Some(Secret::Cookies { secrets, .. }) => secrets.clone(),
            Some(Secret::Token(token)) => vec![token.clone()],
            None => vec![],
        };
        secrets.extend(self.proxy.and_then(input::password_of));
        secrets
    }
}

impl Credential {
    fn add_to(&self, extractor: &mut Value) -> Result<(), InputError> {
        let is_taken = extractor.get(&self.category).is_some() || OPTIONS.contains(&self.category.as_str());
        if is_taken || !is_category(&self.category) {
            return Err(InputError::BadCategory(self.category.chars().take(64).collect()));
        }
        extractor[&self.category] = match &self.secret {
            Secret::Login(login) => json!({
                "username": input::text("the user name", &login.username)?,
                "password": input::text("the password", &login.password)?,
            }),
            Secret::Cookies { file, .. } => json!({"cookies": input::path(file)?, "cookies-update": false}),
            Secret::Token(token) => json!({ "access-token": input::text("the token", token)? }),
        };
        Ok(())
    }
}

impl Event {
    pub fn read(line: &[u8], work: &Path) -> Result<Event, LineError> {
        let mut object = printed::object(line)?;
        let kind = match object.get("drover_event").and_then(Value::as_str) {
            Some("post") => EventKind::Post,
            Some("after") => EventKind::After,
            Some("skip") => EventKind::Skip,
            Some("error") => EventKind::Error,
            _ => return Err(LineError::UnknownEvent),
        };
        // a post's line still has the path of the file before it
        let path = match kind {
            EventKind::After => Some(printed::file(&object, "drover_path", work)?),
            EventKind::Skip => printed::file(&object, "drover_path", work).ok(),
            EventKind::Post | EventKind::Error => None,
        };
        let id = match kind {
            EventKind::Post => ItemId::of(&object).unwrap_or_default(),
            EventKind::After | EventKind::Skip | EventKind::Error => ItemId::of(&object)?,
        };
        let url = printed::address(&object, "drover_url");
        object.retain(|name, _| !name.starts_with("drover_"));
        let (title, posted_at) = (printed::title(&object), date(&object));
        Ok(Event { kind, id, path, url, title, posted_at, metadata: printed::bounded(object) })
    }
}

/// `files_came`: at least one event was `After`.
pub fn verdict(ended: &Ended, files_came: bool) -> Verdict {
    let not_found = first_message(ended).is_some_and(|message| message.starts_with("NotFoundError"));
    Verdict::of(ended.how, |code| of_exit(code, files_came, not_found))
}

/// The site does not take the credential that it was given. Without one, the same words say less.
pub fn is_refused(ended: &Ended) -> bool {
    let begins = ["HttpError: '401 ", "HttpError: '403 ", "AbortExtraction: Invalid or missing access token"];
    first_message(ended).is_some_and(|message| begins.iter().any(|begin| message.starts_with(begin)))
}

/// All that there was to see was seen: at most single files failed.
pub fn is_whole(ended: &Ended) -> bool {
    let is_of_a_file = |line: &str| line.split('\t').nth(1).is_some_and(|name| name.starts_with("download"));
    let mut errors = ended.stderr.lines().filter(|line| line.starts_with("error\t"));
    match ended.how {
        How::Exit(0) => true,
        // the begin of a long text is lost
        How::Exit(_) => ended.stderr.len() < MAX_READ_STDERR && errors.all(is_of_a_file),
        _ => false,
    }
}

fn first_message(ended: &Ended) -> Option<&str> {
    site_and_message(ended.first_error.as_deref()?).map(|(_, message)| message)
}

/// Text for people: the first error with the name of the site that it is about. After connections that failed it names no
/// cause, which is in the warnings before it.
pub fn error_message(ended: &Ended) -> Option<String> {
    let error = ended.first_error.as_deref()?;
    let Some((site, message)) = site_and_message(error) else { return Some(error.to_owned()) };
    let is_warning = |line: &&str| line.starts_with("warning\t");
    let last_warning = || site_and_message(ended.stderr.lines().rev().find(is_warning)?);
    let message = match message {
        "None" => last_warning().map_or(message, |(_, cause)| cause),
        message => message,
    };
    Some(format!("{site}: {message}"))
}

/// Parts of a line: its level, its site, its message.
fn site_and_message(line: &str) -> Option<(&str, &str)> {
    let (site, message) = line.split_once('\t')?.1.split_once('\t')?;
    Some((site, message.trim()))
}

/// Addresses in the content of [`UNSUPPORTED_FILE`], in their order, without lines that are not web addresses.
pub fn unsupported(content: &str) -> Vec<String> {
    let addresses = content.lines().filter_map(|line| input::address(line.trim()).ok());
    addresses.take(MAX_UNSUPPORTED).map(str::to_owned).collect()
}

/// The table of exit codes, which are sums of bits.
fn of_exit(code: i32, files_came: bool, not_found: bool) -> Verdict {
    const UNEXPECTED: i32 = 1;
    const USAGE: i32 = 2;
    const HTTP: i32 = 4;
    const CHALLENGE: i32 = 8;
    const LOGIN: i32 = 16;
    const FORMAT: i32 = 32;
    const UNSUPPORTED: i32 = 64;
    const DISK: i32 = 128;
    /// Codes after SIGINT or SIGTERM, which are not sums of bits.
    const INTERRUPTED: [i32; 2] = [130, 143];

    let has = |bits: i32| code & bits != 0;
    match code {
        0 => Verdict::Done,
        code if INTERRUPTED.contains(&code) => Verdict::Retry,
        _ if has(CHALLENGE | LOGIN) => Verdict::LOGIN,
        _ if has(UNEXPECTED | DISK) => Verdict::Retry,
        _ if has(USAGE | FORMAT | UNSUPPORTED) => Verdict::PERMANENT,
        _ if has(HTTP) && files_came => Verdict::Done,
        _ if has(HTTP) && not_found => Verdict::PERMANENT,
        _ => Verdict::Retry,
    }
}

/// Checks the address: in a file of addresses, lines that begin with `-` or `#` are more than addresses.
fn known_address(address: &str) -> Result<&str, InputError> {
    let site = address.split_once(':').filter(|(family, _)| {
        !matches!(*family, "http" | "https")
            && !family.is_empty()
            && family.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    });
    input::address(site.map_or(address, |(_, rest)| rest))?;
    Ok(address)
}

fn is_category(name: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(is_safe)
}

/// Reads the date, which is in UTC.
fn date(object: &Map<String, Value>) -> Option<DateTime<Utc>> {
    let text = object.get("date")?.as_str()?;
    NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").ok().map(|date| date.and_utc())
}

#[cfg(test)]
mod tests;

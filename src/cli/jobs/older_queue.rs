//! `OlderQueue`: the queue of the system that drover replaces: the table `worker_job_queue` of a SQLite file.
//!
//! In: the file, which is only read, with its write-ahead log; its worker may still run. Out: its jobs as requests, part
//! by part, and a reason for each that cannot be read. Numbers that drover does not have are moved into its range. It
//! must not know drover's jobs.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, Utc};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use serde_json::Value;
use thiserror::Error;

use contract::checks::{MAX_TEXT_CHARS, RETRIES};
use contract::job_imports::{EndStatus, MAX_ERROR_CHARS, OldEnd, OldJobRequest, RefusedJob};
use contract::jobs::{JobRequest, PRIORITIES};
use domain::vocabulary::find;

const TABLE: &str = "worker_job_queue";
/// Rows are read in the order of their ids, so that one with another id cannot be read.
const HAS_ID: &str = "typeof(id) = 'integer'";
/// Maximum number of rows without a whole number for their id, and of characters of such an id that are shown.
const MAX_WITHOUT_ID: usize = 1_000;
const MAX_SHOWN_ID: usize = 100;
/// Columns that the table must have beside the id.
const REQUIRED: [&str; 2] = ["job_type", "status"];
/// Columns in the order in which a row is read, after the id. Each has the maximum number of characters that is read: a name
/// or a payload that was cut is refused as too long.
const COLUMNS: [(&str, usize); 13] = [
    ("job_type", MAX_WORD),
    ("status", MAX_WORD),
    ("platform", MAX_WORD),
    ("account", MAX_WORD),
    ("priority", MAX_WORD),
    ("payload", MAX_PAYLOAD),
    ("scheduled_for", MAX_WORD),
    ("retry_count", MAX_WORD),
    ("max_retries", MAX_WORD),
    ("created_at", MAX_WORD),
    ("started_at", MAX_WORD),
    ("completed_at", MAX_WORD),
    ("error_message", MAX_ERROR_CHARS),
];
/// One more than a name may have.
const MAX_WORD: usize = MAX_TEXT_CHARS + 1;
/// A thousand ids need less.
const MAX_PAYLOAD: usize = 32_768;
/// Maximum wait for the locks of a worker that still runs.
const BUSY: Duration = Duration::from_secs(5);

#[derive(Debug, Error)]
pub enum OlderQueueError {
    #[error("the file is not a SQLite database")]
    NotSqlite,
    #[error(
        "the file cannot be opened: a database with a write-ahead log can be read only in a writable directory; copy it there with its -wal and -shm files"
    )]
    CannotOpen,
    #[error("the file has no table {TABLE}")]
    NoTable,
    #[error("its table {TABLE} has no column {0}")]
    NoColumn(&'static str),
    #[error("the ids of more than {MAX_WITHOUT_ID} rows of its table {TABLE} are not whole numbers")]
    Ids,
    #[error(
        "its program was killed while it wrote: open the file once with that program or with `sqlite3 FILE`, which repairs it, then import it"
    )]
    Interrupted,
    #[error("the file cannot be read: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

pub struct OlderQueue {
    connection: Connection,
    /// Selects a part: jobs after an id, at most so many.
    select: String,
    /// Condition of the jobs that are read.
    condition: &'static str,
    last: i64,
}

/// A job of the older queue, or why it cannot be read.
pub type OldRow = Result<OldJobRequest, RefusedJob>;

impl OlderQueue {
    /// `with_history`: also jobs that have ended.
    pub fn open(file: &Path, with_history: bool) -> Result<OlderQueue, OlderQueueError> {
        let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(opening)?;
        connection.busy_timeout(BUSY)?;
        let known = columns(&connection).map_err(opening)?;
        if known.is_empty() {
            return Err(OlderQueueError::NoTable);
        }
        if let Some(missing) = ["id"].into_iter().chain(REQUIRED).find(|name| !known.contains(*name)) {
            return Err(OlderQueueError::NoColumn(missing));
        }
        let condition = if with_history { "1" } else { "lower(status) NOT IN ('completed', 'failed', 'cancelled')" };
        let column = |(name, chars): &(&str, usize)| match known.contains(*name) {
            true => format!(", substr(\"{name}\", 1, {chars})"),
            false => ", NULL".to_owned(),
        };
        let columns: String = COLUMNS.iter().map(column).collect();
        let select = format!(
            "SELECT id{columns} FROM {TABLE} WHERE {HAS_ID} AND id > ?1 AND coalesce({condition}, 1) ORDER BY id LIMIT ?2"
        );
        Ok(OlderQueue { connection, select, condition, last: i64::MIN })
    }

    /// Number of jobs that are still to be read; the queue may grow while it is read.
    pub fn count_left(&self) -> Result<usize, OlderQueueError> {
        let sql =
            format!("SELECT count(*) FROM {TABLE} WHERE {HAS_ID} AND id > ?1 AND coalesce({}, 1)", self.condition);
        let left: i64 = self.connection.query_row(&sql, [self.last], |row| row.get(0))?;
        Ok(usize::try_from(left).unwrap_or(0))
    }

    /// Ids of jobs that are not whole numbers, as SQL writes them: their rows cannot be read.
    pub fn odd_ids(&self) -> Result<Vec<String>, OlderQueueError> {
        let condition = self.condition;
        let sql = format!(
            "SELECT substr(quote(id), 1, {MAX_SHOWN_ID}) FROM {TABLE} WHERE NOT {HAS_ID} AND coalesce({condition}, 1) LIMIT {MAX_WITHOUT_ID} + 1"
        );
        let mut statement = self.connection.prepare(&sql)?;
        let ids: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        if ids.len() > MAX_WITHOUT_ID { Err(OlderQueueError::Ids) } else { Ok(ids) }
    }

    /// Ids of jobs that its worker runs, at most `limit`.
    pub fn running(&self, limit: i64) -> Result<Vec<i64>, OlderQueueError> {
        let sql = format!("SELECT id FROM {TABLE} WHERE {HAS_ID} AND lower(status) = 'running' ORDER BY id LIMIT ?1");
        let mut statement = self.connection.prepare(&sql)?;
        let ids = statement.query_map([limit], |row| row.get(0))?;
        Ok(ids.collect::<Result<_, _>>()?)
    }

    /// The next jobs in the order of their ids; empty at the end.
    pub fn next_part(&mut self, limit: i64) -> Result<Vec<OldRow>, OlderQueueError> {
        let mut statement = self.connection.prepare(&self.select)?;
        let mut rows = statement.query((self.last, limit))?;
        let (mut part, mut last) = (Vec::new(), self.last);
        while let Some(row) = rows.next()? {
            last = row.get(0)?;
            part.push(job(row, last).map_err(|reason| RefusedJob { old_id: last, reason }));
        }
        self.last = last;
        Ok(part)
    }
}

fn columns(connection: &Connection) -> rusqlite::Result<HashSet<String>> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
    statement.query_map([TABLE], |row| row.get(0))?.collect()
}

fn opening(error: rusqlite::Error) -> OlderQueueError {
    if let rusqlite::Error::SqliteFailure(failure, _) = &error
        && failure.extended_code == rusqlite::ffi::SQLITE_READONLY_ROLLBACK
    {
        return OlderQueueError::Interrupted;
    }
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => OlderQueueError::NotSqlite,
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => OlderQueueError::CannotOpen,
        _ => error.into(),
    }
}

/// The job of a row, or its first fault with the column.
fn job(row: &Row<'_>, old_id: i64) -> Result<OldJobRequest, String> {
    let value = |column: &str| text(row, column);
    let status = value("status")?.unwrap_or_default().to_ascii_lowercase();
    let max_retries = number("max_retries", value("max_retries")?)?.map(|number| into_range(number, &RETRIES));
    let retry_count = number("retry_count", value("retry_count")?)?;
    let job = JobRequest {
        job_type: value("job_type")?.unwrap_or_default(),
        platform: value("platform")?.filter(|text| !text.is_empty()),
        account: value("account")?.filter(|text| !text.is_empty()),
        priority: number("priority", value("priority")?)?.map(|number| into_range(number, &PRIORITIES)),
        payload: payload(value("payload")?)?,
        scheduled_for: time("scheduled_for", value("scheduled_for")?)?,
        max_retries,
        depends_on: None,
    };
    let end = match (status.as_str(), find::<EndStatus>(&status)) {
        ("pending" | "running", _) => None,
        (_, Some(status)) => Some(OldEnd {
            status,
            started_at: time("started_at", value("started_at")?)?,
            completed_at: time("completed_at", value("completed_at")?)?,
            error_message: value("error_message")?.map(|text| text.replace('\0', "")),
        }),
        _ => return Err(format!("status: '{status}' is not pending, running, completed, failed or cancelled")),
    };
    Ok(OldJobRequest {
        old_id,
        job,
        created_at: time("created_at", value("created_at")?)?,
        retry_count: retry_count.map(|number| number.clamp(0, max_retries.unwrap_or(*RETRIES.end()))),
        end,
    })
}

/// Values of any type as text, as `substr` gives them.
fn text(row: &Row<'_>, column: &str) -> Result<Option<String>, String> {
    let fault = |fault: &str| format!("{column}: {fault}");
    let place = COLUMNS.iter().position(|(name, _)| *name == column).ok_or_else(|| fault("it is not read"))?;
    match row.get_ref(place + 1).map_err(|error| fault(&error.to_string()))? {
        ValueRef::Null => Ok(None),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(_) => Err(fault("it is not UTF-8 text")),
        },
        ValueRef::Integer(_) | ValueRef::Real(_) => Err(fault("it is not text")),
    }
}

/// A whole number; SQLite may keep one as `5.0`.
fn number(column: &str, text: Option<String>) -> Result<Option<i64>, String> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let text = text.trim();
    let whole = text.strip_suffix(".0").unwrap_or(text);
    whole.parse().map(Some).map_err(|_| format!("{column}: it is not a whole number"))
}

fn into_range(number: i64, range: &RangeInclusive<i64>) -> i64 {
    number.clamp(*range.start(), *range.end())
}

fn payload(text: Option<String>) -> Result<Value, String> {
    match text.filter(|text| !text.trim().is_empty()) {
        None => Ok(Value::Null),
        Some(text) if text.chars().count() >= MAX_PAYLOAD => Err("payload: it is too long".to_owned()),
        Some(text) => match serde_json::from_str(&text) {
            Ok(value) if holds_nul(&value) => Err("payload: it holds a NUL character".to_owned()),
            Ok(value) => Ok(value),
            Err(error) => Err(format!("payload: it is not JSON: {error}")),
        },
    }
}

/// Whether a value holds NUL, which no text of Postgres can hold.
fn holds_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(holds_nul),
        Value::Object(fields) => fields.iter().any(|(name, value)| name.contains('\0') || holds_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// `2025-01-10 08:00:00`, with or without a fraction, in UTC; or a time with its zone.
fn time(column: &str, text: Option<String>) -> Result<Option<DateTime<Utc>>, String> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(None) };
    let text = text.trim();
    let in_utc = ["%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f"];
    let read = in_utc.iter().find_map(|format| NaiveDateTime::parse_from_str(text, format).ok());
    let read = read.map(|time| time.and_utc()).or_else(|| Some(DateTime::parse_from_rfc3339(text).ok()?.to_utc()));
    read.map(Some).ok_or_else(|| format!("{column}: it is not a time such as 2025-01-10 08:00:00"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::text("2025-01-10 08:00:00", "2025-01-10T08:00:00Z")]
    #[case::fraction("2025-01-10 08:00:00.25", "2025-01-10T08:00:00.25Z")]
    #[case::iso("2025-01-10T08:00:00", "2025-01-10T08:00:00Z")]
    #[case::zone("2025-01-10T08:00:00+02:00", "2025-01-10T06:00:00Z")]
    fn a_time_without_a_zone_is_utc(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(time("created_at", Some(text.to_owned())), Ok(Some(expected.parse().unwrap())));
    }

    #[rstest]
    #[case::words("yesterday")]
    #[case::seconds("1736496000")]
    #[case::month("2025-13-10 08:00:00")]
    fn other_times_are_refused_with_their_column(#[case] text: &str) {
        assert!(time("created_at", Some(text.to_owned())).unwrap_err().starts_with("created_at: "));
    }

    #[rstest]
    #[case::text("5", Ok(Some(5)))]
    #[case::real("5.0", Ok(Some(5)))]
    #[case::none("", Ok(None))]
    #[case::fraction("5.5", Err("priority: it is not a whole number".to_owned()))]
    fn a_number_is_whole(#[case] text: &str, #[case] expected: Result<Option<i64>, String>) {
        assert_eq!(number("priority", Some(text.to_owned())), expected);
    }

    #[test]
    fn an_empty_payload_is_none() {
        assert_eq!(payload(Some(" ".to_owned())), Ok(Value::Null));
        assert!(payload(Some("{".to_owned())).unwrap_err().starts_with("payload: it is not JSON"));
        assert!(payload(Some(r#"{"a": ["\u0000"]}"#.to_owned())).unwrap_err().contains("NUL"));
    }
}

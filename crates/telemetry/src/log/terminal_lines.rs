//! Lines of the log for people: time, level and message, and then the fields of the event and of its spans
//! whose values the message does not hold, each once.

use std::error::Error;
use std::fmt::{self, Write};

use tracing::field::Field;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::field::{RecordFields, Visit};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

const MESSAGE: &str = "message";
/// Separator of the fields of a span; no value has it, since control characters are escaped.
const SEPARATOR: char = '\u{1f}';

/// Keeps the fields of a span for its events.
pub struct SpanFields;

impl<'w> FormatFields<'w> for SpanFields {
    fn format_fields<R: RecordFields>(&self, mut writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut record = Record::default();
        fields.record(&mut record);
        record.fields.iter().try_for_each(|(name, value)| write!(writer, "{name}={value}{SEPARATOR}"))
    }
}

pub struct TerminalLines;

impl<S> FormatEvent<S, SpanFields> for TerminalLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, SpanFields>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut record = Record::default();
        event.record(&mut record);
        for span in context.event_scope().into_iter().flatten() {
            if let Some(fields) = span.extensions().get::<FormattedFields<SpanFields>>() {
                record.add_span(&fields.fields);
            }
        }
        let style = Style { is_coloured: writer.has_ansi_escapes() };
        write!(writer, "{}", style.dim())?;
        SystemTime.format_time(&mut writer)?;
        let level = *event.metadata().level();
        write!(writer, "{} {}{level:>5}{} {}", style.end(), style.of(level), style.end(), record.message)?;
        for (name, value) in record.unsaid() {
            write!(writer, " {}{name}={}{value}", style.dim(), style.end())?;
        }
        writeln!(writer)
    }
}

/// Escapes of a terminal; empty where there are no colours.
#[derive(Clone, Copy)]
struct Style {
    is_coloured: bool,
}

impl Style {
    fn of(self, level: Level) -> &'static str {
        self.escape(match level {
            Level::ERROR => "\u{1b}[31m",
            Level::WARN => "\u{1b}[33m",
            Level::INFO => "\u{1b}[32m",
            Level::DEBUG => "\u{1b}[34m",
            Level::TRACE => "\u{1b}[35m",
        })
    }

    fn dim(self) -> &'static str {
        self.escape("\u{1b}[2m")
    }

    fn end(self) -> &'static str {
        self.escape("\u{1b}[0m")
    }

    fn escape(self, escape: &'static str) -> &'static str {
        if self.is_coloured { escape } else { "" }
    }
}

/// An event's message and fields, or a span's fields, as text without control characters.
#[derive(Default)]
struct Record {
    message: String,
    fields: Vec<(String, String)>,
}

impl Record {
    fn note(&mut self, field: &Field, value: &str) {
        let value: String = value.chars().flat_map(visible).collect();
        match field.name() {
            MESSAGE => self.message = value,
            name => self.fields.push((name.to_owned(), value)),
        }
    }

    /// A field of the event hides one of its span.
    fn add_span(&mut self, fields: &str) {
        for (name, value) in fields.split(SEPARATOR).filter_map(|field| field.trim_start().split_once('=')) {
            if self.fields.iter().all(|(known, _)| known != name) {
                self.fields.push((name.to_owned(), value.to_owned()));
            }
        }
    }

    /// The fields whose values the message does not hold. Each place in the message stands for one field.
    fn unsaid(&self) -> impl Iterator<Item = (&str, String)> {
        let mut message = self.message.clone();
        self.fields.iter().filter_map(move |(name, value)| match place_in(&message, name, value) {
            Some(at) => {
                message.replace_range(at..at + value.len(), "\u{1f}");
                None
            }
            None => Some((name.as_str(), quoted(value))),
        })
    }
}

impl Visit for Record {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.note(field, value);
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        self.note(field, &value.to_string());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut text = String::new();
        // writing to a text cannot fail
        let _ = write!(text, "{value:?}");
        self.note(field, text.trim_matches('"'));
    }
}

fn visible(letter: char) -> impl Iterator<Item = char> {
    let escaped = letter.is_control().then(|| letter.escape_default());
    let plain = (!letter.is_control()).then_some(letter);
    escaped.into_iter().flatten().chain(plain)
}

fn quoted(value: &str) -> String {
    let is_word = !value.is_empty() && !value.contains([' ', '"', '=']);
    if is_word { value.to_owned() } else { format!("\"{}\"", value.replace('"', "\\\"")) }
}

/// Place at which the text holds the value as words of its own: `task 12` does not say 1. A number counts beside its name
/// alone: `task 1` says nothing of a fence.
fn place_in(message: &str, name: &str, value: &str) -> Option<usize> {
    let is_apart = |neighbour: Option<char>| neighbour.is_none_or(|letter| !letter.is_alphanumeric());
    if value.is_empty() {
        return None;
    }
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    let mut places = message.match_indices(value).map(|(at, _)| at);
    places.find(|at| {
        let (before, after) = (&message[..*at], &message[at + value.len()..]);
        let is_whole = is_apart(before.chars().next_back()) && is_apart(after.chars().next());
        is_whole && (!is_number || is_named(before, after, name))
    })
}

/// Whether the name, or its plural, is in the clause before the number, or after it: `task 1`, `tasks made: 5`,
/// `15 tasks`.
fn is_named(before: &str, after: &str, name: &str) -> bool {
    let clause = before.rsplit([',', ';', '(', ')']).next().unwrap_or_default().to_ascii_lowercase();
    clause.contains(name.trim_end_matches('s')) || after.trim_start().starts_with(name)
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Seek};

    use rstest::rstest;

    use super::*;

    /// Length of a time and the space after it.
    const TIME: usize = "2026-11-28T13:48:50.118422Z ".len();

    fn line(log: impl FnOnce()) -> String {
        let mut file = tempfile::tempfile().unwrap();
        let writer = file.try_clone().unwrap();
        let format = tracing_subscriber::fmt().with_ansi(false).fmt_fields(SpanFields).event_format(TerminalLines);
        tracing::subscriber::with_default(format.with_writer(writer).finish(), log);
        let mut line = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut line).unwrap();
        line
    }

    #[test]
    fn a_line_says_each_value_once() {
        let line = line(|| {
            tracing::info!(pod = "Xylos", slots = 3, error = %io::Error::other("gone"), "Starting pod Xylos");
        });
        assert_eq!(&line[TIME..], " INFO Starting pod Xylos slots=3 error=gone\n");
    }

    fn complete(task: i64, fence: i64) {
        let (role, name, worker) = ("entry_point_discovery", "Aethelgard-12", "worker-any-eb5f8ca1");
        let span = tracing::info_span!("task", task, fence, role, worker_name = name, worker);
        let _entered = span.enter();
        tracing::info!(task, fence, role, worker_name = name, worker, "Task {task} completed successfully");
    }

    #[test]
    fn a_field_of_the_event_and_its_span_is_said_once_and_the_line_stays_short() {
        let line = line(|| complete(1_234_567, 12));
        let fields = "fence=12 role=entry_point_discovery worker_name=Aethelgard-12 worker=worker-any-eb5f8ca1";
        assert_eq!(&line[TIME..], format!(" INFO Task 1234567 completed successfully {fields}\n"));
        assert!(line.trim_end().len() <= 160, "{} characters", line.len());
    }

    #[test]
    fn a_place_in_the_message_stands_for_one_field() {
        let line = line(|| complete(1, 1));
        assert!(line.contains(" Task 1 completed successfully fence=1 role="), "{line}");
    }

    #[test]
    fn a_text_from_outside_makes_no_line_of_its_own() {
        let line = line(|| tracing::warn!(reason = "two words", "away\n\u{1b}[31mforged"));
        assert_eq!(&line[TIME..], " WARN away\\n\\u{1b}[31mforged reason=\"two words\"\n");
    }

    #[rstest]
    #[case::word("Starting pod Xylos for role: any, workers: 5", "pod", "Xylos", true)]
    #[case::number("Starting pod Xylos for role: any, workers: 5", "workers", "5", true)]
    #[case::number_before_its_name("15 tasks of 5", "tasks", "15", true)]
    #[case::number_of_its_clause("Schedule ran, tasks made: 0", "tasks", "0", true)]
    #[case::singular("Task 1 completed successfully", "task", "1", true)]
    #[case::another_name("Claimed task 2 (payload_fetch) for dispensary 1", "fence", "1", false)]
    #[case::address("Listening on http://127.0.0.1:8080", "address", "127.0.0.1:8080", true)]
    #[case::part_of_a_number("task 12", "task", "1", false)]
    #[case::part_of_a_word("any worker", "role", "work", false)]
    #[case::absent("Task 123 completed successfully", "role", "payload_fetch", false)]
    #[case::empty("Task 123 completed successfully", "role", "", false)]
    fn a_message_holds_a_value_where_it_stands_alone(
        #[case] message: &str,
        #[case] name: &str,
        #[case] value: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(place_in(message, name, value).is_some(), expected);
    }
}

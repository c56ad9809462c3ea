//! Fields of a line for people: those whose values its message does not hold.

use std::error::Error;
use std::fmt;

use tracing::field::Field;
use tracing_subscriber::field::{RecordFields, Visit, VisitOutput};
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultVisitor, Writer};

const MESSAGE: &str = "message";

pub struct TerminalFields;

impl<'w> FormatFields<'w> for TerminalFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut message = MessageReader::default();
        fields.record(&mut message);
        let mut filter = FieldFilter { message: message.0, writer: DefaultVisitor::new(writer, true) };
        fields.record(&mut filter);
        filter.writer.finish()
    }
}

#[derive(Default)]
struct MessageReader(String);

impl Visit for MessageReader {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == MESSAGE {
            self.0 = format!("{value:?}");
        }
    }
}

struct FieldFilter<'w> {
    message: String,
    writer: DefaultVisitor<'w>,
}

impl FieldFilter<'_> {
    fn repeats_message(&self, field: &Field, value: &str) -> bool {
        field.name() != MESSAGE && says(&self.message, value)
    }
}

impl Visit for FieldFilter<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if !self.repeats_message(field, value) {
            self.writer.record_str(field, value);
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        if !self.repeats_message(field, &value.to_string()) {
            self.writer.record_error(field, value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if !self.repeats_message(field, format!("{value:?}").trim_matches('"')) {
            self.writer.record_debug(field, value);
        }
    }
}

/// Whether the text holds the value as words of its own: `task 12` does not say 1.
fn says(message: &str, value: &str) -> bool {
    let is_apart = |neighbour: Option<char>| neighbour.is_none_or(|letter| !letter.is_alphanumeric());
    let mut rest = message;
    while let Some((before, after)) = rest.split_once(value).filter(|_| !value.is_empty()) {
        if is_apart(before.chars().next_back()) && is_apart(after.chars().next()) {
            return true;
        }
        rest = after;
    }
    false
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read, Seek};

    use rstest::rstest;

    use super::*;

    #[test]
    fn a_line_says_each_value_once() {
        let mut file = tempfile::tempfile().unwrap();
        let writer = file.try_clone().unwrap();
        let format = tracing_subscriber::fmt().with_ansi(false).without_time().fmt_fields(TerminalFields);
        tracing::subscriber::with_default(format.with_writer(writer).finish(), || {
            tracing::info!(pod = "Xylos", slots = 3, error = %io::Error::other("gone"), "Starting pod Xylos");
        });
        let mut line = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut line).unwrap();
        assert!(line.ends_with(": Starting pod Xylos slots=3 error=gone\n"), "{line}");
    }

    #[rstest]
    #[case::word("Starting pod Xylos for role: any, workers: 5", "Xylos", true)]
    #[case::number("Starting pod Xylos for role: any, workers: 5", "5", true)]
    #[case::address("Listening on http://127.0.0.1:8080", "127.0.0.1:8080", true)]
    #[case::second_place("15 tasks of 5", "5", true)]
    #[case::part_of_a_number("task 12", "1", false)]
    #[case::part_of_a_word("any worker", "work", false)]
    #[case::absent("Task 123 completed successfully", "payload_fetch", false)]
    #[case::empty("Task 123 completed successfully", "", false)]
    fn a_value_repeats_message_where_it_stands_alone(
        #[case] message: &str,
        #[case] value: &str,
        #[case] expected: bool,
    ) {
        assert_eq!(says(message, value), expected);
    }
}

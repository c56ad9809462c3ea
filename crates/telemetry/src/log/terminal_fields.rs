//! Fields of a line for people: those whose values its message does not hold.

use std::error::Error;
use std::fmt;

use tracing_subscriber::field::{RecordFields, Visit, VisitOutput};
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultVisitor, Writer};

use tracing::field::Field;

const MESSAGE: &str = "message";

pub struct TerminalFields;

impl<'w> FormatFields<'w> for TerminalFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'w>, fields: R) -> fmt::Result {
        let mut message = Message::default();
        fields.record(&mut message);
        let mut unsaid = Unsaid { message: message.0, shown: DefaultVisitor::new(writer, true) };
        fields.record(&mut unsaid);
        unsaid.shown.finish()
    }
}

#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == MESSAGE {
            self.0 = format!("{value:?}");
        }
    }
}

struct Unsaid<'w> {
    message: String,
    shown: DefaultVisitor<'w>,
}

impl Unsaid<'_> {
    fn is_said(&self, field: &Field, value: &str) -> bool {
        field.name() != MESSAGE && says(&self.message, value)
    }
}

impl Visit for Unsaid<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if !self.is_said(field, value) {
            self.shown.record_str(field, value);
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn Error + 'static)) {
        if !self.is_said(field, &value.to_string()) {
            self.shown.record_error(field, value);
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if !self.is_said(field, format!("{value:?}").trim_matches('"')) {
            self.shown.record_debug(field, value);
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
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::word("Starting pod Xylos for role: any, workers: 5", "Xylos", true)]
    #[case::number("Starting pod Xylos for role: any, workers: 5", "5", true)]
    #[case::address("Listening on http://127.0.0.1:8080", "127.0.0.1:8080", true)]
    #[case::second_place("15 tasks of 5", "5", true)]
    #[case::part_of_a_number("task 12", "1", false)]
    #[case::part_of_a_word("any worker", "work", false)]
    #[case::absent("Task 123 completed successfully", "payload_fetch", false)]
    #[case::empty("Task 123 completed successfully", "", false)]
    fn a_value_is_said_where_it_stands_alone(#[case] message: &str, #[case] value: &str, #[case] expected: bool) {
        assert_eq!(says(message, value), expected);
    }
}

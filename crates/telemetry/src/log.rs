//! Logs on stderr: pretty on a terminal, one JSON object a line otherwise.
//!
//! Logging never blocks: lines go through [`Lines`], which drops lines that a stopped reader leaves no room
//! for.

mod lines;
mod terminal_lines;

use std::io::{self, IsTerminal, Write};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt, reload};

use lines::Lines;
use settings::Log;
use terminal_lines::{SpanFields, TerminalLines};

/// Whether log lines are JSON; set when logging begins.
static JSON: OnceLock<bool> = OnceLock::new();

/// The levels of the running log; set when logging begins.
static LEVELS: OnceLock<reload::Handle<Targets, Registry>> = OnceLock::new();

/// The thread that writes lines; none where it could not be started: the thread that logs then writes them.
static LINES: LazyLock<Option<Lines>> = LazyLock::new(|| Lines::start(io::stderr()).ok());

/// How long the process, when it ends, waits for its last lines to be written.
const MAX_FLUSH_TIME: Duration = Duration::from_secs(1);

/// Begins logging; a second call changes nothing.
pub fn start(config: &Log) {
    JSON.get_or_init(|| begin(&config.level, &config.format, &config.color));
}

/// Changes the levels of the running log. Without one, nothing changes.
pub fn set_level(level: &str) {
    if let Some(levels) = LEVELS.get() {
        // fails only where the subscriber is gone
        let _ = levels.reload(filter(level));
    }
}

/// Whether log lines are JSON, for programs; else people read them.
pub fn is_json() -> bool {
    JSON.get().copied().unwrap_or(true)
}

/// Reports the error that ends a command: a log line where the log is JSON, otherwise plain text. `format`: for
/// an error before logging began.
pub fn report_error(message: &str, format: &str) {
    let is_json = *JSON.get_or_init(|| begin("info", format, "auto"));
    // a log level that leaves errors out must not hide this one
    if is_json && tracing::enabled!(tracing::Level::ERROR) {
        tracing::error!("{message}");
        return;
    }
    let line = format!("drover: {message}\n");
    // with stderr closed, only the exit code reports the failure
    let _ = match LINES.clone() {
        Some(mut lines) => lines.write_all(line.as_bytes()),
        None => io::stderr().write_all(line.as_bytes()),
    };
}

/// Shows one line below the log's lines on a terminal, in place of the one before; empty: none. Without a
/// terminal nothing is shown.
pub fn show_status(text: &str) {
    if let Some(lines) = LINES.as_ref().filter(|_| !is_json() && io::stderr().is_terminal()) {
        lines.show_status(text);
    }
}

/// Waits, for a bounded time, until everything logged is written: the last call of a process.
pub fn flush() {
    if let Some(lines) = LINES.as_ref() {
        lines.flush(MAX_FLUSH_TIME);
    }
}

/// Whether errors are shown to anybody.
pub fn is_on() -> bool {
    tracing::enabled!(tracing::Level::ERROR)
}

fn writer() -> BoxMakeWriter {
    match LINES.clone() {
        Some(lines) => BoxMakeWriter::new(move || lines.clone()),
        None => BoxMakeWriter::new(io::stderr),
    }
}

fn begin(level: &str, format: &str, colour: &str) -> bool {
    let terminal = io::stderr().is_terminal();
    let json = format == "json" || (format == "auto" && !terminal);
    let colour = colour == "always" || (colour == "auto" && terminal);
    let lines = fmt::layer().with_writer(writer());
    let lines = if json {
        lines.json().flatten_event(true).with_current_span(false).with_span_list(true).boxed()
    } else {
        lines.with_ansi(colour).fmt_fields(SpanFields).event_format(TerminalLines).boxed()
    };
    // fails when a test has installed its own subscriber, which then is used
    let (levels, handle) = reload::Layer::new(filter(level));
    LEVELS.get_or_init(|| handle);
    let _ = tracing_subscriber::registry().with(lines.with_filter(levels)).try_init();
    json
}

/// The program's lines come from this crate: a level for `drover`, or for a module such as `drover::events`, is
/// a level for them.
fn filter(level: &str) -> Targets {
    let given: Targets = level.parse().unwrap_or_else(|_| Targets::new().with_default(tracing::Level::INFO));
    let of_drover = |(target, level): (&str, _)| Some((format!("telemetry{}", target.strip_prefix("drover")?), level));
    let lines: Vec<_> = given.iter().filter_map(of_drover).collect();
    given.with_targets(lines)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use tracing::Level;

    use super::*;

    #[rstest]
    #[case::all_of_the_program("info,drover=debug", "telemetry::events::http", true)]
    #[case::a_module("info,drover::events::http=debug", "telemetry::events::http", true)]
    #[case::another_module("info,drover::events::http=debug", "telemetry::events::fetch", false)]
    #[case::another_crate("info,drover=debug", "hyper", false)]
    #[case::the_default("debug", "telemetry::events::http", true)]
    #[case::a_crate_by_its_name("info,telemetry=debug", "telemetry::events::http", true)]
    fn levels_by_module_name_the_program(#[case] levels: &str, #[case] target: &str, #[case] enabled: bool) {
        assert_eq!(filter(levels).would_enable(target, &Level::DEBUG), enabled);
    }
}

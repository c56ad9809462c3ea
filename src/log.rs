//! Logs on stderr: pretty on a terminal, one JSON object a line otherwise.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

use crate::config::Log;

/// Set once logging has begun: whether lines are JSON.
static JSON: OnceLock<bool> = OnceLock::new();

/// Begins logging; a second call changes nothing.
pub fn start(config: &Log) {
    JSON.get_or_init(|| begin(&config.level, &config.format, &config.color));
}

/// Tells why the command failed, on the log where that is JSON, else as plain text.
pub fn complain(message: &str) {
    let is_json = *JSON.get_or_init(|| begin("info", "auto", "auto"));
    // a level that leaves errors out is no reason to end without a word
    if is_json && tracing::enabled!(tracing::Level::ERROR) {
        tracing::error!("{message}");
        return;
    }
    // nobody left to tell when this fails
    let _ = writeln!(std::io::stderr().lock(), "drover: {message}");
}

fn begin(level: &str, format: &str, colour: &str) -> bool {
    let terminal = std::io::stderr().is_terminal();
    let json = format == "json" || (format == "auto" && !terminal);
    let colour = colour == "always" || (colour == "auto" && terminal);
    let level: Targets = level.parse().unwrap_or_else(|_| Targets::new().with_default(tracing::Level::INFO));
    let lines = fmt::layer().with_writer(std::io::stderr);
    let lines = if json {
        lines.json().flatten_event(true).with_current_span(false).with_span_list(true).boxed()
    } else {
        lines.with_ansi(colour).with_target(false).boxed()
    };
    // a test's own subscriber may be there already, and is as good
    let _ = tracing_subscriber::registry().with(lines.with_filter(level)).try_init();
    json
}

//! `CommandProgress`: runs a long command part by part, with a bar on a terminal, else a line now and then,
//! and a signal that is obeyed between two parts.
//!
//! In: the total and the work done. Out: the bar, on stderr, and whether to stop. It must not know the work.

use std::fmt::Display;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::{Env, ExitCode, Stop};

/// Time between two lines where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(30);

pub struct CommandProgress {
    bar: ProgressBar,
    lines: Option<Lines>,
    stop: Stop,
}

impl CommandProgress {
    /// Begins a command: the first signal lets the current part end; the second ends the command. `noun`: the counted things.
    pub fn begin(env: &Env, noun: &str) -> CommandProgress {
        let stop = env.stop.end_after_part();
        if !std::io::stderr().is_terminal() {
            let lines = Lines { noun: noun.to_owned(), latest: Mutex::new(Instant::now()) };
            return CommandProgress { bar: ProgressBar::hidden(), lines: Some(lines), stop };
        }
        let template = format!("[{{bar:30}}] {{pos}}/{{len}} {noun} · {{elapsed}} {{msg}}");
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        CommandProgress { bar: ProgressBar::new(0).with_style(style), lines: None, stop }
    }

    /// Same as [`CommandProgress::begin`], for a number of bytes that is not known before.
    pub fn of_bytes(env: &Env) -> CommandProgress {
        let progress = CommandProgress::begin(env, "bytes");
        let style = ProgressStyle::with_template("{decimal_bytes} written · {elapsed}");
        progress.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        progress.bar.unset_length();
        progress
    }

    pub fn set_total(&self, total: u64) {
        self.bar.set_length(total);
    }

    /// Begins again with another total, such as that of a second part.
    pub fn restart(&self, total: u64) {
        self.bar.set_position(0);
        self.bar.set_length(total);
    }

    pub fn advance(&self, by: u64) {
        self.bar.inc(by);
        if let Some(lines) = &self.lines {
            lines.say(self.bar.position(), self.bar.length());
        }
    }

    /// Shows the reason of a wait beside the bar; empty = none.
    pub fn set_message(&self, message: &'static str) {
        self.bar.set_message(message);
    }

    /// Whether a signal asked to stop after this part.
    pub fn is_stopped(&self) -> bool {
        self.stop.drain.is_cancelled()
    }

    /// Ends a command that a signal stopped, and logs how it continues.
    pub fn interrupted(self, remedy: impl Display) -> ExitCode {
        drop(self);
        tracing::warn!("interrupted: {remedy}");
        ExitCode::Interrupted
    }

    /// Waits for a signal to stop.
    pub async fn until_stopped(&self) {
        self.stop.drain.cancelled().await;
    }

    /// Waits, for less time when a signal asks to stop.
    pub async fn pause(&self, time: Duration) {
        // either way the caller checks whether to stop
        let _ = tokio::time::timeout(time, self.stop.drain.cancelled()).await;
    }
}

impl Drop for CommandProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Lines on the log in place of a bar.
struct Lines {
    noun: String,
    /// Time when the latest line was written.
    latest: Mutex<Instant>,
}

impl Lines {
    fn say(&self, done: u64, total: Option<u64>) {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.elapsed() < LINE_EVERY {
            return;
        }
        *latest = Instant::now();
        match total {
            Some(total) => tracing::info!("{done} of {total} {} done", self.noun),
            None => tracing::info!("{done} {} done", self.noun),
        }
    }
}

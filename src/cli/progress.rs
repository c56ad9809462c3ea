//! `CommandProgress`: a long command that works part by part: a bar on a terminal, and a signal that is obeyed
//! between two parts.
//!
//! In: how much there is to do, and how much is done. Out: the bar, on stderr, and whether to stop. It must
//! not know the work.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::{Env, Stop};

pub struct CommandProgress {
    bar: ProgressBar,
    stop: Stop,
}

impl CommandProgress {
    /// From now on the first signal lets the part under way end; the second ends the command. `noun`: what is counted.
    pub fn begin(env: &Env, noun: &str) -> CommandProgress {
        let stop = env.stop.end_after_part();
        if !std::io::stderr().is_terminal() {
            return CommandProgress { bar: ProgressBar::hidden(), stop };
        }
        let template = format!("[{{bar:30}}] {{pos}}/{{len}} {noun} · {{elapsed}} {{msg}}");
        let style = ProgressStyle::with_template(&template).unwrap_or_else(|_| ProgressStyle::default_bar());
        CommandProgress { bar: ProgressBar::new(0).with_style(style), stop }
    }

    pub fn set_total(&self, total: u64) {
        self.bar.set_length(total);
    }

    pub fn advance(&self, by: u64) {
        self.bar.inc(by);
    }

    /// What the command waits for, beside the bar; empty = nothing.
    pub fn says(&self, message: &'static str) {
        self.bar.set_message(message);
    }

    /// Whether a signal asked to stop after this part.
    pub fn is_stopped(&self) -> bool {
        self.stop.drain.is_cancelled()
    }

    /// Waits for a signal to stop.
    pub async fn until_stopped(&self) {
        self.stop.drain.cancelled().await;
    }

    /// Waits, for less when a signal asks to stop.
    pub async fn pause(&self, time: Duration) {
        // either way the caller looks whether it is to stop
        let _ = tokio::time::timeout(time, self.stop.drain.cancelled()).await;
    }
}

impl Drop for CommandProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

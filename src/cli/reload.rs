//! Reloads the configuration of a service at SIGHUP and when a file of its directory changes.
//!
//! In: the sources that the process started with. Out: the live configuration, and log lines: what took effect, what waits for a
//! restart, and the faults of a file that was refused as a whole. It must not know what the settings do.

use std::convert::Infallible;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

use settings::{LiveConfig, SettingChange, Sources};
use telemetry::events;
use telemetry::log;

/// An editor writes a file in several steps.
const SETTLE_TIME: Duration = Duration::from_millis(300);

/// The SIGHUPs from now on; without it the first one ends the process. None on a terminal, whose end is a hangup, too, and ends
/// the process.
pub struct Hangups(Option<Signal>);

impl Hangups {
    pub fn listen() -> Hangups {
        if io::stdin().is_terminal() {
            return Hangups(None);
        }
        Hangups(signal(SignalKind::hangup()).ok())
    }

    async fn next(&mut self) {
        match &mut self.0 {
            Some(hangups) => drop(hangups.recv().await),
            None => std::future::pending().await,
        }
    }
}

/// Follows the sources until it is dropped.
pub async fn follow(mut hangups: Hangups, sources: &Sources, live: &LiveConfig) -> Infallible {
    let (changed, mut changes) = mpsc::channel(1);
    let _watcher = sources.directory().and_then(|directory| watch(&directory, changed.clone()));
    // a file may have changed since the process read it
    let mut last_fault = reload(sources, live, None, false);
    loop {
        let is_asked = tokio::select! {
            () = hangups.next() => true,
            _ = changes.recv() => {
                tokio::time::sleep(SETTLE_TIME).await;
                false
            }
        };
        // those of the same writing
        while changes.try_recv().is_ok() {}
        last_fault = reload(sources, live, last_fault, is_asked);
    }
}

/// Returns the fault, which is logged once however often the file is written. Without a change, only a reload that
/// a person asked for is logged.
fn reload(sources: &Sources, live: &LiveConfig, last_fault: Option<String>, is_asked: bool) -> Option<String> {
    match live.reload(sources) {
        Ok(changes) => {
            // on a terminal the levels are not those of the settings, until a person changes them
            if changes.iter().any(|change| change.key == "log.level") {
                log::set_level(&live.current().config.log.level);
            }
            let (waiting, applied): (Vec<_>, Vec<_>) = changes.into_iter().partition(|change| change.needs_restart);
            let is_changed = !applied.is_empty() || !waiting.is_empty() || last_fault.is_some();
            if is_changed || is_asked {
                events::config_reloaded(&texts(&applied), &texts(&waiting));
            }
            None
        }
        Err(faults) => {
            let fault = faults.to_string();
            events::config_refused(&fault, last_fault.as_ref() != Some(&fault));
            Some(fault)
        }
    }
}

fn texts(changes: &[SettingChange]) -> Vec<String> {
    changes.iter().map(SettingChange::to_string).collect()
}

/// Reports writes below `directory`, whose own entries are watched: a mounted ConfigMap is replaced there by a link. Without a
/// watcher, SIGHUP reloads.
fn watch(directory: &Path, changed: mpsc::Sender<()>) -> Option<RecommendedWatcher> {
    let report = move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| is_write(event.kind)) {
            // full: a reload is due already
            let _ = changed.try_send(());
        }
    };
    let watched = notify::recommended_watcher(report).and_then(|mut watcher| {
        watcher.watch(directory, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    watched.inspect_err(|error| events::config_not_watched(directory, error)).ok()
}

/// Reading a file is an event too.
fn is_write(kind: EventKind) -> bool {
    match kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}

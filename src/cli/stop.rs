//! `Stop`: the first Ctrl-C or SIGTERM asks to drain, the second to stop at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::ExitCode;

#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// Stop taking on work; finish what runs.
    pub drain: CancellationToken,
    /// Give back what runs, now.
    pub now: CancellationToken,
    interrupted: Arc<AtomicBool>,
}

impl Stop {
    /// Listens for signals from now on.
    pub fn on_signals() -> std::io::Result<Stop> {
        let stop = Stop::default();
        let signals = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        tokio::spawn(stop.clone().listen(signals));
        Ok(stop)
    }

    /// The exit code of a command that a signal ended well: SIGTERM is the ordinary way to stop a service.
    pub fn exit_code(&self) -> ExitCode {
        if self.interrupted.load(Ordering::Relaxed) { ExitCode::Interrupted } else { ExitCode::Ok }
    }

    async fn listen(self, (mut interrupt, mut terminate): (Signal, Signal)) {
        for token in [&self.drain, &self.now] {
            tokio::select! {
                _ = interrupt.recv() => self.interrupted.store(true, Ordering::Relaxed),
                _ = terminate.recv() => {}
            }
            token.cancel();
        }
    }
}

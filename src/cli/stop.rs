//! `Stop`: the first Ctrl-C or SIGTERM asks to drain, the second to stop at once.
//!
//! Signals are handled from the start of the process, since PID 1 of a container ignores signals without a
//! handler. Until a command calls [`Stop::take_over`] or [`Stop::end_after_part`], the first signal ends it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::ExitCode;

#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// Claim nothing new; finish what runs.
    pub drain: CancellationToken,
    /// Give back what runs, now.
    pub now: CancellationToken,
    /// A signal was Ctrl-C, not SIGTERM.
    by_ctrl_c: Arc<AtomicBool>,
    /// The command drains by itself.
    taken_over: Arc<AtomicBool>,
    /// The command ends by itself after its current part; the second signal does not wait for that.
    ends_after_part: Arc<AtomicBool>,
}

impl Stop {
    /// Listens for signals from now on, on a thread and a runtime of its own, so that they arrive even if the
    /// process's runtime hangs.
    pub fn on_signals() -> std::io::Result<Stop> {
        let stop = Stop::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let in_runtime = runtime.enter();
        let signals = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        drop(in_runtime);
        let listener = stop.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || runtime.block_on(listener.listen(signals)))?;
        Ok(stop)
    }

    /// Lets the caller watch `drain` and `now` from now on.
    pub fn take_over(&self) -> Stop {
        self.taken_over.store(true, Ordering::Relaxed);
        self.clone()
    }

    /// Lets the caller check `drain` after each part of its work; the second signal ends the command.
    pub fn end_after_part(&self) -> Stop {
        self.ends_after_part.store(true, Ordering::Relaxed);
        self.clone()
    }

    /// Returns at the signal that ends the command in any state: the first, unless the command ends by
    /// itself.
    pub async fn ends_command(&self) {
        self.drain.cancelled().await;
        if self.ends_after_part.load(Ordering::Relaxed) {
            self.now.cancelled().await;
        }
        if self.taken_over.load(Ordering::Relaxed) {
            std::future::pending().await
        }
    }

    /// Exit code of a command that a signal ended well: SIGTERM is the ordinary way to stop a service.
    pub fn exit_code(&self) -> ExitCode {
        if self.by_ctrl_c.load(Ordering::Relaxed) { ExitCode::Interrupted } else { ExitCode::Ok }
    }

    async fn listen(self, (mut interrupt, mut terminate): (Signal, Signal)) {
        for token in [&self.drain, &self.now] {
            tokio::select! {
                _ = interrupt.recv() => self.by_ctrl_c.store(true, Ordering::Relaxed),
                _ = terminate.recv() => {}
            }
            token.cancel();
        }
    }
}

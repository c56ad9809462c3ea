//! Signals and limits of the whole process, set once before anything else runs.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigHandler, Signal, signal};

/// Maximum on macOS, which refuses a higher limit although it reports an infinite one.
const MAX_OPEN_FILES: u64 = 10_240;

pub fn prepare() {
    #[cfg(feature = "failpoints")]
    std::mem::forget(fail::FailScenario::setup());
    ignore_write_signals();
    raise_file_limit();
}

/// Makes a full disk or a closed pipe an error of the write, which does not kill the process.
fn ignore_write_signals() {
    for ignored in [Signal::SIGXFSZ, Signal::SIGPIPE] {
        // SAFETY: ignoring a signal installs no handler; failing leaves the default, which is not worse than
        // before.
        let _ = unsafe { signal(ignored, SigHandler::SigIgn) };
    }
}

/// Raises the limit of open files: many workers need more sockets and files than the usual limit of 1,024.
fn raise_file_limit() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let wanted = if cfg!(target_os = "macos") { hard.min(MAX_OPEN_FILES) } else { hard };
    if wanted > soft {
        // `drover doctor` reports a limit that stays low
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted, hard);
    }
}

/// Maximum open files of this process.
pub fn file_limit() -> Option<u64> {
    getrlimit(Resource::RLIMIT_NOFILE).ok().map(|(soft, _)| soft)
}

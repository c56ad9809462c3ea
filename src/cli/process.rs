//! What is set once for the whole process, before anything else runs.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigHandler, Signal, signal};

/// macOS refuses more than this although it says that its hard limit is infinite.
const MAX_OPEN_FILES: u64 = 10_240;

pub fn prepare() {
    #[cfg(feature = "failpoints")]
    std::mem::forget(fail::FailScenario::setup());
    ignore_deadly_signals();
    raise_file_limit();
}

/// A full disk or a closed pipe must be an error that somebody handles, not the end of the process.
fn ignore_deadly_signals() {
    for deadly in [Signal::SIGXFSZ, Signal::SIGPIPE] {
        // SAFETY: ignoring a signal installs no handler; failing leaves the default, which is no worse than before.
        let _ = unsafe { signal(deadly, SigHandler::SigIgn) };
    }
}

/// Sockets and files of many workers are more than the usual 1,024.
fn raise_file_limit() {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let wanted = if cfg!(target_os = "macos") { hard.min(MAX_OPEN_FILES) } else { hard };
    if wanted > soft {
        // doctor tells when the limit stays low
        let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted, hard);
    }
}

/// How many files this process may have open.
pub fn file_limit() -> Option<u64> {
    getrlimit(Resource::RLIMIT_NOFILE).ok().map(|(soft, _)| soft)
}

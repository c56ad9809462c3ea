//! Tools that `./dev media-tools` installs: where they are, and tests that say that they are skipped without them.

use std::io::Write;
use std::path::PathBuf;

/// Path at which a tool is, if it is installed.
pub fn media_tool(name: &str) -> PathBuf {
    super::root().join("target/media-tools/bin").join(name)
}

/// Whether the tool is there. Without it a test says that it is skipped; where CI runs, it fails.
pub fn has_media_tool(name: &str) -> bool {
    is_there_or_skipped(name, media_tool(name).is_file())
}

/// The same of a thing that is found in another way.
pub fn is_there_or_skipped(name: &str, is_there: bool) -> bool {
    assert!(is_there || std::env::var_os("CI").is_none(), "{name} is missing: ./dev media-tools installs it");
    if !is_there {
        // past the capture of a passing test's output
        let _ = writeln!(std::io::stderr(), "skipped: no {name}; ./dev media-tools installs it");
    }
    is_there
}

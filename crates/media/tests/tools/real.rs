//! Where the real tools are.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The tool that `./dev media-tools` has installed. Without it the test says that it is skipped and passes;
/// but where CI runs, it fails.
pub fn tool(name: &str) -> Option<PathBuf> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/media-tools/bin").join(name);
    if program.is_file() {
        return Some(program);
    }
    let in_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    assert!(!in_ci, "{name} is missing: ./dev media-tools installs it");
    // past the capture of a passing test's output
    let _ = writeln!(std::io::stderr(), "skipped: no {name}; ./dev media-tools installs it");
    None
}

//! `fixture()`: a captured answer of the real platform. Such data is not part of the repository.
//!
//! Unit tests and the simulator's tests include this file by path, so that one rule decides where fixtures
//! are and how a missing one is treated.

use std::io::Write;
use std::path::{Path, PathBuf};

/// The fixture's file. Without it the test says that it is skipped and passes; but where CI runs and fixtures
/// are expected (`DROVER_FIXTURES` is set, or there is a fixtures directory beside the checkout), the test
/// fails.
pub fn fixture(path: &str) -> Option<PathBuf> {
    let directory = directory();
    let file = directory.as_ref().map(|directory| directory.join(path)).filter(|file| file.is_file());
    if file.is_none() {
        assert!(directory.is_none() || !in_ci(), "the fixture {path} is missing in {}", directory.unwrap().display());
        // past the capture of a passing test's output
        let _ = writeln!(std::io::stderr(), "skipped: no fixture {path}");
    }
    file
}

/// Directory in which fixtures are expected, if anywhere.
fn directory() -> Option<PathBuf> {
    let set = std::env::var_os("DROVER_FIXTURES").filter(|set| !set.is_empty()).map(PathBuf::from);
    // the simulator's manifest is one directory deeper
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().skip(1).take(2);
    set.or_else(|| above.map(|parent| parent.join("shared/fixtures")).find(|beside| beside.is_dir()))
}

fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

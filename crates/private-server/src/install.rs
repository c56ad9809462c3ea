//! `Install`: a PostgreSQL server on this machine, found in the directories of the usual packages.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::PrivateServerError;

/// SKIP LOCKED, syncfs and `DROP DATABASE … WITH (FORCE)` need less; 15 is the oldest that is tested.
const MIN_MAJOR: u32 = 15;

#[derive(Clone, Debug, PartialEq)]
pub struct Install {
    pub bin: PathBuf,
    pub major: u32,
    pub version: String,
}

impl Install {
    /// The newest server, or for an existing cluster the one of the version that made it.
    pub fn for_cluster(data: &Path, bin: Option<&Path>) -> Result<Install, PrivateServerError> {
        let found = discover(bin);
        let Ok(made_by) = fs::read_to_string(data.join("PG_VERSION")) else {
            let newest = found.iter().find(|install| install.major >= MIN_MAJOR);
            return newest
                .cloned()
                .ok_or_else(|| PrivateServerError::NoServer { min: MIN_MAJOR, found: listed(&found) });
        };
        let made_by = made_by.trim().to_owned();
        let same = found.iter().find(|install| install.major.to_string() == made_by);
        same.cloned().ok_or_else(|| PrivateServerError::VersionMismatch {
            data: data.to_owned(),
            made_by,
            found: listed(&found),
        })
    }

    /// None when there is no complete server in `bin`. Follows links, as packages link into PATH.
    fn at(bin: &Path) -> Option<Install> {
        let bin = bin.join("postgres").canonicalize().ok()?.parent()?.to_owned();
        if !bin.join("initdb").is_file() {
            return None;
        }
        let output = Command::new(bin.join("postgres")).arg("--version").output().ok()?;
        let (major, version) = version_in(&String::from_utf8_lossy(&output.stdout))?;
        Some(Install { bin, major, version })
    }
}

/// Every server on this machine, newest first; with `bin`, only the one there.
fn discover(bin: Option<&Path>) -> Vec<Install> {
    let dirs = bin.map_or_else(package_dirs, |bin| vec![bin.to_owned()]);
    let mut found: Vec<Install> = dirs.iter().filter_map(|dir| Install::at(dir)).collect();
    found.sort_by_key(|install| (Reverse(install.major), install.bin.clone()));
    found.dedup();
    found
}

fn package_dirs() -> Vec<PathBuf> {
    let mut dirs = Vec::new();
    dirs.extend(in_path("command -v postgres").and_then(|postgres| Some(postgres.parent()?.to_owned())));
    dirs.extend(in_path("pg_config --bindir"));
    dirs.extend(below("/usr/lib/postgresql", "", "bin")); // Debian, Ubuntu
    dirs.extend(below("/usr", "pgsql-", "bin")); // PGDG: Fedora, RHEL
    dirs.extend(below("/usr/libexec", "postgresql", "")); // Alpine
    for homebrew in ["/opt/homebrew/opt", "/usr/local/opt", "/home/linuxbrew/.linuxbrew/opt"] {
        dirs.extend(below(homebrew, "postgresql", "bin"));
    }
    dirs.extend(below("/Applications/Postgres.app/Contents/Versions", "", "bin"));
    dirs.push("/usr/local/pgsql/bin".into());
    dirs
}

/// The path that a shell command prints; the shell searches PATH.
fn in_path(command: &str) -> Option<PathBuf> {
    let output = Command::new("sh").args(["-c", command]).stderr(Stdio::null()).output().ok()?;
    let path = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| path.trim().into())
}

/// `parent/<each that begins with prefix>/tail`.
fn below(parent: &str, prefix: &str, tail: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let matching = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()));
    matching.map(|entry| entry.path().join(tail)).collect()
}

/// Turns `postgres (PostgreSQL) 15.8 (Debian 15.8-1)` into (15, "15.8").
fn version_in(output: &str) -> Option<(u32, String)> {
    let version = output.split_whitespace().nth(2)?;
    let digits = version.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((digits.parse().ok()?, version.to_owned()))
}

fn listed(found: &[Install]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let each: Vec<_> =
        found.iter().map(|install| format!("{} in {}", install.version, install.bin.display())).collect();
    format!(" (found: {})", each.join(", "))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::debian("postgres (PostgreSQL) 15.8 (Debian 15.8-0+deb12u1)\n", Some((15, "15.8".to_owned())))]
    #[case::beta("postgres (PostgreSQL) 18beta1", Some((18, "18beta1".to_owned())))]
    #[case::something_else("usage: postgres", None)]
    fn the_version_is_read_from_the_server_s_output(#[case] output: &str, #[case] version: Option<(u32, String)>) {
        assert_eq!(version_in(output), version);
    }

    #[test]
    fn the_error_without_a_server_names_the_remedies() {
        let empty = tempfile::tempdir().unwrap();
        let error = Install::for_cluster(&empty.path().join("data"), Some(empty.path())).unwrap_err();
        for remedy in ["apt-get install postgresql", "brew install", "DROVER_PG_BIN", "DATABASE_URL"] {
            assert!(error.to_string().contains(remedy), "{error}");
        }
    }

    #[test]
    fn a_cluster_of_another_version_is_named_with_the_version_that_made_it() {
        let data = tempfile::tempdir().unwrap();
        fs::write(data.path().join("PG_VERSION"), "9\n").unwrap();
        let error = Install::for_cluster(data.path(), None).unwrap_err();
        assert!(matches!(&error, PrivateServerError::VersionMismatch { made_by, .. } if made_by == "9"), "{error}");
    }
}

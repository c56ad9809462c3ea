//! `State`: a demo's file in its directory: seed and size of its simulation, its ports, and the number of its
//! crawl.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::cli::CliError;

const FILE: &str = "demo.json";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    pub seed: u64,
    pub stores: usize,
    /// From 1.
    pub crawl: u32,
    pub finished: bool,
    pub port: u16,
    pub proxy_ports: Vec<u16>,
}

impl State {
    /// Opens the demo of that directory, at the crawl to run now; a new one if there is none.
    pub fn open(dir: &Path, seed: Option<u64>, stores: Option<usize>) -> anyhow::Result<State> {
        let Some(mut state) = State::read(dir)? else {
            require_unused(dir)?;
            let (seed, stores) = (seed.unwrap_or(1), stores.unwrap_or(60));
            return Ok(State { seed, stores, crawl: 1, finished: false, port: 0, proxy_ports: Vec::new() });
        };
        state.require_same(dir, seed, stores)?;
        if state.finished {
            (state.crawl, state.finished) = (state.crawl + 1, false);
        }
        Ok(state)
    }

    /// Replaces the file at once: a crash leaves the old one or the new one.
    pub fn save(&self, dir: &Path) -> anyhow::Result<()> {
        let path = file(dir);
        let temporary = path.with_extension("tmp");
        let mut out = File::create(&temporary).with_context(|| format!("cannot write {}", temporary.display()))?;
        out.write_all(&serde_json::to_vec(self)?)?;
        out.sync_all()?;
        fs::rename(&temporary, &path).with_context(|| format!("cannot write {}", path.display()))
    }

    fn read(dir: &Path) -> anyhow::Result<Option<State>> {
        let path = file(dir);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        serde_json::from_str(&text).map(Some).with_context(|| {
            format!("{} is not the state of a demo; remove the directory or choose another", path.display())
        })
    }

    fn require_same(&self, dir: &Path, seed: Option<u64>, stores: Option<usize>) -> Result<(), CliError> {
        if seed.is_none_or(|seed| seed == self.seed) && stores.is_none_or(|stores| stores == self.stores) {
            return Ok(());
        }
        Err(CliError::usage(format!(
            "{} has a demo with --stores {} and --seed {}; omit both flags, or choose another directory",
            dir.display(),
            self.stores,
            self.seed
        )))
    }
}

/// Simulated stores and proxies must not be added to a real database.
fn require_unused(dir: &Path) -> Result<(), CliError> {
    if !private_server::dir_in(dir).exists() {
        return Ok(());
    }
    Err(CliError::conflict(format!(
        "{} has a database that is not from a demo; choose another directory",
        dir.display()
    )))
}

fn file(dir: &Path) -> PathBuf {
    dir.join(FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_crawl_is_followed_by_the_next_and_an_unfinished_one_by_itself() {
        let dir = tempfile::tempdir().unwrap();
        let mut state = State::open(dir.path(), Some(7), Some(3)).unwrap();
        state.save(dir.path()).unwrap();
        assert_eq!(State::open(dir.path(), None, None).unwrap().crawl, 1);
        state.finished = true;
        state.save(dir.path()).unwrap();
        let next = State::open(dir.path(), None, Some(3)).unwrap();
        assert_eq!((next.crawl, next.finished, next.seed), (2, false, 7));
    }

    #[test]
    fn a_directory_with_a_real_database_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(private_server::dir_in(dir.path())).unwrap();
        let error = State::open(dir.path(), None, None).unwrap_err().to_string();
        assert!(error.contains("a database that is not from a demo"), "{error}");
    }

    #[test]
    fn another_seed_in_the_same_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        State::open(dir.path(), Some(7), Some(3)).unwrap().save(dir.path()).unwrap();
        let error = State::open(dir.path(), Some(8), None).unwrap_err().to_string();
        assert!(error.contains("--stores 3 and --seed 7"), "{error}");
    }
}

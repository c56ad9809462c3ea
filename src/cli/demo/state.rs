//! `State`: a demo's file in its directory: seed and size of its simulation, its ports, and the number of its
//! crawl.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::cli::CliError;
use crate::cli::env::DEMO_FILE;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    pub seed: u64,
    pub stores: usize,
    /// Number of the crawl, from 1.
    pub crawl: u32,
    pub finished: bool,
    pub port: u16,
    pub proxy_ports: Vec<u16>,
    /// Whether it has the faults of a continuous demo: since its first start, for good.
    #[serde(default)]
    pub has_faults: bool,
}

/// How a new demo is made.
#[derive(Clone, Copy, Debug)]
pub struct NewDemo {
    pub seed: Option<u64>,
    pub stores: Option<usize>,
    pub has_faults: bool,
}

impl State {
    /// Opens the demo of that directory, at the crawl to run now; a new one if there is none.
    pub fn open(dir: &Path, NewDemo { seed, stores, has_faults }: NewDemo) -> anyhow::Result<State> {
        let Some(mut state) = State::read(dir)? else {
            require_unused(dir)?;
            let (seed, stores) = (seed.unwrap_or(1), stores.unwrap_or(60));
            let proxy_ports = Vec::new();
            return Ok(State { seed, stores, crawl: 1, finished: false, port: 0, proxy_ports, has_faults });
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
    dir.join(DEMO_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(dir: &tempfile::TempDir, seed: Option<u64>, stores: Option<usize>) -> anyhow::Result<State> {
        State::open(dir.path(), NewDemo { seed, stores, has_faults: false })
    }

    #[test]
    fn a_finished_crawl_is_followed_by_the_next_and_an_unfinished_one_by_itself() {
        let dir = tempfile::tempdir().unwrap();
        let mut state = open(&dir, Some(7), Some(3)).unwrap();
        state.save(dir.path()).unwrap();
        assert_eq!(open(&dir, None, None).unwrap().crawl, 1);
        state.finished = true;
        state.save(dir.path()).unwrap();
        let next = open(&dir, None, Some(3)).unwrap();
        assert_eq!((next.crawl, next.finished, next.seed), (2, false, 7));
    }

    #[test]
    fn a_directory_with_a_real_database_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(private_server::dir_in(dir.path())).unwrap();
        let error = open(&dir, None, None).unwrap_err().to_string();
        assert!(error.contains("a database that is not from a demo"), "{error}");
    }

    #[test]
    fn another_seed_in_the_same_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        open(&dir, Some(7), Some(3)).unwrap().save(dir.path()).unwrap();
        let error = open(&dir, Some(8), None).unwrap_err().to_string();
        assert!(error.contains("--stores 3 and --seed 7"), "{error}");
    }

    #[test]
    fn a_demo_keeps_the_faults_that_it_was_made_with() {
        let dir = tempfile::tempdir().unwrap();
        let new = NewDemo { seed: None, stores: None, has_faults: true };
        State::open(dir.path(), new).unwrap().save(dir.path()).unwrap();
        assert!(State::open(dir.path(), NewDemo { has_faults: false, ..new }).unwrap().has_faults);
    }

    #[test]
    fn a_demo_from_before_there_were_faults_has_none() {
        let dir = tempfile::tempdir().unwrap();
        let old = r#"{"seed":1,"stores":3,"crawl":2,"finished":false,"port":10000,"proxy_ports":[10001]}"#;
        std::fs::write(file(dir.path()), old).unwrap();
        assert!(!State::open(dir.path(), NewDemo { seed: None, stores: None, has_faults: true }).unwrap().has_faults);
    }
}

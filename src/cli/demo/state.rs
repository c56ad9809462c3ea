//! What a demo remembers in its directory: the world's seed and size, its ports, and the crawl it is at.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::cli::CliError;
use crate::private_server;

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
    /// The demo of that directory, at the crawl to be done now; a new one where there is none.
    pub fn open(dir: &Path, seed: Option<u64>, stores: Option<usize>) -> anyhow::Result<State> {
        let Some(mut state) = State::read(dir)? else {
            must_be_free(dir)?;
            let (seed, stores) = (seed.unwrap_or(1), stores.unwrap_or(60));
            return Ok(State { seed, stores, crawl: 1, finished: false, port: 0, proxy_ports: Vec::new() });
        };
        state.must_match(dir, seed, stores)?;
        if state.finished {
            (state.crawl, state.finished) = (state.crawl + 1, false);
        }
        Ok(state)
    }

    /// Durable when it comes back; a crash leaves the old one.
    pub fn save(&self, dir: &Path) -> anyhow::Result<()> {
        let path = file(dir);
        let fresh = path.with_extension("tmp");
        let mut out = File::create(&fresh).with_context(|| format!("cannot write {}", fresh.display()))?;
        out.write_all(&serde_json::to_vec(self)?)?;
        out.sync_all()?;
        fs::rename(&fresh, &path).with_context(|| format!("cannot write {}", path.display()))
    }

    fn read(dir: &Path) -> anyhow::Result<Option<State>> {
        let path = file(dir);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        serde_json::from_str(&text)
            .map(Some)
            .with_context(|| format!("{} is no demo's state; remove the directory or choose another", path.display()))
    }

    fn must_match(&self, dir: &Path, seed: Option<u64>, stores: Option<usize>) -> Result<(), CliError> {
        if seed.is_none_or(|seed| seed == self.seed) && stores.is_none_or(|stores| stores == self.stores) {
            return Ok(());
        }
        Err(CliError::usage(format!(
            "{} holds a demo of {} stores with seed {}; leave --stores and --seed out, or choose another directory",
            dir.display(),
            self.stores,
            self.seed
        )))
    }
}

/// Simulated stores and proxies have no place among real ones.
fn must_be_free(dir: &Path) -> Result<(), CliError> {
    if !private_server::dir_in(dir).exists() {
        return Ok(());
    }
    Err(CliError::conflict(format!("{} holds a database that is no demo's; choose another directory", dir.display())))
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
    fn a_directory_with_real_data_is_no_place_for_a_demo() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(private_server::dir_in(dir.path())).unwrap();
        let error = State::open(dir.path(), None, None).unwrap_err().to_string();
        assert!(error.contains("a database that is no demo's"), "{error}");
    }

    #[test]
    fn another_world_in_the_same_directory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        State::open(dir.path(), Some(7), Some(3)).unwrap().save(dir.path()).unwrap();
        let error = State::open(dir.path(), Some(8), None).unwrap_err().to_string();
        assert!(error.contains("3 stores with seed 7"), "{error}");
    }
}

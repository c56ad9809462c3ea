//! In place of `older_queue` in a build without the feature `media`: no file of SQLite is read, with the remedy.

use std::convert::Infallible;
use std::path::Path;

use thiserror::Error;

use contract::job_imports::{OldJobRequest, RefusedJob};

#[derive(Debug, Error)]
#[error("this build of drover reads no SQLite: take a release, or build drover with its default features")]
pub struct OlderQueueError;

pub struct OlderQueue(Infallible);

pub type OldRow = Result<OldJobRequest, RefusedJob>;

impl OlderQueue {
    pub fn open(_: &Path, _: bool) -> Result<OlderQueue, OlderQueueError> {
        Err(OlderQueueError)
    }

    pub fn count_left(&self) -> Result<usize, OlderQueueError> {
        match self.0 {}
    }

    pub fn odd_ids(&self) -> Result<Vec<String>, OlderQueueError> {
        match self.0 {}
    }

    pub fn running(&self, _: i64) -> Result<Vec<i64>, OlderQueueError> {
        match self.0 {}
    }

    pub fn next_part(&mut self, _: i64) -> Result<Vec<OldRow>, OlderQueueError> {
        match self.0 {}
    }
}

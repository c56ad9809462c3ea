//! `DownloadProgress`: how far the downloads of this process have come.

use std::collections::BTreeMap;

use serde::Serialize;

use domain::menu::image::ImageFailure;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DownloadProgress {
    /// Stores that wait, or are being looked at.
    pub stores: usize,
    /// Images under way.
    pub images: usize,
    /// Images that were downloaded and stored.
    pub stored: u64,
    /// Files that were there already, from a run that was killed before it noted them.
    pub found: u64,
    pub failed: BTreeMap<ImageFailure, u64>,
    /// Images that could not be had now, by no fault of theirs: no proxy is free, the host is on hold, the disk is full.
    pub postponed: u64,
    /// Bytes as downloaded.
    pub bytes: u64,
}

impl DownloadProgress {
    pub fn is_idle(&self) -> bool {
        self.stores == 0 && self.images == 0
    }

    pub fn failed(&self) -> u64 {
        self.failed.values().sum()
    }

    /// Images that ended, however they did.
    pub fn ended(&self) -> u64 {
        self.stored + self.found + self.failed() + self.postponed
    }
}

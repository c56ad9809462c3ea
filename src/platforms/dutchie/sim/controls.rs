//! Controls of Dutchie's part: its faults, its hashes, and menus that are made before they are asked for.
//!
//! Part of the crate `sim`. It must not know how requests are answered.

use anyhow::Result;

use super::faults::{Fault, FaultId};
use super::pages;
use super::request::Operation;
use crate::encoding::Coding;
use crate::menu::Menu;
use crate::simulator::Simulator;

impl Simulator {
    /// Writes and codes every page of the menus as they are now, so that none is made while it is asked for.
    /// Does nothing unless the settings keep pages.
    pub async fn render_menus(&self, per_page: usize, coding: Coding) -> Result<()> {
        for store in self.generated() {
            let pages = Menu::of(self.world.seed, store, self.crawl()).total().div_ceil(per_page);
            for page in 0..pages {
                pages::render(&self.world, store, page, per_page, coding).await?;
            }
        }
        Ok(())
    }

    pub fn add_fault(&self, fault: Fault) -> FaultId {
        self.world.platforms.dutchie.faults.add(fault)
    }

    pub fn remove_fault(&self, fault: FaultId) {
        self.world.platforms.dutchie.faults.remove(fault);
    }

    /// Makes `hash` the only one that the origin knows for `operation`; none = no hash at all, only full text.
    pub fn switch_hash(&self, operation: Operation, hash: Option<&str>) {
        let hashes = &self.world.platforms.dutchie.hashes;
        hashes.retire_all(operation);
        if let Some(hash) = hash {
            hashes.know(operation, hash);
        }
    }

    /// A stale shard (`/api-3/graphql`) knows the hashes that are retired everywhere else, and none that came
    /// since.
    pub fn set_shard_stale(&self, path: &str, stale: bool) {
        self.world.platforms.dutchie.hashes.set_stale(path, stale);
    }
}

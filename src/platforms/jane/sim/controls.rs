//! Controls of Jane's part: its key, and a product that goes between two pages.
//!
//! Part of the crate `sim`. It must not know how requests are answered.

use crate::simulator::Simulator;

impl Simulator {
    /// Takes `key` alone for Jane, once that many more pages of menus were answered.
    pub fn rotate_jane_key(&self, pages: u64, key: &str) {
        self.world.platforms.jane.key.rotate_after(pages, key);
    }

    /// Pages of Jane's menus show the key no longer.
    pub fn hide_jane_key(&self) {
        self.world.platforms.jane.key.hide();
    }

    /// The first product of Jane's next menu leaves the index once its first page was answered.
    pub fn lose_jane_product(&self) {
        self.world.platforms.jane.vanishing.begin();
    }
}

//! `State`: what a test changes about Leafly: what goes wrong with its menus, and an item that goes between two pages.

use crate::next_faults::NextFaults;
use crate::platform::PlatformState;
use crate::settings;
use crate::simulator::Simulator;
use crate::vanishing::Vanishing;

/// Something that it does wrong with one page of a menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 429: the client must wait.
    Throttled,
    /// No items and no total, as of a shop that hides its menu.
    NoPublicMenu,
}

#[derive(Default)]
pub(crate) struct State {
    /// Faults of the next pages of menus.
    pub(crate) faults: NextFaults<Fault>,
    pub(crate) vanishing: Vanishing,
}

impl PlatformState for State {
    fn new(_settings: &settings::Settings) -> State {
        State::default()
    }
}

impl Simulator {
    /// Lets the next parts of Leafly's menus go wrong.
    pub fn break_leafly(&self, fault: Fault, times: usize) {
        self.world.platforms.leafly.faults.add(fault, times);
    }

    /// The first product of Leafly's next menu leaves it once its first part was answered.
    pub fn lose_leafly_product(&self) {
        self.world.platforms.leafly.vanishing.begin();
    }
}

//! `State`: what a test changes about Weedmaps: whom it refuses, and what goes wrong with its menus.

use crate::next_faults::NextFaults;
use crate::platform::PlatformState;
use crate::settings;
use crate::simulator::Simulator;

/// Something that it does wrong with one page of a menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No answer, ever.
    Silent,
    /// No items, and the total of all.
    SoftBlock,
    /// No items and no total, as of a listing whose menu is not live.
    NoLiveMenu,
    /// 422: a parameter is refused.
    Unprocessable,
    /// 404, as of a listing that has closed.
    NotFound,
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether it refuses clients that say they are browsers.
    pub refuses_browsers: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { refuses_browsers: true }
    }
}

pub(crate) struct State {
    pub(crate) refuses_browsers: bool,
    /// Faults of the next pages of menus.
    pub(crate) faults: NextFaults<Fault>,
}

impl PlatformState for State {
    fn new(settings: &settings::Settings) -> State {
        State { refuses_browsers: settings.platforms.weedmaps.refuses_browsers, faults: NextFaults::default() }
    }
}

impl Simulator {
    /// Lets the next pages of Weedmaps' menus go wrong.
    pub fn break_weedmaps(&self, fault: Fault, times: usize) {
        self.world.platforms.weedmaps.faults.add(fault, times);
    }
}

//! `WeedmapsState`: what a test changes about Weedmaps: whom it refuses, and what goes wrong with its menus.

use crate::next_faults::NextFaults;

/// Something that it does wrong with one page of a menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WeedmapsFault {
    /// No answer, ever.
    Silent,
    /// No items, and the total of all.
    SoftBlock,
    /// No items and no total, as of a listing whose menu is not live.
    NoLiveMenu,
    /// 422: a parameter is refused.
    Unprocessable,
}

pub(crate) struct WeedmapsState {
    pub(crate) refuses_browsers: bool,
    /// Faults of the next pages of menus.
    pub(crate) faults: NextFaults<WeedmapsFault>,
}

impl WeedmapsState {
    pub(crate) fn new(refuses_browsers: bool) -> WeedmapsState {
        WeedmapsState { refuses_browsers, faults: NextFaults::default() }
    }
}

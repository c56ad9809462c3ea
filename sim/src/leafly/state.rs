//! `LeaflyState`: what a test changes about Leafly: what goes wrong with its menus, and an item that goes between two pages.

use crate::next_faults::NextFaults;
use crate::vanishing::Vanishing;

/// Something that it does wrong with one page of a menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaflyFault {
    /// 429: the client must wait.
    Throttled,
    /// No items and no total, as of a shop that hides its menu.
    NoPublicMenu,
}

#[derive(Default)]
pub(crate) struct LeaflyState {
    /// Faults of the next pages of menus.
    pub(crate) faults: NextFaults<LeaflyFault>,
    pub(crate) vanishing: Vanishing,
}

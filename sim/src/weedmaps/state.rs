//! `WeedmapsState`: what a test changes about Weedmaps: whom it refuses, and what goes wrong with its menus.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

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
    /// Faults of the next pages, in order.
    faults: Mutex<VecDeque<WeedmapsFault>>,
}

impl WeedmapsState {
    pub(crate) fn new(refuses_browsers: bool) -> WeedmapsState {
        WeedmapsState { refuses_browsers, faults: Mutex::default() }
    }

    pub(crate) fn add(&self, fault: WeedmapsFault, times: usize) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.extend(std::iter::repeat_n(fault, times));
    }

    pub(crate) fn take(&self) -> Option<WeedmapsFault> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

//! `Vanishing`: a product that leaves a menu between two of its pages.

use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub(crate) struct Vanishing(Mutex<Going>);

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Going {
    #[default]
    None,
    /// The first one of the next first page.
    Soon,
    Gone {
        store: u64,
        product: u64,
    },
}

impl Vanishing {
    pub(crate) fn begin(&self) {
        *self.locked() = Going::Soon;
    }

    pub(crate) fn is_gone(&self, store: u64, product: u64) -> bool {
        *self.locked() == Going::Gone { store, product }
    }

    /// `product`: the first one of a first page that was answered.
    pub(crate) fn answered(&self, store: u64, product: u64) {
        let mut going = self.locked();
        if *going == Going::Soon {
            *going = Going::Gone { store, product };
        }
    }

    fn locked(&self) -> MutexGuard<'_, Going> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

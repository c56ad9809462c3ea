//! `NextFaults`: the faults of the next answers, in order.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

pub(crate) struct NextFaults<T>(Mutex<VecDeque<T>>);

impl<T> Default for NextFaults<T> {
    fn default() -> Self {
        NextFaults(Mutex::default())
    }
}

impl<T: Clone> NextFaults<T> {
    pub(crate) fn add(&self, fault: T, times: usize) {
        let mut faults = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        faults.extend(std::iter::repeat_n(fault, times));
    }

    pub(crate) fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

//! `NextFaults`: the faults of the next answers, in order.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::counters::Counters;

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

    /// The fault of this answer, which is counted.
    pub(crate) fn take(&self, counters: &Counters) -> Option<T> {
        let fault = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        counters.note(|counts| counts.faults += u64::from(fault.is_some()));
        fault
    }
}

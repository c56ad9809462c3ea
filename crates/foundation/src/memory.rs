//! The process's budget of memory for answers of upstream: real menus are small, and few large ones may be
//! held at once.
//!
//! In: a task that is about to hold more than a real menu needs. Out: one permit a task, kept for as long as
//! anything that it received is. It must not know the held data.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

/// Bytes of one body, as received and inflated each, that need no permit: several times a real page.
pub const SMALL_BODY: usize = 4 << 20;
/// Bytes of a menu's pages, as they are kept, that need no permit: the largest real menus, uncompressed.
pub const SMALL_MENU: usize = 8 << 20;
/// Maximum number of tasks of the process that may hold more at once.
pub const MAX_LARGE: usize = 2;

/// Shortest time that a task waits in the queue which found no permit.
const MIN_WAIT: Duration = Duration::from_secs(10);

static LARGE: Semaphore = Semaphore::const_new(MAX_LARGE);

/// One task's permit to hold large answers. Clones share it; it is given back when the last one is dropped.
#[derive(Clone, Debug, Default)]
pub struct MemoryPermit(Arc<Mutex<Option<SemaphorePermit<'static>>>>);

impl MemoryPermit {
    /// Takes the permit, unless the task has it. False when none is left: the task does not wait, since it
    /// keeps a proxy and a host's permit meanwhile.
    pub fn try_acquire(&self) -> bool {
        self.try_acquire_of(&LARGE)
    }

    fn try_acquire_of(&self, permits: &'static Semaphore) -> bool {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = permits.try_acquire().ok();
        }
        held.is_some()
    }
}

/// Time that a task without a permit waits in the queue; it varies, so that waiting tasks do not ask together
/// again. `jitter` is a random number in 0…1.
pub fn wait(jitter: f64) -> Duration {
    MIN_WAIT + MIN_WAIT.mul_f64(jitter.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(0.0, 10)]
    #[case(0.5, 15)]
    #[case(1.0, 20)]
    fn tasks_without_a_permit_wait_differently_long(#[case] jitter: f64, #[case] seconds: u64) {
        assert_eq!(wait(jitter), Duration::from_secs(seconds));
    }

    /// A budget of its own for each test.
    fn permits() -> &'static Semaphore {
        Box::leak(Box::new(Semaphore::new(MAX_LARGE)))
    }

    #[test]
    fn two_tasks_hold_large_answers_and_a_third_once_one_of_them_has_ended() {
        let permits = permits();
        let mut tasks: Vec<_> = (0..=MAX_LARGE).map(|_| MemoryPermit::default()).collect();
        let acquired: Vec<_> = tasks.iter().map(|task| task.try_acquire_of(permits)).collect();
        assert_eq!(acquired, [true, true, false]);
        tasks.remove(0);
        assert!(tasks[1].try_acquire_of(permits));
    }

    #[test]
    fn a_task_takes_one_permit_however_much_it_holds() {
        let permits = permits();
        let task = MemoryPermit::default();
        let (page, menu) = (task.clone(), task.clone());
        assert!([&task, &page, &menu].into_iter().all(|holder| holder.try_acquire_of(permits)));
        assert_eq!(permits.available_permits(), MAX_LARGE - 1);
        drop((task, page));
        assert_eq!(permits.available_permits(), MAX_LARGE - 1, "its menu is still held");
        drop(menu);
        assert_eq!(permits.available_permits(), MAX_LARGE);
    }
}

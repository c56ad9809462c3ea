//! Counts what a thread has allocated at once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static CURRENT: Cell<usize> = const { Cell::new(0) };
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

/// Runs a function, and says how many bytes it held at most beyond what was held before.
pub fn peak<T>(run: impl FnOnce() -> T) -> (T, usize) {
    let before = CURRENT.get();
    PEAK.set(before);
    let result = run();
    (result, PEAK.get().saturating_sub(before))
}

// SAFETY: every call is the system allocator's; the counters are plain cells, which allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: the caller's promises are the system allocator's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size());
        // SAFETY: as above; asking for zeros leaves untouched pages to the system.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        CURRENT.set(CURRENT.get().wrapping_sub(layout.size()));
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn add(bytes: usize) {
    CURRENT.set(CURRENT.get().wrapping_add(bytes));
    PEAK.set(PEAK.get().max(CURRENT.get()));
}

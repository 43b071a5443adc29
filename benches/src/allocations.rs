//! An allocator that counts, so that "allocates nothing" is a number and not a promise.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counting the calls of each thread.
#[derive(Debug)]
pub(crate) struct Counting;

fn count() {
    // A thread that is ending has no counter any more, and nobody who would read it.
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is handed to the system's allocator as it came; the counter does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the promises of `realloc`.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block came from the system's allocator with this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

/// How many times an operation allocates, in this thread.
pub(crate) fn of<T>(operation: impl FnOnce() -> T) -> u64 {
    let before = COUNT.with(Cell::get);
    std::hint::black_box(operation());
    COUNT.with(Cell::get) - before
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_allocation_is_counted() {
        assert_eq!(super::of(|| Box::new([1_u8; 32])), 1);
        assert_eq!(super::of(|| 1 + 1), 0);
    }
}

//! `cpu::run`: the bounded pool for work that burns CPU (inflating, JSON, normalising); `cpu::run_image`: the
//! one for images.
//!
//! A thread a core, at lower priority, so that heartbeats and sockets are never late because of a parse.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::LazyLock;

use tokio::sync::oneshot;

static POOL: LazyLock<Option<rayon::ThreadPool>> = LazyLock::new(|| pool("cpu", cores(), 5));

/// One core is left to the rest: an image takes a hundred times as long as a page of a menu.
static IMAGE_POOL: LazyLock<Option<rayon::ThreadPool>> =
    LazyLock::new(|| pool("image", cores().saturating_sub(1).max(1), 10));

/// Runs `work` on the CPU pool and returns its result; a panic in it is resumed in the caller.
pub async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    run_on(POOL.as_ref(), work).await
}

/// The same for work on images, on a pool of its own: menus do not wait for it.
pub async fn run_image<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    run_on(IMAGE_POOL.as_ref(), work).await
}

async fn run_on<T: Send + 'static>(pool: Option<&rayon::ThreadPool>, work: impl FnOnce() -> T + Send + 'static) -> T {
    let Some(pool) = pool else {
        // the pool's threads could not be started: late heartbeats are better than no work
        return work();
    };
    let (answer, done) = oneshot::channel();
    pool.spawn(move || {
        let _ = answer.send(catch_unwind(AssertUnwindSafe(work)));
    });
    match done.await {
        Ok(Ok(value)) => value,
        Ok(Err(panic)) => resume_unwind(panic),
        Err(_) => resume_unwind(Box::new("the CPU pool dropped its work")),
    }
}

fn pool(name: &'static str, threads: usize, niceness: i32) -> Option<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(move |n| format!("{name}-{n}"))
        .start_handler(move |_| lower_priority(niceness))
        .build()
        .ok()
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Niceness is per thread on Linux; elsewhere the call would slow the whole process, so it is not made.
fn lower_priority(niceness: i32) {
    #[cfg(target_os = "linux")]
    // SAFETY: setpriority touches nothing but the calling thread's niceness; failing is harmless.
    unsafe {
        nix::libc::setpriority(nix::libc::PRIO_PROCESS, 0, niceness);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = niceness;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_returns_its_result() {
        assert_eq!(run(|| 2 + 2).await, 4);
    }

    #[tokio::test]
    async fn a_panic_reaches_the_caller_and_the_pool_works_on() {
        let caught = tokio::spawn(run(|| {
            if true {
                std::panic::panic_any("planted")
            }
        }))
        .await;
        assert!(caught.is_err_and(|error| error.is_panic()));
        assert_eq!(run(|| 1).await, 1);
    }
}

//! `LentBrowser`: one of a few browsers that the tests of pages share, one test after the other.
//!
//! A test that passes hands its browser to a test that waits, with an empty page and without the traces of the last
//! test. Scripts for each new page are left there: a test that adds one removes it. Where no test waits, the browser
//! ends. Its connections live in a runtime that outlives the tests.

use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, SemaphorePermit};
use xtask::browser::Browser;

/// Maximum number of browsers at once: each is several processes, and tests of other things run beside them.
static PLACES: Semaphore = Semaphore::const_new(2);
static WAITING: AtomicUsize = AtomicUsize::new(0);
static IDLE: Mutex<Vec<Browser>> = Mutex::new(Vec::new());
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());

pub struct LentBrowser {
    browser: Option<Browser>,
    _place: SemaphorePermit<'static>,
}

impl LentBrowser {
    pub async fn take() -> LentBrowser {
        WAITING.fetch_add(1, Ordering::SeqCst);
        let place = PLACES.acquire().await.unwrap();
        WAITING.fetch_sub(1, Ordering::SeqCst);
        LentBrowser { browser: Some(RUNTIME.spawn(browser()).await.unwrap()), _place: place }
    }
}

async fn browser() -> Browser {
    let shared = idle().pop();
    if let Some(browser) = shared
        && browser.forget().await.is_ok()
    {
        return browser;
    }
    Browser::start(testkit::fast_dir()).await.unwrap()
}

fn idle() -> MutexGuard<'static, Vec<Browser>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Deref for LentBrowser {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        self.browser.as_ref().unwrap()
    }
}

impl Drop for LentBrowser {
    fn drop(&mut self) {
        // a browser that no test waits for would outlive the process of the tests
        let mut idle = idle();
        if !std::thread::panicking() && idle.len() < WAITING.load(Ordering::SeqCst) {
            idle.extend(self.browser.take());
        }
    }
}

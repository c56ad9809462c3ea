//! `until`: the only way a test waits.

use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(15);

/// Polls `condition` until it is true; fails the test naming `what` when `deadline` has passed.
pub async fn until(what: &str, deadline: Duration, mut condition: impl AsyncFnMut() -> bool) {
    until_some(what, deadline, async || condition().await.then_some(())).await;
}

/// Same as [`until`], for a condition that brings a value.
pub async fn until_some<T>(what: &str, deadline: Duration, mut condition: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(value) = condition().await {
            return value;
        }
        assert!(begun.elapsed() < deadline, "waited {deadline:?}, and not yet: {what}");
        tokio::time::sleep(POLL).await;
    }
}

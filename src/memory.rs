//! The process's memory budget for large bodies: real answers are small, and only a few large ones may be in memory at once.
//!
//! In: a request for a body that grows beyond [`SMALL_BODY`]. Out: a permit, kept for as long as the body is.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

/// Bytes up to which a body needs no permit: several times a real page.
pub const SMALL_BODY: usize = 4 << 20;
/// Held at once by all tasks of the process; each may have its bytes as received and inflated.
const MAX_LARGE_BODIES: usize = 3;
/// How long a body waits for its permit.
pub const MAX_WAIT: Duration = Duration::from_secs(30);

static LARGE_BODIES: Semaphore = Semaphore::const_new(MAX_LARGE_BODIES);

/// The right to hold a large body; cheap to clone.
#[derive(Clone, Debug)]
pub struct LargeBody(#[expect(dead_code, reason = "held, not read")] Arc<SemaphorePermit<'static>>);

/// Waits for a permit; none when there is none within [`MAX_WAIT`].
pub async fn large_body() -> Option<LargeBody> {
    let permit = tokio::time::timeout(MAX_WAIT, LARGE_BODIES.acquire()).await.ok()?.ok()?;
    Some(LargeBody(Arc::new(permit)))
}

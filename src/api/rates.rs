//! `Rates`: how many requests each token may make a minute.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::domain::access::TokenId;

pub struct Rates {
    /// None: without limit.
    limiter: Option<DefaultKeyedRateLimiter<TokenId>>,
}

impl Rates {
    /// 0: without limit. A token that was silent may make a minute's requests at once.
    pub fn new(requests_per_minute: u32) -> Self {
        let quota = NonZeroU32::new(requests_per_minute).map(Quota::per_minute);
        Rates { limiter: quota.map(RateLimiter::keyed) }
    }

    /// The error is how long to wait.
    pub fn take(&self, token: TokenId) -> Result<(), Duration> {
        let Some(limiter) = &self.limiter else { return Ok(()) };
        limiter.check_key(&token).map_err(|refused| refused.wait_time_from(DefaultClock::default().now()))
    }
}

//! `Rates`: how many requests each token may make a minute.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use domain::access::{AccessRole, TokenId};

pub struct Rates {
    others: Limiter,
    consumers: Limiter,
}

/// Limiter by token; None: no limit.
type Limiter = Option<DefaultKeyedRateLimiter<TokenId>>;

impl Rates {
    /// 0: without limit. A token that was silent may make a minute's requests at once.
    pub fn new(requests_per_minute: u32, of_consumers: u32) -> Self {
        let limiter = |requests| NonZeroU32::new(requests).map(Quota::per_minute).map(RateLimiter::keyed);
        Rates { others: limiter(requests_per_minute), consumers: limiter(of_consumers) }
    }

    /// The error is how long to wait.
    pub fn take(&self, token: TokenId, role: AccessRole) -> Result<(), Duration> {
        let limiter = if role == AccessRole::Consumer { &self.consumers } else { &self.others };
        let Some(limiter) = limiter else { return Ok(()) };
        limiter.check_key(&token).map_err(|refused| refused.wait_time_from(DefaultClock::default().now()))
    }
}

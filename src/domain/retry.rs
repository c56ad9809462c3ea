//! How long a failed task waits before it runs again: 15 s · 2^n ± 50 %, at most an hour, all of it configurable.

use std::time::Duration;

/// The wait before retry number `retry_count` + 1; `jitter` is a fair draw from 0…1.
pub fn backoff(base: Duration, cap: Duration, retry_count: i32, jitter: f64) -> Duration {
    let doublings = retry_count.clamp(0, 20) as u32;
    let full = base.saturating_mul(2u32.pow(doublings)).min(cap);
    full.mul_f64(0.5 + jitter.clamp(0.0, 1.0)).min(cap)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const BASE: Duration = Duration::from_secs(15);
    const CAP: Duration = Duration::from_secs(3600);

    #[rstest]
    #[case::first(0, 0.5, 15)]
    #[case::doubled(1, 0.5, 30)]
    #[case::half(2, 0.0, 30)]
    #[case::half_more(2, 1.0, 90)]
    #[case::capped(12, 0.5, 3600)]
    fn the_wait_doubles(#[case] retries: i32, #[case] jitter: f64, #[case] seconds: u64) {
        assert_eq!(backoff(BASE, CAP, retries, jitter), Duration::from_secs(seconds));
    }

    proptest! {
        #[test]
        fn no_wait_is_longer_than_the_cap(retries in any::<i32>(), jitter in any::<f64>().prop_filter("a number", |x| x.is_finite())) {
            prop_assert!(backoff(BASE, CAP, retries, jitter) <= CAP);
        }
    }
}

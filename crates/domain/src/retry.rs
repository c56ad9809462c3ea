//! Exponential back-off: a wait that doubles up to a cap, with or without jitter.

use std::time::Duration;

/// `base` · 2^`n`, at most `cap`.
pub fn doubling(base: Duration, cap: Duration, n: u32) -> Duration {
    base.saturating_mul(2u32.pow(n.min(20))).min(cap)
}

/// [`doubling`] ± 50 %, at most `cap`; `jitter` is a uniform random number from 0 to 1.
pub fn backoff(base: Duration, cap: Duration, n: u32, jitter: f64) -> Duration {
    doubling(base, cap, n).mul_f64(0.5 + jitter.clamp(0.0, 1.0)).min(cap)
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
    fn the_wait_doubles(#[case] retries: u32, #[case] jitter: f64, #[case] seconds: u64) {
        assert_eq!(backoff(BASE, CAP, retries, jitter), Duration::from_secs(seconds));
    }

    proptest! {
        #[test]
        fn no_wait_is_longer_than_the_cap(retries in any::<u32>(), jitter in any::<f64>().prop_filter("a number", |x| x.is_finite())) {
            prop_assert!(backoff(BASE, CAP, retries, jitter) <= CAP);
        }
    }
}

//! `DurationBuckets`: a distribution of durations in buckets of equal ratio, from which percentiles are read.
//!
//! In: numbers by bucket, as the table `stats_minute` has them. Out: percentiles in seconds, at most 19 % off.
//! Distributions are added by adding their buckets. It must not know what took the time. Pure.

use std::collections::BTreeMap;

/// Upper end of bucket 0, in seconds.
const SMALLEST: f64 = 0.001;
/// Number of buckets in which the duration doubles.
const PER_DOUBLING: f64 = 4.0;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DurationBuckets(BTreeMap<i32, i64>);

impl DurationBuckets {
    /// Adds `number` durations of this bucket; numbers below one count for nothing.
    pub fn add(&mut self, bucket: i32, number: i64) {
        if number > 0 {
            let counted = self.0.entry(bucket.max(0)).or_default();
            *counted = counted.saturating_add(number);
        }
    }

    pub fn absorb(&mut self, other: &DurationBuckets) {
        other.0.iter().for_each(|(bucket, number)| self.add(*bucket, *number));
    }

    /// The seconds that this share of the durations (0 to 1) did not exceed; none without durations.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let total: f64 = self.0.values().map(|number| *number as f64).sum();
        let wanted = share.clamp(0.0, 1.0) * total;
        let mut below = 0.0;
        for (bucket, number) in &self.0 {
            let number = *number as f64;
            if below + number >= wanted {
                return Some(within(*bucket, (wanted - below) / number));
            }
            below += number;
        }
        self.0.keys().next_back().map(|bucket| upper(*bucket))
    }
}

/// The seconds at this share of a bucket's width.
fn within(bucket: i32, share: f64) -> f64 {
    let lower = if bucket == 0 { 0.0 } else { upper(bucket - 1) };
    lower + (upper(bucket) - lower) * share
}

fn upper(bucket: i32) -> f64 {
    SMALLEST * 2_f64.powf(f64::from(bucket) / PER_DOUBLING)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Same rule as `duration_bucket` in SQL.
    fn bucket(seconds: f64) -> i32 {
        (PER_DOUBLING * (seconds.max(SMALLEST) / SMALLEST).log2() - 1e-9).ceil().max(0.0) as i32
    }

    fn of(durations: &[f64]) -> DurationBuckets {
        let mut buckets = DurationBuckets::default();
        durations.iter().for_each(|seconds| buckets.add(bucket(*seconds), 1));
        buckets
    }

    #[test]
    fn without_durations_there_is_no_percentile() {
        assert_eq!(DurationBuckets::default().percentile(0.5), None);
    }

    #[test]
    fn numbers_below_one_count_for_nothing() {
        let mut buckets = DurationBuckets::default();
        buckets.add(3, 0);
        buckets.add(3, -7);
        assert_eq!(buckets, DurationBuckets::default());
    }

    #[rstest]
    #[case::the_least_of_a_bucket(8, 0.0, 0.003_363_586)]
    #[case::in_the_middle_of_it(8, 0.5, 0.003_681_793)]
    #[case::all_of_it(8, 1.0, 0.004)]
    #[case::the_first_bucket_begins_at_nothing(0, 0.5, 0.0005)]
    fn durations_are_spread_evenly_within_a_bucket(#[case] bucket: i32, #[case] share: f64, #[case] seconds: f64) {
        let mut buckets = DurationBuckets::default();
        buckets.add(bucket, 4);
        let found = buckets.percentile(share).unwrap();
        assert!((found - seconds).abs() < 1e-8, "{found}");
    }

    proptest! {
        #[test]
        fn a_percentile_is_at_most_a_fifth_off(
            mut durations in prop::collection::vec(0.002..80_000.0_f64, 1..200),
            share in 0.01..1.0_f64,
        ) {
            let found = of(&durations).percentile(share).unwrap();
            durations.sort_by(f64::total_cmp);
            let place = (share * durations.len() as f64).ceil() as usize;
            let exact = durations[place.clamp(1, durations.len()) - 1];
            prop_assert!((exact / 1.2..=exact * 1.2).contains(&found), "{found} for {exact}");
        }

        #[test]
        fn distributions_are_added_by_their_buckets(
            one in prop::collection::vec(0.0..80_000.0_f64, 0..50),
            other in prop::collection::vec(0.0..80_000.0_f64, 0..50),
        ) {
            let mut sum = of(&one);
            sum.absorb(&of(&other));
            prop_assert_eq!(sum, of(&[one, other].concat()));
        }

        #[test]
        fn a_higher_percentile_is_not_shorter(
            durations in prop::collection::vec(0.0..80_000.0_f64, 1..50),
            low in 0.0..1.0_f64,
            high in 0.0..1.0_f64,
        ) {
            let buckets = of(&durations);
            prop_assert!(buckets.percentile(low.min(high)) <= buckets.percentile(low.max(high)));
        }
    }
}

//! The next step after a failed request: another route, the same again after a pause, or the end.
//!
//! Pure: a disposition and the tries spent go in, a [`Step`] comes out.

use std::time::Duration;

use super::error::RequestDisposition;
use domain::retry;

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const MAX_PAUSE: Duration = Duration::from_secs(15);
/// A longer wait belongs to the queue, where it keeps no proxy and no slot.
const MAX_WAIT_IN_SESSION: Duration = Duration::from_secs(30);

/// How many tries beyond the first a request and a whole task may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RotationLimits {
    pub per_request: u32,
    pub per_task: u32,
}

/// Tries beyond the first that have been made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtraTries {
    pub request: u32,
    pub task: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A new route at once: another proxy, another identity, an empty jar.
    Rotate,
    /// Tries once more after a pause; by a `new_route` when the proxy may be what failed.
    Wait {
        pause: Duration,
        new_route: bool,
    },
    GiveUp,
}

/// `jitter` is a random number in 0…1, `needs_other_proxy` whether the proxy may be what failed.
pub fn next(
    disposition: &RequestDisposition,
    needs_other_proxy: bool,
    spent: ExtraTries,
    limits: RotationLimits,
    jitter: f64,
) -> Step {
    if spent.request >= limits.per_request || spent.task >= limits.per_task {
        return Step::GiveUp;
    }
    match disposition {
        RequestDisposition::RotateBlocked | RequestDisposition::RotateProxy => Step::Rotate,
        RequestDisposition::Snooze { after: Some(after) } => wait_for_host(*after),
        RequestDisposition::TryAgain | RequestDisposition::Snooze { after: None } => {
            let pause = retry::backoff(FIRST_PAUSE, MAX_PAUSE, spent.request, jitter);
            Step::Wait { pause, new_route: needs_other_proxy }
        }
        RequestDisposition::Requeue { .. } | RequestDisposition::FailAttempt | RequestDisposition::Permanent => {
            Step::GiveUp
        }
    }
}

fn wait_for_host(after: Duration) -> Step {
    match after <= MAX_WAIT_IN_SESSION {
        true => Step::Wait { pause: after, new_route: false },
        false => Step::GiveUp,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    const LIMITS: RotationLimits = RotationLimits { per_request: 3, per_task: 12 };
    const UNSPENT: ExtraTries = ExtraTries { request: 0, task: 0 };
    const SECOND: Duration = Duration::from_secs(1);

    #[rstest]
    #[case::a_block_rotates(RequestDisposition::RotateBlocked, UNSPENT, Step::Rotate)]
    #[case::a_dead_proxy_rotates(RequestDisposition::RotateProxy, UNSPENT, Step::Rotate)]
    #[case::the_third_rotation_is_the_last(RequestDisposition::RotateBlocked, ExtraTries { request: 2, task: 2 }, Step::Rotate)]
    #[case::no_fourth_in_a_request(RequestDisposition::RotateBlocked, ExtraTries { request: 3, task: 3 }, Step::GiveUp)]
    #[case::no_thirteenth_in_a_task(RequestDisposition::RotateProxy, ExtraTries { request: 0, task: 12 }, Step::GiveUp)]
    #[case::retry_after_is_obeyed(RequestDisposition::Snooze { after: Some(SECOND) }, UNSPENT, Step::Wait { pause: SECOND, new_route: false })]
    #[case::a_long_wait_is_left_to_the_queue(RequestDisposition::Snooze { after: Some(60 * SECOND) }, UNSPENT, Step::GiveUp)]
    #[case::a_limit_of_the_process_is_left_to_the_queue(RequestDisposition::Requeue { after: SECOND }, UNSPENT, Step::GiveUp)]
    #[case::a_failed_attempt_ends(RequestDisposition::FailAttempt, UNSPENT, Step::GiveUp)]
    #[case::permanent_ends(RequestDisposition::Permanent, UNSPENT, Step::GiveUp)]
    fn a_disposition_leads_to_a_step(
        #[case] disposition: RequestDisposition,
        #[case] spent: ExtraTries,
        #[case] step: Step,
    ) {
        assert_eq!(next(&disposition, false, spent, LIMITS, 0.5), step);
    }

    #[rstest]
    #[case::first(0, 500)]
    #[case::second(1, 1000)]
    #[case::third(2, 2000)]
    fn pauses_double(#[case] tries: u32, #[case] millis: u64) {
        let spent = ExtraTries { request: tries, task: tries };
        let step = next(&RequestDisposition::TryAgain, true, spent, LIMITS, 0.5);
        assert_eq!(step, Step::Wait { pause: Duration::from_millis(millis), new_route: true });
    }

    proptest! {
        #[test]
        fn a_pause_stays_within_its_bounds(tries in 0_u32..40, jitter in 0.0..1.0_f64) {
            let unlimited = RotationLimits { per_request: u32::MAX, per_task: u32::MAX };
            let step = next(&RequestDisposition::TryAgain, true, ExtraTries { request: tries, task: tries }, unlimited, jitter);
            let is_bounded = matches!(step, Step::Wait { pause, .. } if pause >= FIRST_PAUSE / 2 && pause <= MAX_PAUSE);
            prop_assert!(is_bounded, "{step:?}");
        }
    }
}

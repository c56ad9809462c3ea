//! Texts that people's scripts read.

use rstest::rstest;

use super::*;

#[rstest]
#[case(Backoff::Memory { share: 0.8734, threshold: 0.85 }, "Memory at 87.3% (threshold: 85%)")]
#[case(Backoff::Cpu { share: 1.0, threshold: 0.9 }, "CPU at 100.0% (threshold: 90%)")]
fn the_reason_for_backing_off_is_written_as_ever(#[case] why: Backoff, #[case] text: &str) {
    assert_eq!(why.to_string(), text);
}

//! `HostOutcome`: how one request ended, as far as its host is concerned. Pure.

use std::time::Duration;

use super::{HostReport, Latency, ProbeNumber, Throttle, Verdict};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostOutcome {
    /// The host took the request; the time that the answer took, where it is known.
    Accepted(Option<Duration>),
    Refused,
    /// The host answered with 5xx; or, where no proxy is between, not at all.
    Failed,
    Throttled(Throttle),
    /// Nothing is known of the host: the fault is a proxy's, or ours.
    Nothing,
}

impl HostOutcome {
    /// The report of this request; `probe`: the one that it was.
    pub fn report(self, probe: Option<ProbeNumber>) -> HostReport {
        let (answers, refusals, failures, throttles) = match self {
            HostOutcome::Accepted(_) => (1, 0, 0, 0),
            HostOutcome::Refused => (1, 1, 0, 0),
            HostOutcome::Failed => (1, 0, 1, 0),
            HostOutcome::Throttled(_) => (1, 0, 0, 1),
            HostOutcome::Nothing => (0, 0, 0, 0),
        };
        let mut latency = Latency::default();
        if let HostOutcome::Accepted(Some(took)) = self {
            latency.observe(took);
        }
        let throttle = if let HostOutcome::Throttled(throttle) = self { Some(throttle) } else { None };
        let probe = probe.map(|number| (number, self.verdict()));
        HostReport { answers, refusals, failures, throttles, throttle, latency, probe, asks_probe: false }
    }

    fn verdict(self) -> Verdict {
        match self {
            HostOutcome::Accepted(_) => Verdict::Accepted,
            HostOutcome::Refused | HostOutcome::Failed | HostOutcome::Throttled(_) => Verdict::Refused,
            HostOutcome::Nothing => Verdict::Unknown,
        }
    }
}

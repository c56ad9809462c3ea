//! A host's state in words, for people who look at its row.

use std::fmt::Display;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{HostRefusal, HostState, Permission};

/// A breaker that is open for longer was opened by hand, without an end.
const LONGEST_PAUSE: Duration = Duration::from_secs(300 * 24 * 3600);

impl HostState {
    /// The host's state, since when, and until when nothing is sent to it.
    pub fn summary(&self, now: DateTime<Utc>) -> String {
        match self.permission(now) {
            Permission::Free => match self.trouble() {
                Some(trouble) => format!("{} since {} UTC", trouble.what, time(trouble.since)),
                None if self.answers == 0 => "not asked yet".to_owned(),
                None => "answers".to_owned(),
            },
            Permission::Held { left, status } => {
                format!("throttles us (status {status}); on hold for {}", seconds(left))
            }
            Permission::Refusing(refusing) => {
                format!("{} since {} UTC; {}", refusing.why, time(refusing.since), refusing.next_probe())
            }
            Permission::ProbeDue => {
                let refusing = self.refusing(Duration::ZERO);
                format!("{} since {} UTC; a probe is due", refusing.why, time(refusing.since))
            }
        }
    }
}

impl HostRefusal {
    /// Says when the host is asked again.
    pub fn next_probe(&self) -> String {
        match self.left {
            _ if self.is_probed => "a probe is under way".to_owned(),
            left if left > LONGEST_PAUSE => "until an operator closes its breaker".to_owned(),
            left => format!("next probe in {}", seconds(left)),
        }
    }
}

fn time(at: DateTime<Utc>) -> impl Display {
    at.format("%F %T")
}

fn seconds(left: Duration) -> String {
    format!("{} s", left.as_secs_f64().ceil())
}

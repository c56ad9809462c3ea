//! What a host does, in words: for people who look at its row.

use std::fmt::Display;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{HostState, Permission};

impl HostState {
    /// What it does and since when, and until when nothing is sent to it.
    pub fn summary(&self, now: DateTime<Utc>) -> String {
        match self.permission(now) {
            Permission::Free => match self.trouble() {
                Some(trouble) => format!("{} since {} UTC", trouble.what, time(trouble.since)),
                None => "answers".to_owned(),
            },
            Permission::Held { left, status } => {
                format!("throttles us (status {status}); on hold for {}", seconds(left))
            }
            Permission::Refusing(refusing) if refusing.is_probed => {
                format!("{} since {} UTC; a probe is under way", refusing.why, time(refusing.since))
            }
            Permission::Refusing(refusing) => {
                format!("{} since {} UTC; next probe in {}", refusing.why, time(refusing.since), seconds(refusing.left))
            }
            Permission::ProbeDue => {
                let refusing = self.refusing(Duration::ZERO);
                format!("{} since {} UTC; a probe is due", refusing.why, time(refusing.since))
            }
        }
    }
}

fn time(at: DateTime<Utc>) -> impl Display {
    at.format("%F %T")
}

fn seconds(left: Duration) -> String {
    format!("{} s", left.as_secs_f64().ceil())
}

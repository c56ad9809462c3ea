//! What `drover hosts show` says of a host's robots.txt: what it answered, and the rules that our requests break.

use std::fmt::Write;

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::cli::output::time;
use crate::db::robots::{Breach, RobotsRow};
use crate::domain::robots::{Robots, RobotsPolicy};

/// Rules that are shown to people; programs get all.
const MAX_SHOWN: usize = 20;

#[derive(Serialize)]
pub struct RobotsListing {
    authority: String,
    policy: &'static str,
    /// What it answered, for people.
    answered: String,
    fetched_at: Option<DateTime<Utc>>,
    unreachable_since: Option<DateTime<Utc>>,
    next_fetch_at: DateTime<Utc>,
    /// Those that concern us.
    rules: Vec<String>,
    /// Broken by requests of ours, as last reported.
    breaches: Vec<Breach>,
}

impl RobotsListing {
    pub fn new(row: RobotsRow, policy: RobotsPolicy) -> Self {
        let robots = Robots::parse(row.rules.as_deref().unwrap_or_default());
        RobotsListing {
            answered: answered(&row, robots.len()),
            authority: row.authority,
            policy: policy.into(),
            fetched_at: row.fetched_at,
            unreachable_since: row.unreachable_since,
            next_fetch_at: row.next_fetch_at,
            rules: robots.rules().map(|rule| rule.shown().to_owned()).collect(),
            breaches: row.breaches,
        }
    }

    pub fn text(&self) -> String {
        let mut text = format!("{}/robots.txt ({}): {}\n", self.authority, self.policy, self.answered);
        // writing to a string cannot fail
        for rule in self.rules.iter().take(MAX_SHOWN) {
            let _ = writeln!(text, "  {rule}");
        }
        if let Some(more) = self.rules.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
            let _ = writeln!(text, "  … and {more} more");
        }
        for Breach { rule, path, reported_at } in &self.breaches {
            let _ = writeln!(text, "  broken: '{rule}' by {path}, reported {}", time(*reported_at));
        }
        text
    }
}

fn answered(row: &RobotsRow, rules: usize) -> String {
    let latest = match (row.fetched_at, &row.rules) {
        (Some(at), Some(_)) => format!("{rules} rules for us, fetched {}", time(at)),
        (Some(at), None) => format!("there is none, asked {}", time(at)),
        (None, _) => "not known".to_owned(),
    };
    match (row.unreachable_since, &row.why) {
        (Some(since), Some(why)) => format!("{latest}; cannot be had since {} ({why})", time(since)),
        _ => latest,
    }
}

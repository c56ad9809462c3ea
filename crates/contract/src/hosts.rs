//! Hosts: their state, their robots.txt, and the changes of a breaker by hand.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::checks::{BadField, bad};
use domain::host::{HostState, MAX_LATER};
use domain::http::robots::RobotsPolicy;

const MAX_WHY_CHARS: usize = 200;

/// Filter of hosts; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HostFilter {
    /// Only hosts whose breaker is open or half-open; with false, only hosts whose breaker is closed.
    pub on_hold: Option<bool>,
    /// The last host of the page before.
    #[serde(skip)]
    pub after: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HostListing {
    pub host: String,
    /// State of the host, since when, and what comes next, in words.
    pub does: String,
    #[serde(flatten)]
    pub state: HostState,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HostPage {
    pub hosts: Vec<HostListing>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// All that is known about one host.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct HostDetail {
    #[serde(flatten)]
    pub listing: HostListing,
    /// One for each address of the host that was asked.
    pub robots: Vec<RobotsListing>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RobotsListing {
    pub authority: String,
    pub policy: RobotsPolicy,
    /// The answer of the host, in words.
    pub answered: String,
    pub fetched_at: Option<DateTime<Utc>>,
    pub unreachable_since: Option<DateTime<Utc>>,
    pub next_fetch_at: DateTime<Utc>,
    /// Rules that apply to drover.
    pub rules: Vec<String>,
    /// Broken by drover's requests, as last reported.
    pub breaches: Vec<BrokenRule>,
}

/// State to which an operator sets a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BreakerChange {
    /// Nothing is sent to the host.
    Open,
    /// Requests are sent again, as if the host had never refused any.
    Closed,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HostUpdate {
    pub breaker: BreakerChange,
    /// Time when one request may try the host; its answer closes the breaker. For `open`; by default in a year.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
    /// Reason that the waiting tasks show. For `open`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    pub why: Option<String>,
}

/// A rule that drover's requests break.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct BrokenRule {
    pub rule: String,
    pub path: String,
    pub reported_at: DateTime<Utc>,
}

impl HostListing {
    /// `now` is the database's.
    pub fn new(host: String, state: HostState, now: DateTime<Utc>) -> Self {
        HostListing { host, does: state.summary(now), state }
    }
}

impl HostUpdate {
    /// Returns the first fault.
    pub fn check(&self) -> Result<(), BadField> {
        if self.breaker == BreakerChange::Closed {
            let given = [("until", self.until.is_some()), ("why", self.why.is_some())];
            let extra = given.into_iter().find(|(_, is_given)| *is_given);
            return extra.map_or(Ok(()), |(field, _)| Err(bad(field, "is only for a breaker that is opened")));
        }
        match &self.why {
            Some(why) if why.chars().count() > MAX_WHY_CHARS => {
                Err(bad("why", format_args!("is longer than {MAX_WHY_CHARS} characters")))
            }
            Some(why) if why.trim().is_empty() || why.contains(char::is_control) => {
                Err(bad("why", "is not one line of text"))
            }
            _ => Ok(()),
        }
    }

    /// `now` is the database's.
    pub fn apply(&self, state: &mut HostState, now: DateTime<Utc>) -> Result<(), BadField> {
        match (self.breaker, self.until) {
            (BreakerChange::Closed, _) => state.close_by_hand(now),
            (BreakerChange::Open, Some(until)) if until <= now => return Err(bad("until", "has passed")),
            (BreakerChange::Open, Some(until)) if until - now > MAX_LATER => {
                return Err(bad("until", "is more than a year away"));
            }
            (BreakerChange::Open, until) => state.open_by_hand(self.why.as_deref(), until, now),
        }
        Ok(())
    }
}

//! robots.txt: our policy ([`RobotsPolicy`]), a host's answer ([`RobotsAnswer`]), and the record that all
//! processes share ([`RobotsRecord`]). The file itself is [`rules`]. Pure.

pub mod rules;

use std::time::Duration;

pub use rules::{Robots, Rule};

use crate::vocabulary::{self, vocabulary};

/// Maximum age of a file; then it is fetched again.
pub const MAX_AGE: Duration = Duration::from_secs(24 * 3600);
/// Time without an answer after which a host whose file was never seen counts as one without a file (RFC
/// 9309, 2.3.1.4).
const LONG_UNREACHABLE: Duration = Duration::from_secs(30 * 24 * 3600);
/// How long until a host that did not answer is asked again.
const RETRY_AFTER: Duration = Duration::from_secs(60);
/// How long a task waits while another process fetches the file.
const FETCH_WAIT: Duration = Duration::from_secs(5);

vocabulary! {
    /// How drover treats a host's rules.
    pub enum RobotsPolicy {
        /// Forbidden requests are not sent; while the rules are unknown, none is.
        Obey,
        /// Forbidden requests are sent, and logged.
        Report,
        /// The file is not fetched.
        Ignore,
    }
}

impl RobotsPolicy {
    /// The host and the policy of an entry such as `menu.example.com=obey`.
    pub fn of_host(entry: &str) -> Option<(&str, RobotsPolicy)> {
        let (host, word) = entry.split_once('=')?;
        Some((host.trim(), vocabulary::find(word.trim())?))
    }
}

/// A host's answer to the request for its file.
#[derive(Clone, Debug, PartialEq)]
pub enum RobotsAnswer {
    /// The text of its file.
    Rules(String),
    /// No file: 4xx, or redirects that lead nowhere.
    NoRules,
    /// 5xx, 429, or no answer at all.
    Unreachable { reason: String },
}

impl RobotsAnswer {
    /// How long it lasts.
    pub fn lasts(&self) -> Duration {
        match self {
            RobotsAnswer::Rules(_) | RobotsAnswer::NoRules => MAX_AGE,
            RobotsAnswer::Unreachable { .. } => RETRY_AFTER,
        }
    }
}

/// Shared knowledge of all processes about the file of one host, by the database's clock.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RobotsRecord {
    /// Whether the host ever answered.
    pub is_known: bool,
    /// The file of its last answer; none if it had none.
    pub text: Option<String>,
    /// Time since its last answer, and its failure.
    pub unreachable: Option<(Duration, String)>,
    /// Time until it is asked again; zero when that is due.
    pub next_fetch: Duration,
}

/// Meaning of a record for a request.
#[derive(Debug)]
pub enum RobotsKnowledge {
    Rules(Robots),
    /// No request may be sent yet, where the rules are obeyed.
    Nothing {
        reason: String,
        wait: Duration,
    },
}

impl RobotsRecord {
    pub fn is_due(&self) -> bool {
        self.next_fetch.is_zero()
    }

    /// A host that does not answer any more keeps the rules that it had; one that never did forbids
    /// everything for a month.
    pub fn known(&self) -> RobotsKnowledge {
        match &self.unreachable {
            _ if self.is_known => RobotsKnowledge::Rules(Robots::parse(self.text.as_deref().unwrap_or_default())),
            Some((since, _)) if *since >= LONG_UNREACHABLE => RobotsKnowledge::Rules(Robots::default()),
            Some((_, why)) if !self.is_due() => RobotsKnowledge::Nothing { reason: why.clone(), wait: self.next_fetch },
            _ => RobotsKnowledge::Nothing { reason: "another process fetches it now".to_owned(), wait: FETCH_WAIT },
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    fn unreachable(for_: Duration, next_fetch: Duration) -> RobotsRecord {
        RobotsRecord { unreachable: Some((for_, "status 503".to_owned())), next_fetch, ..RobotsRecord::default() }
    }

    fn with_rules(record: RobotsRecord) -> RobotsRecord {
        RobotsRecord { is_known: true, text: Some("User-agent: *\nDisallow: /api".to_owned()), ..record }
    }

    fn meaning(record: &RobotsRecord) -> &'static str {
        match record.known() {
            RobotsKnowledge::Rules(robots) if robots.forbids("/api").is_some() => "forbidden",
            RobotsKnowledge::Rules(_) => "allowed",
            RobotsKnowledge::Nothing { wait, .. } if wait == FETCH_WAIT => "fetched by another",
            RobotsKnowledge::Nothing { .. } => "waits",
        }
    }

    #[rstest]
    #[case::never_asked(RobotsRecord::default(), "fetched by another")]
    #[case::rules(with_rules(RobotsRecord::default()), "forbidden")]
    #[case::no_file(RobotsRecord { is_known: true, ..RobotsRecord::default() }, "allowed")]
    #[case::down_since_yesterday(unreachable(DAY, RETRY_AFTER), "waits")]
    #[case::down_and_asked_again(unreachable(DAY, Duration::ZERO), "fetched by another")]
    #[case::down_for_almost_a_month(unreachable(29 * DAY, RETRY_AFTER), "waits")]
    #[case::down_for_a_month(unreachable(30 * DAY, RETRY_AFTER), "allowed")]
    #[case::down_and_known_from_before(with_rules(unreachable(60 * DAY, RETRY_AFTER)), "forbidden")]
    fn a_record_says_what_may_be_sent(#[case] record: RobotsRecord, #[case] expected: &str) {
        assert_eq!(meaning(&record), expected);
    }

    #[rstest]
    #[case::a_host("menu.test=obey", Some(("menu.test", RobotsPolicy::Obey)))]
    #[case::spaces("menu.test = ignore", Some(("menu.test", RobotsPolicy::Ignore)))]
    #[case::no_policy("menu.test", None)]
    #[case::another_word("menu.test=maybe", None)]
    fn an_entry_names_a_host_and_its_policy(#[case] entry: &str, #[case] expected: Option<(&str, RobotsPolicy)>) {
        assert_eq!(RobotsPolicy::of_host(entry), expected);
    }

    #[test]
    fn an_answer_lasts_a_day_and_a_failure_a_minute() {
        assert_eq!([RobotsAnswer::NoRules, RobotsAnswer::Rules(String::new())].map(|answer| answer.lasts()), [DAY; 2]);
        let unreachable = RobotsAnswer::Unreachable { reason: "status 503".to_owned() };
        assert_eq!(unreachable.lasts(), Duration::from_secs(60));
    }
}

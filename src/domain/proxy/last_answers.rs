//! `LastAnswers`: through which proxy, and when, each host last answered. It tells a proxy that fails from a host that does.
//!
//! Pure. In: successes. Out: whether another proxy had one. It must not know health.

use std::collections::BTreeMap;
use std::time::Instant;

use super::ProxyId;

/// Past it the host that has been silent the longest is forgotten.
const MAX_HOSTS: usize = 256;

#[derive(Debug, Default)]
pub struct LastAnswers(BTreeMap<String, LastAnswer>);

#[derive(Debug)]
struct LastAnswer {
    proxy: ProxyId,
    at: Instant,
    /// When the last answer through any other proxy came.
    through_another: Option<Instant>,
}

impl LastAnswers {
    pub fn note(&mut self, host: &str, proxy: ProxyId, now: Instant) {
        if let Some(last) = self.0.get_mut(host) {
            let through_another = if last.proxy == proxy { last.through_another } else { Some(last.at) };
            *last = LastAnswer { proxy, at: now, through_another };
            return;
        }
        if self.0.len() >= MAX_HOSTS {
            self.forget_the_oldest();
        }
        self.0.insert(host.to_owned(), LastAnswer { proxy, at: now, through_another: None });
    }

    /// Whether `host` has answered later than `since` through another proxy than this one.
    pub fn to_another(&self, proxy: ProxyId, host: &str, since: Instant) -> bool {
        let Some(last) = self.0.get(host) else { return false };
        let at = if last.proxy == proxy { last.through_another } else { Some(last.at) };
        at.is_some_and(|at| at > since)
    }

    fn forget_the_oldest(&mut self) {
        let oldest = self.0.iter().min_by_key(|(_, last)| last.at).map(|(host, _)| host.clone());
        if let Some(host) = oldest {
            self.0.remove(&host);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_host_that_is_silent_the_longest_is_forgotten() {
        let start = Instant::now();
        let mut answers = LastAnswers::default();
        for nth in 0..=MAX_HOSTS {
            answers.note(&format!("h{nth}"), 1, start + SECOND * (1 + nth as u32));
        }
        assert_eq!(answers.0.len(), MAX_HOSTS);
        assert!(!answers.to_another(2, "h0", start) && answers.to_another(2, "h1", start));
    }

    #[test]
    fn an_answer_through_the_proxy_itself_is_none_through_another() {
        let start = Instant::now();
        let mut answers = LastAnswers::default();
        answers.note("h", 2, start + SECOND);
        answers.note("h", 1, start + 2 * SECOND);
        answers.note("h", 1, start + 3 * SECOND);
        assert!(answers.to_another(1, "h", start));
        assert!(!answers.to_another(1, "h", start + SECOND));
        assert!(answers.to_another(2, "h", start + 2 * SECOND));
    }
}

//! `RestingProxies`: the proxies that have spent their budget of the day, as operators see them. Pure.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Budgets, ProxyId, UsageToday};

/// Proxies that carry nothing more today, because their budget is spent; 0 of 0 where no budget is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RestingProxies {
    pub proxies: usize,
    /// Proxies that are switched on; if as many rest, nothing is fetched.
    pub switched_on: usize,
    /// Time when the first of them is used again; null if none rests.
    pub until: Option<DateTime<Utc>>,
}

impl RestingProxies {
    /// `switched_on`: the proxies of the table that are in use, benched ones too.
    pub fn of(switched_on: &[ProxyId], budgets: Budgets, usage: &UsageToday) -> RestingProxies {
        let rest = |id| budgets.rests_until(usage.by_proxy.get(id)?, &usage.in_all);
        let ends: Vec<DateTime<Utc>> = switched_on.iter().filter_map(rest).collect();
        RestingProxies { proxies: ends.len(), switched_on: switched_on.len(), until: ends.iter().min().copied() }
    }

    pub fn is_all(&self) -> bool {
        self.proxies > 0 && self.proxies == self.switched_on
    }
}

/// `every proxy rests until 2026-03-01 00:00 UTC, …`
impl fmt::Display for RestingProxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.is_all(), self.proxies) {
            (true, _) => f.write_str("every proxy rests")?,
            (false, 1) => write!(f, "1 of {} proxies rests", self.switched_on)?,
            (false, rest) => write!(f, "{rest} of {} proxies rest", self.switched_on)?,
        }
        if let Some(until) = self.until {
            write!(f, " until {}", until.format("%Y-%m-%d %H:%M UTC"))?;
        }
        f.write_str(", because the budget of the day is spent (proxies.budget_bytes_per_day)")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::Duration;

    use rstest::rstest;

    use super::*;
    use crate::proxy::DayUsage;

    fn day(bytes: i64, ends: &str) -> DayUsage {
        DayUsage { bytes, left: Duration::from_secs(60), ends: ends.parse().unwrap_or_default() }
    }

    #[rstest]
    #[case::none_rests(&[1, 2], 500, None)]
    #[case::one_rests(&[1, 2], 150, Some("1 of 2 proxies rests until 2026-03-01 06:00 UTC"))]
    #[case::the_first_end_counts(&[1, 2], 50, Some("every proxy rests until 2026-03-01 00:00 UTC"))]
    #[case::proxies_that_are_off_do_not_count(&[1], 150, Some("every proxy rests until 2026-03-01 06:00 UTC"))]
    #[case::without_proxies(&[], 50, None)]
    fn resting_proxies_are_named_with_the_first_end(
        #[case] switched_on: &[ProxyId],
        #[case] budget: i64,
        #[case] expected: Option<&str>,
    ) {
        let by_proxy = BTreeMap::from([(1, day(200, "2026-03-01T06:00:00Z")), (2, day(100, "2026-03-01T00:00:00Z"))]);
        let usage = UsageToday { by_proxy, in_all: day(300, "2026-03-01T00:00:00Z") };
        let resting = RestingProxies::of(switched_on, Budgets { each: Some(budget), in_all: None }, &usage);
        assert_eq!(resting.proxies > 0, expected.is_some());
        assert_eq!(resting.is_all(), expected.is_some_and(|text| text.starts_with("every proxy")));
        if let Some(expected) = expected {
            let text = resting.to_string();
            assert!(text.starts_with(expected) && text.contains("budget"), "{text}");
        }
    }
}

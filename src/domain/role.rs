//! `Role`: the kinds of work, and everything that is true of a kind rather than of a task.
//!
//! Media roles exist in the table's check only; they are a family of their own and never part of "any".

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    StoreDiscovery,
    EntryPointDiscovery,
    ProductDiscovery,
    PayloadFetch,
    ProductRefresh,
    AnalyticsRefresh,
}

impl Role {
    pub const ALL: [Role; 6] = [
        Role::StoreDiscovery,
        Role::EntryPointDiscovery,
        Role::ProductDiscovery,
        Role::PayloadFetch,
        Role::ProductRefresh,
        Role::AnalyticsRefresh,
    ];

    /// The name in the table, in JSON and in `WORKER_ROLE`.
    pub fn name(self) -> &'static str {
        match self {
            Role::StoreDiscovery => "store_discovery",
            Role::EntryPointDiscovery => "entry_point_discovery",
            Role::ProductDiscovery => "product_discovery",
            Role::PayloadFetch => "payload_fetch",
            Role::ProductRefresh => "product_refresh",
            Role::AnalyticsRefresh => "analytics_refresh",
        }
    }

    /// The name for people: `Payload Fetch`.
    pub fn title(self) -> &'static str {
        match self {
            Role::StoreDiscovery => "Store Discovery",
            Role::EntryPointDiscovery => "Entry Point Discovery",
            Role::ProductDiscovery => "Product Discovery",
            Role::PayloadFetch => "Payload Fetch",
            Role::ProductRefresh => "Product Refresh",
            Role::AnalyticsRefresh => "Analytics Refresh",
        }
    }

    pub fn description(self) -> &'static str {
        match self {
            Role::StoreDiscovery => "Finds the stores of a platform and promotes the valid ones",
            Role::EntryPointDiscovery => "Resolves a store's menu address to its platform id",
            Role::ProductDiscovery => "Fetches a new store's menu for the first time",
            Role::PayloadFetch => "Fetches a store's menu and keeps the raw answer",
            Role::ProductRefresh => "Turns a kept answer into products, snapshots and stock",
            Role::AnalyticsRefresh => "Refreshes the materialized views",
        }
    }

    /// The module that runs it.
    pub fn handler(self) -> &'static str {
        match self {
            Role::ProductDiscovery => "payload_fetch",
            other => other.name(),
        }
    }

    /// Whether a task of this role belongs to one dispensary.
    pub fn per_store(self) -> bool {
        !matches!(self, Role::StoreDiscovery | Role::AnalyticsRefresh)
    }

    /// Whether its body asks the menu platform, which no request does without a proxy.
    pub fn needs_proxy(self) -> bool {
        !matches!(self, Role::ProductRefresh | Role::AnalyticsRefresh)
    }

    pub fn default_priority(self) -> i32 {
        match self {
            Role::EntryPointDiscovery | Role::ProductDiscovery => 10,
            _ => 0,
        }
    }

    /// A body that runs longer is a failed attempt.
    pub fn time_limit(self) -> Duration {
        let minutes = match self {
            Role::StoreDiscovery => 60,
            Role::EntryPointDiscovery => 5,
            Role::ProductDiscovery | Role::PayloadFetch => 15,
            Role::ProductRefresh => 10,
            Role::AnalyticsRefresh => 30,
        };
        Duration::from_secs(minutes * 60)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Error, PartialEq, Eq)]
#[error("unknown role '{given}': the roles are {}", known())]
pub struct UnknownRole {
    pub given: String,
}

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        Role::ALL.into_iter().find(|role| role.name() == text).ok_or_else(|| UnknownRole { given: text.to_owned() })
    }
}

/// What one worker may claim: a non-empty set of roles in the order of [`Role::ALL`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RoleSet(Vec<Role>);

impl RoleSet {
    pub fn any() -> Self {
        RoleSet(Role::ALL.to_vec())
    }

    pub fn roles(&self) -> &[Role] {
        &self.0
    }

    pub fn needs_proxy(&self) -> bool {
        self.0.iter().any(|role| role.needs_proxy())
    }

    /// What remains claimable while no proxy is active.
    pub fn without_proxy_roles(&self) -> Vec<Role> {
        self.0.iter().copied().filter(|role| !role.needs_proxy()).collect()
    }

    /// The word in worker ids and the registry: the one role's name, else `any`.
    pub fn label(&self) -> &'static str {
        match self.0.as_slice() {
            [only] => only.name(),
            _ => "any",
        }
    }
}

impl FromStr for RoleSet {
    type Err = UnknownRole;

    /// `WORKER_ROLE`: empty or `any`, one role, or several with commas; `product_resync` is what that role once did.
    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        let words: Vec<&str> = text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        if words.is_empty() {
            return Ok(RoleSet(Role::ALL.to_vec()));
        }
        let mut chosen = Vec::new();
        for word in words {
            match word {
                "any" => chosen.extend(Role::ALL),
                "product_resync" => chosen.extend([Role::PayloadFetch, Role::ProductDiscovery, Role::ProductRefresh]),
                name => chosen.push(name.parse()?),
            }
        }
        chosen.sort();
        chosen.dedup();
        Ok(RoleSet(chosen))
    }
}

fn known() -> String {
    Role::ALL.map(Role::name).join(", ")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::empty_means_any("", &Role::ALL)]
    #[case::any("any", &Role::ALL)]
    #[case::a_trailing_comma("product_refresh,", &[Role::ProductRefresh])]
    #[case::one("payload_fetch", &[Role::PayloadFetch])]
    #[case::several(" product_refresh, payload_fetch", &[Role::PayloadFetch, Role::ProductRefresh])]
    #[case::the_old_name("product_resync", &[Role::ProductDiscovery, Role::PayloadFetch, Role::ProductRefresh])]
    fn worker_role_names_a_set(#[case] text: &str, #[case] roles: &[Role]) {
        assert_eq!(text.parse::<RoleSet>().map(|set| set.0), Ok(roles.to_vec()));
    }

    #[test]
    fn an_unknown_role_is_named_with_the_known_ones() {
        let error = "payload_fetsch".parse::<RoleSet>().unwrap_err().to_string();
        assert!(error.contains("'payload_fetsch'") && error.contains("payload_fetch, product_refresh"), "{error}");
    }

    #[rstest]
    fn every_name_reads_back(#[values(0, 1, 2, 3, 4, 5)] n: usize) {
        assert_eq!(Role::ALL[n].name().parse(), Ok(Role::ALL[n]));
    }
}

//! `Role`: the name of a kind of tasks, and sets of roles, as workers claim them.
//!
//! In: names. Out: roles, and what [`crate::task::kinds`] says of each.

use std::fmt::{self, Formatter};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use strum::VariantArray;
use utoipa::openapi::{Object, OneOf, Schema, Type};

pub use super::kind::Family;
pub use super::kinds::Role;
use crate::vocabulary::from_text;

/// A former role, which requests still name.
pub const RESYNC: &str = "product_resync";
/// The roles that did its work, in the order of [`Role`].
const RESYNC_ROLES: [Role; 3] = [Role::ProductDiscovery, Role::PayloadFetch, Role::ProductRefresh];

/// Roles that a request may name, in the OpenAPI document: media tasks are made as jobs.
pub fn names_and_resync() -> Object {
    one_of(Role::CRAWL.into_iter().map(Role::name).chain([RESYNC]))
}

/// The same where it may be null.
pub fn names_and_resync_or_null() -> Schema {
    Schema::OneOf(OneOf::builder().item(Object::with_type(Type::Null)).item(names_and_resync()).build())
}

/// A text that is one of `names`, in the OpenAPI document.
pub fn one_of(names: impl Iterator<Item = &'static str>) -> Object {
    Object::builder().schema_type(Type::String).enum_values(Some(names)).build()
}

/// Number of roles of the crawl family.
const CRAWL_ROLES: usize = {
    let (mut at, mut found) = (0, 0);
    while at < Role::VARIANTS.len() {
        if Role::VARIANTS[at].is_crawl() {
            found += 1;
        }
        at += 1;
    }
    found
};

impl Role {
    /// The crawl family, in the order of the variants.
    pub const CRAWL: [Role; CRAWL_ROLES] = {
        let mut family = [Role::VARIANTS[0]; CRAWL_ROLES];
        let (mut at, mut found) = (0, 0);
        while at < Role::VARIANTS.len() {
            if Role::VARIANTS[at].is_crawl() {
                family[found] = Role::VARIANTS[at];
                found += 1;
            }
            at += 1;
        }
        family
    };

    /// The module of `handlers` that runs it.
    pub fn handler(self) -> &'static str {
        match self {
            Role::ProductDiscovery => Role::PayloadFetch.name(),
            other => other.name(),
        }
    }

    const fn is_crawl(self) -> bool {
        matches!(self.kind().family, Family::Crawl)
    }

    pub fn family(self) -> Family {
        self.kind().family
    }

    pub fn per_store(self) -> bool {
        self.kind().per_store
    }

    pub fn needs_proxy(self) -> bool {
        self.kind().needs_proxy
    }

    pub fn default_priority(self) -> i32 {
        self.kind().priority
    }

    /// Priority of the tasks of a schedule that names none. Media jobs of a schedule give way to those that people request.
    pub fn schedule_priority(self) -> i32 {
        match self.family() {
            Family::Crawl | Family::Service => self.default_priority(),
            Family::Media => 3,
        }
    }

    /// Least priority of the tasks of a schedule that a person runs now; None: that of the schedule.
    pub fn run_now_priority(self) -> Option<i32> {
        match self.family() {
            Family::Crawl | Family::Service => None,
            Family::Media => Some(8),
        }
    }

    pub fn time_limit(self) -> Duration {
        self.kind().time_limit
    }

    pub fn stop_grace(self) -> Duration {
        self.kind().stop_grace
    }

    pub fn snooze_limit(self) -> Option<Duration> {
        self.kind().snooze_limit
    }
}

impl Family {
    pub fn roles(self) -> impl Iterator<Item = Role> {
        Role::VARIANTS.iter().copied().filter(move |role| role.family() == self)
    }

    /// The roles of its workers: its own and those of services.
    fn worker_roles(self) -> impl Iterator<Item = Role> {
        self.roles().chain(Family::Service.roles())
    }
}

from_text! { Role: UnknownRole, "role", "roles" }

/// Roles that one worker may claim: not empty, in the order of [`Role`]. In JSON a text, as in `WORKER_ROLE`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RoleSet(Vec<Role>);

impl RoleSet {
    /// The crawl family and services, the meaning of `any`.
    pub fn any() -> Self {
        RoleSet(Family::Crawl.worker_roles().collect())
    }

    pub fn roles(&self) -> &[Role] {
        &self.0
    }

    /// Whether none of the roles is of the crawl family.
    pub fn is_media(&self) -> bool {
        self.0.iter().all(|role| role.family() != Family::Crawl)
    }

    pub fn needs_proxy(&self) -> bool {
        self.0.iter().any(|role| role.needs_proxy())
    }

    /// Roles that remain claimable while no proxy is usable.
    pub fn without_proxy_roles(&self) -> Vec<Role> {
        self.0.iter().copied().filter(|role| !role.needs_proxy()).collect()
    }

    /// The word in worker ids and the registry, as in `WORKER_ROLE`; several roles have `+` between them.
    pub fn label(&self) -> String {
        let is = |family: Family| self.0.iter().copied().eq(family.worker_roles());
        match &self.0 {
            _ if is(Family::Crawl) => "any".to_owned(),
            _ if is(Family::Media) => Family::Media.to_string(),
            roles if *roles == RESYNC_ROLES => RESYNC.to_owned(),
            roles => roles.iter().map(|role| role.name()).collect::<Vec<_>>().join("+"),
        }
    }
}

impl fmt::Display for RoleSet {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(|role| role.name()).collect::<Vec<_>>().join(","))
    }
}

impl FromStr for RoleSet {
    type Err = UnknownRole;

    /// `WORKER_ROLE`: empty or `any`, `media`, or roles with commas; `product_resync` means three roles.
    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        let words: Vec<&str> = text.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
        if words.is_empty() {
            return Ok(RoleSet::any());
        }
        let mut chosen = Vec::new();
        for word in words {
            match word {
                "any" => chosen.extend(Family::Crawl.worker_roles()),
                "media" => chosen.extend(Family::Media.worker_roles()),
                RESYNC => chosen.extend(RESYNC_ROLES),
                name => chosen.push(name.parse()?),
            }
        }
        chosen.sort();
        chosen.dedup();
        Ok(RoleSet(chosen))
    }
}

impl TryFrom<String> for RoleSet {
    type Error = UnknownRole;

    /// Reads roles like `WORKER_ROLE`, except that an empty text is refused here: there it means `any`.
    fn try_from(text: String) -> Result<Self, UnknownRole> {
        match text.chars().any(char::is_alphanumeric) {
            true => text.parse(),
            false => Err(UnknownRole { given: text }),
        }
    }
}

impl From<RoleSet> for String {
    fn from(set: RoleSet) -> String {
        set.0.iter().map(|role| role.name()).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use rstest::rstest;

    use super::*;

    static ANY: LazyLock<Vec<Role>> = LazyLock::new(|| [&Role::CRAWL[..], &[Role::Notify]].concat());

    #[rstest]
    #[case::empty_means_any("", &ANY)]
    #[case::any("any", &ANY)]
    #[case::a_trailing_comma("product_refresh,", &[Role::ProductRefresh])]
    #[case::one("payload_fetch", &[Role::PayloadFetch])]
    #[case::several(" product_refresh, payload_fetch", &[Role::PayloadFetch, Role::ProductRefresh])]
    #[case::the_old_name("product_resync", &[Role::ProductDiscovery, Role::PayloadFetch, Role::ProductRefresh])]
    #[case::one_of_media("download_media", &[Role::DownloadMedia])]
    fn worker_role_names_a_set(#[case] text: &str, #[case] roles: &[Role]) {
        assert_eq!(text.parse::<RoleSet>().map(|set| set.0), Ok(roles.to_vec()));
    }

    #[rstest]
    #[case::any("", "any")]
    #[case::one("payload_fetch", "payload_fetch")]
    #[case::the_old_name("product_resync", "product_resync")]
    #[case::media("media", "media")]
    #[case::several("product_refresh,payload_fetch", "payload_fetch+product_refresh")]
    #[case::of_both_families("analytics_refresh,youtube_monitor", "analytics_refresh+youtube_monitor")]
    fn a_worker_is_called_by_its_roles(#[case] text: &str, #[case] label: &str) {
        assert_eq!(text.parse::<RoleSet>().unwrap().label(), label);
    }

    #[test]
    fn media_workers_claim_the_media_family_and_services() {
        let media: RoleSet = "media".parse().unwrap();
        let of = |family| media.roles().iter().filter(|role| role.family() == family).count();
        assert_eq!([of(Family::Crawl), of(Family::Media), of(Family::Service)], [0, 8, 1]);
        assert!(!media.needs_proxy());
    }

    #[rstest]
    #[case::empty("")]
    #[case::no_word(" ,")]
    fn a_request_names_a_role(#[case] text: &str) {
        assert_eq!(RoleSet::try_from(text.to_owned()), Err(UnknownRole { given: text.to_owned() }));
        assert_eq!(RoleSet::try_from("any".to_owned()), Ok(RoleSet::any()));
    }

    #[test]
    fn an_unknown_role_is_named_with_the_known_ones() {
        let error = "payload_fetsch".parse::<RoleSet>().unwrap_err().to_string();
        assert!(error.contains("'payload_fetsch'") && error.contains("payload_fetch, product_refresh"), "{error}");
    }

    #[test]
    fn every_role_has_a_title_a_description_and_a_name_that_reads_back() {
        for role in Role::VARIANTS {
            let (title, description) = (role.kind().title, role.kind().description);
            assert!(!title.is_empty() && !description.is_empty(), "{role}");
            assert_eq!(role.name().parse(), Ok(*role));
            assert_eq!(serde_json::to_value(role).unwrap(), role.name());
        }
    }

    #[rstest]
    #[case(Role::StoreDiscovery, (Family::Crawl, false, true, 0, 60))]
    #[case(Role::EntryPointDiscovery, (Family::Crawl, true, true, 10, 5))]
    #[case(Role::ProductDiscovery, (Family::Crawl, true, true, 10, 15))]
    #[case(Role::PayloadFetch, (Family::Crawl, true, true, 0, 15))]
    #[case(Role::ProductRefresh, (Family::Crawl, true, false, 0, 10))]
    #[case(Role::AnalyticsRefresh, (Family::Crawl, false, false, 0, 30))]
    #[case(Role::ScrapeAccount, (Family::Media, false, false, 5, 360))]
    #[case(Role::DownloadMedia, (Family::Media, false, false, 5, 360))]
    #[case(Role::PaidContentSync, (Family::Media, false, false, 5, 1440))]
    #[case(Role::PaidContentCreator, (Family::Media, false, false, 5, 360))]
    #[case(Role::ForumScrape, (Family::Media, false, false, 5, 120))]
    #[case(Role::YoutubeMonitor, (Family::Media, false, false, 5, 15))]
    #[case(Role::EasynewsMonitor, (Family::Media, false, false, 5, 15))]
    #[case(Role::AppearancesSync, (Family::Media, false, false, 5, 30))]
    #[case(Role::Notify, (Family::Service, false, false, 10, 60))]
    fn a_role_has_a_family_needs_a_priority_and_minutes(
        #[case] role: Role,
        #[case] expected: (Family, bool, bool, i32, u64),
    ) {
        let minutes = role.time_limit().as_secs() / 60;
        let facts = (role.family(), role.per_store(), role.needs_proxy(), role.default_priority(), minutes);
        assert_eq!(facts, expected);
    }

    #[rstest]
    #[case::of_the_crawl(Role::PayloadFetch, (0, None))]
    #[case::of_the_crawl_with_a_priority(Role::ProductDiscovery, (10, None))]
    #[case::of_a_service(Role::Notify, (10, None))]
    #[case::of_media(Role::YoutubeMonitor, (3, Some(8)))]
    fn scheduled_media_jobs_give_way_unless_a_person_runs_them_now(
        #[case] role: Role,
        #[case] priorities: (i32, Option<i32>),
    ) {
        assert_eq!((role.schedule_priority(), role.run_now_priority()), priorities);
    }

    #[rstest]
    #[case::its_own(Role::ProductRefresh, "product_refresh")]
    #[case::a_first_fetch_is_a_fetch(Role::ProductDiscovery, "payload_fetch")]
    #[case::of_media(Role::ScrapeAccount, "scrape_account")]
    fn roles_have_a_handler(#[case] role: Role, #[case] handler: &str) {
        assert_eq!(role.handler(), handler);
    }

    #[test]
    fn roles_that_need_no_proxy_remain_without_one() {
        assert!(RoleSet::any().needs_proxy());
        let rest = [Role::ProductRefresh, Role::AnalyticsRefresh, Role::Notify];
        assert_eq!(RoleSet::any().without_proxy_roles(), rest);
    }

    #[test]
    fn a_set_is_written_as_it_is_read() {
        let set: RoleSet = "payload_fetch,product_refresh".parse().unwrap();
        assert_eq!(set.to_string(), "payload_fetch,product_refresh");
        assert_eq!(serde_json::to_value(&set).unwrap(), "payload_fetch,product_refresh");
    }

    #[test]
    fn the_names_in_the_document_are_those_of_crawl_roles_and_the_former_one() {
        let names = serde_json::json!({
            "type": "string",
            "enum": [
                "store_discovery", "entry_point_discovery", "product_discovery", "payload_fetch", "product_refresh",
                "analytics_refresh", "product_resync",
            ],
        });
        assert_eq!(serde_json::to_value(names_and_resync()).unwrap(), names);
        let or_null = serde_json::to_value(names_and_resync_or_null()).unwrap();
        assert_eq!(or_null["oneOf"], serde_json::json!([{ "type": "null" }, names]));
    }
}

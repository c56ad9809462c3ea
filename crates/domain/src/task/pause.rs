//! Pauses: the things that an operator has stopped for a time, and the roles and workers that may still claim.
//! Pure.
//!
//! In: the targets of the pauses in force. Out: decisions about claims. It must not know how long a pause
//! lasts, or who made it.

use strum::VariantArray;
use thiserror::Error;

use super::role::{Family, Role};
use crate::store::StoreId;
use crate::vocabulary::{self, vocabulary};

vocabulary! {
    /// The kind of thing that a pause stops.
    pub enum PauseScope {
        All,
        Family,
        Role,
        Pod,
        Worker,
        Host,
        Store,
    }
}

/// Maximum length of a name in characters.
const MAX_NAME_CHARS: usize = 255;

/// The thing that a pause stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PauseTarget {
    All,
    Family(Family),
    Role(Role),
    Pod(String),
    /// A worker by its friendly name, which outlives its process.
    Worker(String),
    Host(String),
    Store(StoreId),
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BadTarget {
    #[error("must be left out: the scope `all` has no name")]
    NotNeeded,
    #[error("is missing: name the {0} to pause")]
    Missing(PauseScope),
    #[error("'{given}' is not one of {words}")]
    Unknown { given: String, words: String },
    #[error("must be the number of a store, not '{0}'")]
    NoStore(String),
    #[error("must be 1 to {MAX_NAME_CHARS} characters without control characters")]
    BadName,
}

impl PauseTarget {
    /// `of`: the name of a family, role, pod, worker or host, or the id of a store; none for [`PauseScope::All`].
    pub fn parse(scope: PauseScope, of: Option<&str>) -> Result<PauseTarget, BadTarget> {
        let Some(of) = of.map(str::trim).filter(|of| !of.is_empty()) else {
            return if scope == PauseScope::All { Ok(PauseTarget::All) } else { Err(BadTarget::Missing(scope)) };
        };
        if of.chars().count() > MAX_NAME_CHARS || of.contains(char::is_control) {
            return Err(BadTarget::BadName);
        }
        Ok(match scope {
            PauseScope::All => return Err(BadTarget::NotNeeded),
            PauseScope::Family => PauseTarget::Family(word(of)?),
            PauseScope::Role => PauseTarget::Role(word(of)?),
            PauseScope::Pod => PauseTarget::Pod(of.to_owned()),
            PauseScope::Worker => PauseTarget::Worker(of.to_owned()),
            PauseScope::Host => PauseTarget::Host(of.to_ascii_lowercase()),
            PauseScope::Store => {
                let id = of.parse().ok().filter(|id: &StoreId| *id > 0);
                PauseTarget::Store(id.ok_or_else(|| BadTarget::NoStore(of.to_owned()))?)
            }
        })
    }

    pub fn scope(&self) -> PauseScope {
        match self {
            PauseTarget::All => PauseScope::All,
            PauseTarget::Family(_) => PauseScope::Family,
            PauseTarget::Role(_) => PauseScope::Role,
            PauseTarget::Pod(_) => PauseScope::Pod,
            PauseTarget::Worker(_) => PauseScope::Worker,
            PauseTarget::Host(_) => PauseScope::Host,
            PauseTarget::Store(_) => PauseScope::Store,
        }
    }

    /// Name in the table; empty for [`PauseTarget::All`].
    pub fn name(&self) -> String {
        match self {
            PauseTarget::All => String::new(),
            PauseTarget::Family(family) => family.to_string(),
            PauseTarget::Role(role) => role.to_string(),
            PauseTarget::Pod(name) | PauseTarget::Worker(name) | PauseTarget::Host(name) => name.clone(),
            PauseTarget::Store(id) => id.to_string(),
        }
    }

    /// Whether no task of `role` may be claimed.
    pub fn stops_role(&self, role: Role) -> bool {
        match self {
            PauseTarget::All => true,
            PauseTarget::Family(family) => role.family() == *family,
            PauseTarget::Role(paused) => *paused == role,
            _ => false,
        }
    }

    pub fn store(&self) -> Option<StoreId> {
        if let PauseTarget::Store(id) = self { Some(*id) } else { None }
    }
}

fn word<T: VariantArray + Copy + Into<&'static str>>(of: &str) -> Result<T, BadTarget> {
    let unknown = || BadTarget::Unknown { given: of.to_owned(), words: vocabulary::words::<T>() };
    vocabulary::find(of).ok_or_else(unknown)
}

/// The pauses of one moment, for the decisions of a process that runs tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pauses(Vec<PauseTarget>);

impl Pauses {
    pub fn new(targets: Vec<PauseTarget>) -> Pauses {
        Pauses(targets)
    }

    /// Whether no task of `role` may be claimed.
    pub fn stops_role(&self, role: Role) -> bool {
        self.0.iter().any(|target| target.stops_role(role))
    }

    /// The roles of these whose tasks may be claimed.
    pub fn claimable(&self, roles: &[Role]) -> Vec<Role> {
        roles.iter().copied().filter(|role| !self.stops_role(*role)).collect()
    }

    /// Whether a worker may claim nothing: it, its pod or each role of its family is paused. Services are left to
    /// the workers of the other family.
    pub fn stops_worker(&self, pod: &str, name: &str, roles: &[Role]) -> bool {
        let is_named = self.0.iter().any(|target| match target {
            PauseTarget::Pod(paused) => paused == pod,
            PauseTarget::Worker(paused) => paused == name,
            _ => false,
        });
        let own: Vec<Role> = roles.iter().copied().filter(|role| role.family() != Family::Service).collect();
        is_named || self.claimable(if own.is_empty() { roles } else { &own }).is_empty()
    }

    /// Hosts that are paused.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|target| if let PauseTarget::Host(host) = target { Some(host.as_str()) } else { None })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(PauseScope::All, None, PauseTarget::All)]
    #[case(PauseScope::Family, Some("crawl"), PauseTarget::Family(Family::Crawl))]
    #[case(PauseScope::Role, Some("product_refresh"), PauseTarget::Role(Role::ProductRefresh))]
    #[case(PauseScope::Pod, Some(" Xylos "), PauseTarget::Pod("Xylos".to_owned()))]
    #[case(PauseScope::Worker, Some("Xylos-3"), PauseTarget::Worker("Xylos-3".to_owned()))]
    #[case(PauseScope::Host, Some("Menu.Example.com"), PauseTarget::Host("menu.example.com".to_owned()))]
    #[case(PauseScope::Store, Some("7"), PauseTarget::Store(7))]
    fn a_target_is_read_and_named(#[case] scope: PauseScope, #[case] of: Option<&str>, #[case] target: PauseTarget) {
        let read = PauseTarget::parse(scope, of).unwrap();
        assert_eq!((&read, read.scope()), (&target, scope));
        assert_eq!(PauseTarget::parse(scope, Some(read.name().as_str())), Ok(target));
    }

    #[rstest]
    #[case(PauseScope::All, Some("x"), BadTarget::NotNeeded)]
    #[case(PauseScope::Pod, None, BadTarget::Missing(PauseScope::Pod))]
    #[case(PauseScope::Pod, Some("  "), BadTarget::Missing(PauseScope::Pod))]
    #[case(PauseScope::Family, Some("fish"), BadTarget::Unknown { given: "fish".to_owned(), words: "crawl, media, service".to_owned() })]
    #[case(PauseScope::Store, Some("x7"), BadTarget::NoStore("x7".to_owned()))]
    #[case(PauseScope::Store, Some("0"), BadTarget::NoStore("0".to_owned()))]
    #[case(PauseScope::Worker, Some("a\nb"), BadTarget::BadName)]
    fn a_bad_target_says_why(#[case] scope: PauseScope, #[case] of: Option<&str>, #[case] fault: BadTarget) {
        assert_eq!(PauseTarget::parse(scope, of), Err(fault));
    }

    #[rstest]
    #[case::nothing(vec![], [true, true, true, true])]
    #[case::all(vec![PauseTarget::All], [false, false, false, false])]
    #[case::crawl(vec![PauseTarget::Family(Family::Crawl)], [false, false, true, true])]
    #[case::media(vec![PauseTarget::Family(Family::Media)], [true, true, false, true])]
    #[case::services(vec![PauseTarget::Family(Family::Service)], [true, true, true, false])]
    #[case::role(vec![PauseTarget::Role(Role::ProductRefresh)], [true, false, true, true])]
    #[case::others(vec![PauseTarget::Store(1), PauseTarget::Host("h".to_owned())], [true, true, true, true])]
    fn roles_are_claimed_unless_they_are_paused(#[case] targets: Vec<PauseTarget>, #[case] claimed: [bool; 4]) {
        let pauses = Pauses::new(targets);
        let roles = [Role::PayloadFetch, Role::ProductRefresh, Role::DownloadMedia, Role::Notify];
        assert_eq!(roles.map(|role| !pauses.stops_role(role)), claimed);
    }

    #[rstest]
    #[case::its_family(vec![PauseTarget::Family(Family::Crawl)], "any", true)]
    #[case::the_other_family(vec![PauseTarget::Family(Family::Crawl)], "media", false)]
    #[case::of_both(vec![PauseTarget::Family(Family::Crawl)], "any,media", false)]
    #[case::nothing(vec![], "notify", false)]
    #[case::a_sender(vec![PauseTarget::Role(Role::Notify)], "notify", true)]
    #[case::services(vec![PauseTarget::Family(Family::Service)], "notify", true)]
    #[case::services_beside_its_own(vec![PauseTarget::Family(Family::Service)], "any", false)]
    fn a_worker_of_a_paused_family_stops(#[case] targets: Vec<PauseTarget>, #[case] roles: &str, #[case] stops: bool) {
        let roles: crate::task::role::RoleSet = roles.parse().unwrap();
        assert_eq!(Pauses::new(targets).stops_worker("Xylos", "Xylos-1", roles.roles()), stops);
    }

    #[rstest]
    #[case::nothing(vec![], false)]
    #[case::itself(vec![PauseTarget::Worker("Xylos-1".to_owned())], true)]
    #[case::another(vec![PauseTarget::Worker("Xylos-2".to_owned())], false)]
    #[case::its_pod(vec![PauseTarget::Pod("Xylos".to_owned())], true)]
    #[case::one_of_its_roles(vec![PauseTarget::Role(Role::PayloadFetch)], false)]
    #[case::each_of_its_roles(vec![PauseTarget::Role(Role::PayloadFetch), PauseTarget::Role(Role::ProductRefresh)], true)]
    fn a_worker_stops_with_itself_its_pod_or_all_its_roles(#[case] targets: Vec<PauseTarget>, #[case] stops: bool) {
        let roles = [Role::PayloadFetch, Role::ProductRefresh];
        assert_eq!(Pauses::new(targets).stops_worker("Xylos", "Xylos-1", &roles), stops);
    }

    #[rstest]
    #[case::as_long_as_it_may_be(255, true)]
    #[case::longer(256, false)]
    fn a_name_has_a_bounded_number_of_characters(#[case] length: usize, #[case] is_read: bool) {
        let name = "ñ".repeat(length);
        let expected = if is_read { Ok(PauseTarget::Pod(name.clone())) } else { Err(BadTarget::BadName) };
        assert_eq!(PauseTarget::parse(PauseScope::Pod, Some(&name)), expected);
    }

    #[test]
    fn paused_hosts_and_stores_are_found_among_the_targets() {
        let targets =
            [PauseTarget::Host("menu.test".to_owned()), PauseTarget::Store(7), PauseTarget::Pod("Xylos".to_owned())];
        assert_eq!(targets.clone().map(|target| target.store()), [None, Some(7), None]);
        assert_eq!(Pauses::new(targets.into()).hosts().collect::<Vec<_>>(), ["menu.test"]);
    }
}

//! `Shared`: licences, phones and points that several shops have in common, and that say less about each of them. In: all stores.
//! Out: how many shops a value stands for.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::profile::Profile;

/// Number of addresses at one point from which the point is a default, such as the middle of a city.
const DEFAULT_POINT: usize = 3;
/// Maximum number of stores with one licence that may be one shop.
const MAX_OF_LICENCE: usize = 24;

pub(super) struct Shared<'p> {
    licences: HashSet<&'p str>,
    phones: HashMap<&'p str, Phone>,
    points: HashSet<(i32, i32)>,
}

/// The shops that a phone number may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phone {
    /// A platform has it at several addresses.
    Central,
    /// Each platform has it at one address.
    OneByPlatform,
    /// All stores that have it have one address, or none.
    OneShop,
}

impl<'p> Shared<'p> {
    pub fn new(profiles: &'p [Profile<'p>]) -> Shared<'p> {
        let by_licence = by(profiles, |profile| profile.licences.iter().map(String::as_str).collect());
        let by_phone = by(profiles, |profile| profile.phone.as_deref().into_iter().collect());
        let by_point = by(profiles, |profile| profile.point.map(|point| point.key()).into_iter().collect());
        let licences = by_licence.into_iter().filter(|(_, stores)| is_of_several_shops(stores));
        let points = by_point.into_iter().filter(|(_, stores)| houses(stores).len() >= DEFAULT_POINT);
        Shared {
            licences: licences.map(|(licence, _)| licence).collect(),
            phones: by_phone.into_iter().map(|(phone, stores)| (phone, phone_of(&stores))).collect(),
            points: points.map(|(point, _)| point).collect(),
        }
    }

    /// Whether several shops have the licence.
    pub fn is_licence(&self, licence: &str) -> bool {
        self.licences.contains(licence)
    }

    /// The kind of phone number that both have.
    pub fn phone(&self, one: &Profile, other: &Profile) -> Option<Phone> {
        let phone = one.phone.as_deref().filter(|phone| other.phone.as_deref() == Some(*phone))?;
        self.phones.get(phone).copied()
    }

    /// The miles between two stores whose points are their own.
    pub fn miles(&self, one: &Profile, other: &Profile) -> Option<f64> {
        let is_default = |profile: &Profile| profile.point.is_some_and(|point| self.points.contains(&point.key()));
        one.miles_to(other).filter(|_| !is_default(one) && !is_default(other))
    }
}

fn by<'p, K: Hash + Eq>(
    profiles: &'p [Profile<'p>],
    keys: impl Fn(&'p Profile<'p>) -> Vec<K>,
) -> HashMap<K, Vec<&'p Profile<'p>>> {
    let mut stores: HashMap<K, Vec<&Profile>> = HashMap::new();
    for profile in profiles {
        for key in keys(profile) {
            stores.entry(key).or_default().push(profile);
        }
    }
    stores
}

/// Whether a platform has two stores with the licence, for the same customers, and not at one house number.
fn is_of_several_shops(stores: &[&Profile]) -> bool {
    if stores.len() > MAX_OF_LICENCE {
        return true;
    }
    let house = |profile: &Profile| profile.address.as_ref().map(|address| address.house().to_owned());
    let are_two = |one: &Profile, other: &Profile| {
        let is_twin = one.record.platform == other.record.platform && !one.service.differs(other.service);
        is_twin && (house(one).is_none() || house(one) != house(other))
    };
    stores.iter().enumerate().any(|(at, one)| stores[at + 1..].iter().any(|other| are_two(one, other)))
}

fn phone_of(stores: &[&Profile]) -> Phone {
    let mut by_platform: HashMap<&str, HashSet<&str>> = HashMap::new();
    for store in stores {
        let house = store.address.as_ref().map(|address| address.house());
        by_platform.entry(&store.record.platform).or_default().extend(house);
    }
    if houses(stores).len() <= 1 {
        return Phone::OneShop;
    }
    let is_one = by_platform.values().all(|houses| houses.len() <= 1);
    if is_one { Phone::OneByPlatform } else { Phone::Central }
}

fn houses<'p>(stores: &[&'p Profile]) -> HashSet<&'p str> {
    stores.iter().filter_map(|store| store.address.as_ref()).map(|address| address.house()).collect()
}

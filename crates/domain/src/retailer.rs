//! Retailers: which stores of several platforms are the same shop. Pure.
//!
//! In: stores, the retailers that a person knows, and the state's register of licences where an operator has it. Out: the groups
//! of stores that are surely one retailer, and the pairs that are for a person to decide. It must not know how a store was found, nor
//! where retailers are kept.
//!
//! Two stores are compared where they share a [block](blocks): a licence, a house number in a zip or city, a few streets, or a
//! city and the first word of the name. The [rules] look at licence, address, distance, and name with city, in this order; a name
//! alone decides nothing.

mod address;
mod apart;
mod blocks;
mod comparison;
mod contact;
mod evidence;
mod groups;
mod licence;
mod link;
mod name;
mod point;
mod profile;
mod rules;
mod service;
mod shared;
#[cfg(test)]
mod tests;

pub use evidence::Evidence;
pub use link::Link;

use apart::Apart;
use comparison::Comparison;
use groups::{Groups, Pair};
use profile::Profile;
use shared::Shared;

use super::store::StoreId;

pub type RetailerId = i64;

/// A store as its platform lists it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoreRecord {
    /// Each store has its own.
    pub id: StoreId,
    /// The platform's word.
    pub platform: String,
    pub name: String,
    /// The street with its number, or all of the address.
    pub address: Option<String>,
    pub city: Option<String>,
    /// A postal code, or the name.
    pub state: Option<String>,
    pub zip: Option<String>,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
    pub phone: Option<String>,
    pub website: Option<String>,
    pub licences: Vec<String>,
    pub is_recreational: Option<bool>,
    pub is_medical: Option<bool>,
    /// Whether the listing is for deliveries alone.
    pub is_delivery: Option<bool>,
}

/// A retailer with the decisions of a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownRetailer {
    pub id: RetailerId,
    /// Its stores.
    pub confirmed: Vec<StoreId>,
    /// Stores that are not its own.
    pub refused: Vec<StoreId>,
}

/// A line of a state's register.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterEntry {
    pub licence: String,
    pub name: String,
    /// The street with its number, or all of the address.
    pub address: String,
    pub city: Option<String>,
    pub state: Option<String>,
    pub zip: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    pub stores: Vec<StoreRecord>,
    pub retailers: Vec<KnownRetailer>,
    /// Pairs of stores that are not one retailer, as a person said.
    pub refused: Vec<[StoreId; 2]>,
    pub register: Vec<RegisterEntry>,
}

/// Stores without a retailer that are surely one, or surely belong to a known one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// None = a new retailer.
    pub retailer: Option<RetailerId>,
    /// Ids, the smallest first.
    pub stores: Vec<StoreId>,
    /// Why they are one; a store of the known retailer may be named, too.
    pub links: Vec<Link>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proposals {
    /// Groups that need no person. Each store without a retailer is in exactly one, maybe alone.
    pub sure: Vec<Group>,
    /// Links between two groups, for a person to decide, the strongest first.
    pub likely: Vec<Link>,
}

/// Proposes the retailers of the stores that belong to none. The order of the input does not matter.
pub fn propose(input: &Input) -> Proposals {
    let mut stores: Vec<&StoreRecord> = input.stores.iter().collect();
    stores.sort_by_key(|store| store.id);
    stores.dedup_by_key(|store| store.id);
    let mut profiles: Vec<Profile> = stores.into_iter().map(Profile::new).collect();
    profile::add_register(&mut profiles, &input.register);

    let apart = Apart::new(&profiles, input);
    let shared = Shared::new(&profiles);
    let compared = blocks::pairs(&profiles).into_iter().filter(|(one, other)| !apart.are(*one, *other));
    let pairs = compared.filter_map(|stores| {
        let facts = Comparison::new(&profiles[stores.0], &profiles[stores.1], &shared)?;
        Some(Pair { stores, verdict: rules::verdict(&facts)?, is_move: facts.is_move() })
    });
    Groups::new(&profiles, &apart, &shared).propose(pairs.collect())
}

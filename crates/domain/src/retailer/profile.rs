//! `Profile`: a store as the rules compare it. In: its record, and the register of its state. Out: the parsed parts, each of them of
//! bounded length.

use std::collections::{HashMap, HashSet};

use super::address::{Address, Parts, zip_digits};
use super::name::{Likeness, Name};
use super::point::Point;
use super::service::Service;
use super::{RegisterEntry, StoreRecord, contact, licence};
use crate::store::{StoreId, us_states};
use crate::text::{folded, words};

/// Maximum number of licences of a store that are read.
const MAX_LICENCES: usize = 8;

pub(super) struct Profile<'r> {
    pub record: &'r StoreRecord,
    pub service: Service,
    pub name: Name,
    /// The postal code, or folded words where it is no state of the US.
    pub state: Option<String>,
    /// Folded.
    pub city: String,
    pub zip: Option<String>,
    pub address: Option<Address>,
    pub point: Option<Point>,
    pub phone: Option<String>,
    pub website: Option<String>,
    pub licences: Vec<String>,
    pub registered: Vec<Registered<'r>>,
}

/// The line of the register for a licence of the store.
#[derive(Clone)]
pub(super) struct Registered<'r> {
    pub entry: &'r RegisterEntry,
    pub name: Name,
    pub address: Option<Address>,
}

impl<'r> Profile<'r> {
    pub fn new(record: &'r StoreRecord) -> Profile<'r> {
        let name_words: Vec<String> = words(&folded(&record.name)).map(str::to_owned).collect();
        let place = Place::new(&record.city, &record.state, &record.zip);
        let mut licences: Vec<String> =
            record.licences.iter().take(MAX_LICENCES).filter_map(|text| licence::number(text)).collect();
        licences.sort_unstable();
        licences.dedup();
        Profile {
            record,
            service: Service::new(record, &name_words),
            name: Name::new(&record.name, &place.city),
            address: record.address.as_deref().and_then(|text| place.address(text)),
            state: place.state,
            city: place.city,
            zip: place.zip,
            point: Point::new(record.latitude, record.longitude),
            phone: record.phone.as_deref().and_then(contact::phone),
            website: record.website.as_deref().and_then(contact::website),
            licences,
            registered: Vec::new(),
        }
    }

    pub fn id(&self) -> StoreId {
        self.record.id
    }

    /// All addresses: its own, and those of the register.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.address.iter().chain(self.registered.iter().filter_map(|registered| registered.address.as_ref()))
    }

    /// How alike the other's name is to that in the register, at best.
    pub fn registered_likeness(&self, other: &Profile) -> Option<(Likeness, &Registered<'r>)> {
        let likenesses = self.registered.iter().map(|registered| (registered.name.likeness(&other.name), registered));
        likenesses.max_by(|(one, _), (other, _)| one.similarity.total_cmp(&other.similarity))
    }

    pub fn miles_to(&self, other: &Profile) -> Option<f64> {
        Some(self.point?.miles_to(other.point?))
    }

    /// Whether the states are not known to differ.
    pub fn may_be_in_state_of(&self, other: &Profile) -> bool {
        self.state.is_none() || other.state.is_none() || self.state == other.state
    }
}

/// Adds the lines of the register to the stores with their licences. A licence with several lines is one of several shops, and an
/// address with several licences may be that of an office: neither is used.
pub(super) fn add_register<'r>(profiles: &mut [Profile<'r>], register: &'r [RegisterEntry]) {
    let lines: Vec<Line> = register.iter().filter_map(Line::new).collect();
    let mut by_licence: HashMap<&str, Vec<&Line>> = HashMap::new();
    let mut licences_at: HashMap<&Address, HashSet<&str>> = HashMap::new();
    for line in &lines {
        by_licence.entry(&line.licence).or_default().push(line);
        if let Some(address) = &line.registered.address {
            licences_at.entry(address).or_default().insert(&line.licence);
        }
    }
    let is_of_one =
        |line: &Line| line.registered.address.as_ref().is_none_or(|address| licences_at[address].len() == 1);
    for profile in profiles {
        let of_licence = profile.licences.iter().filter_map(|licence| by_licence.get(licence.as_str()));
        let single = of_licence.filter_map(|lines| if let [line] = lines[..] { Some(line) } else { None });
        let is_of_state = |line: &Line| line.state.is_none() || profile.state.is_none() || line.state == profile.state;
        let own = single.filter(|line| is_of_state(line) && is_of_one(line));
        profile.registered = own.map(|line| line.registered.clone()).collect();
    }
}

/// A line of the register, parsed.
struct Line<'r> {
    licence: String,
    state: Option<String>,
    registered: Registered<'r>,
}

impl<'r> Line<'r> {
    fn new(entry: &'r RegisterEntry) -> Option<Line<'r>> {
        let licence = licence::number(&entry.licence)?;
        let place = Place::new(&entry.city, &entry.state, &entry.zip);
        let address = place.address(&entry.address);
        let registered = Registered { entry, name: Name::new(&entry.name, &place.city), address };
        Some(Line { licence, state: place.state, registered })
    }
}

/// City, state and zip of a record.
struct Place {
    city: String,
    state: Option<String>,
    /// Spellings of the state.
    spellings: Vec<String>,
    zip: Option<String>,
}

impl Place {
    fn new(city: &Option<String>, state: &Option<String>, zip: &Option<String>) -> Place {
        let of_words = |text: &String| words(&folded(text)).collect::<Vec<_>>().join(" ");
        let written = state.as_ref().map(of_words).filter(|state| !state.is_empty());
        let code = written.as_deref().and_then(us_states::code);
        let spellings = [written.clone(), code.map(str::to_ascii_lowercase)].into_iter().flatten().collect();
        Place {
            city: city.as_ref().map(of_words).unwrap_or_default(),
            state: code.map(str::to_owned).or(written),
            spellings,
            zip: zip.as_deref().and_then(zip_digits),
        }
    }

    fn address(&self, text: &str) -> Option<Address> {
        Address::new(Parts { text, city: &self.city, state: &self.spellings, zip: self.zip.as_deref() })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::code("AZ", Some("AZ"))]
    #[case::name("New Mexico", Some("NM"))]
    #[case::another_country("Ontario", Some("ontario"))]
    #[case::nothing(" ", None)]
    fn a_state_is_read_by_code_or_name(#[case] state: &str, #[case] expected: Option<&str>) {
        let record = StoreRecord { state: Some(state.to_owned()), ..StoreRecord::default() };
        assert_eq!(Profile::new(&record).state.as_deref(), expected);
    }

    #[rstest]
    #[case::its_licence(&[("a-100", "AZ")], 1)]
    #[case::another_state(&[("a-100", "NM")], 0)]
    #[case::several_lines(&[("a-100", "AZ"), ("A100", "AZ")], 0)]
    #[case::another_licence(&[("a-200", "AZ")], 0)]
    fn a_store_has_the_line_of_its_licence(#[case] lines: &[(&str, &str)], #[case] expected: usize) {
        let record =
            StoreRecord { licences: vec!["A-100".into()], state: Some("Arizona".into()), ..StoreRecord::default() };
        let entry = |(licence, state): &(&str, &str)| RegisterEntry {
            licence: (*licence).to_owned(),
            state: Some((*state).to_owned()),
            ..RegisterEntry::default()
        };
        let register: Vec<RegisterEntry> = lines.iter().map(entry).collect();
        let mut profiles = [Profile::new(&record)];
        add_register(&mut profiles, &register);
        assert_eq!(profiles[0].registered.len(), expected);
    }
}

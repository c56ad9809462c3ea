//! `Comparison`: all that two stores have in common, and in what they differ. In: their profiles. Out: facts, without a decision.

use super::Evidence;
use super::address::{Relation, Units};
use super::name::Likeness;
use super::profile::{Profile, Registered};
use super::shared::{Phone, Shared};
use crate::text::shown;

/// Stores that are nearer than this, in miles, may be one shop.
const NEAR: f64 = 0.1;
/// Stores that are farther apart, in miles, are not one shop that its platforms place by its street or zip.
const FAR: f64 = 1.0;

pub(super) struct Comparison<'p> {
    one: &'p Profile<'p>,
    other: &'p Profile<'p>,
    /// A licence of one shop that both have.
    pub licence: Option<&'p str>,
    pub has_other_licences: bool,
    /// How their own addresses stand to each other; None = one of them is not known.
    pub relation: Option<Relation>,
    /// The line of the register by which the addresses are one.
    pub registered: Option<&'p Registered<'p>>,
    /// Miles between points that are their own.
    miles: Option<f64>,
    /// How alike the names are; those of the register count as well.
    pub likeness: Likeness,
    /// The line of the register whose name is more alike than their own.
    registered_name: Option<&'p Registered<'p>>,
    pub phone: Option<Phone>,
    pub website: Option<&'p str>,
    pub is_same_city: bool,
    pub has_other_zip: bool,
}

impl<'p> Comparison<'p> {
    /// None = they are of different states.
    pub fn new(one: &'p Profile<'p>, other: &'p Profile<'p>, shared: &Shared) -> Option<Comparison<'p>> {
        if !one.may_be_in_state_of(other) {
            return None;
        }
        let mut common = one.licences.iter().filter(|licence| other.licences.contains(licence));
        let has_common = one.licences.iter().any(|licence| other.licences.contains(licence));
        let website = one.website.as_deref().filter(|website| other.website.as_deref() == Some(*website));
        let relation = one.address.as_ref().zip(other.address.as_ref()).and_then(|(one, other)| one.relation(other));
        let registered = registered(one, other).or_else(|| registered(other, one));
        let miles = shared.miles(one, other);
        let is_same_city =
            !one.city.is_empty() && one.city == other.city && one.state.is_some() && one.state == other.state;
        let is_same_start = is_same_city && one.name.first() == other.name.first();
        let is_near = miles.is_some_and(|miles| miles < NEAR);
        let is_of_interest = has_common || registered.is_some() || relation >= Some(Relation::Partial) || is_near;
        // names take most of the time
        let (likeness, registered_name) =
            if is_of_interest || is_same_start { likeness(one, other) } else { Default::default() };
        Some(Comparison {
            one,
            other,
            licence: common.find(|licence| !shared.is_licence(licence)).map(String::as_str),
            has_other_licences: !has_common && !one.licences.is_empty() && !other.licences.is_empty(),
            relation,
            registered,
            miles,
            likeness,
            registered_name,
            phone: shared.phone(one, other),
            website,
            is_same_city,
            has_other_zip: one.zip.as_ref().zip(other.zip.as_ref()).is_some_and(|(one, other)| one != other),
        })
    }

    pub fn is_near(&self) -> bool {
        self.miles.is_some_and(|miles| miles < NEAR)
    }

    /// Deliveries begin somewhere in their area.
    pub fn is_far(&self) -> bool {
        let is_delivery = |profile: &Profile| profile.service.is_delivery();
        self.miles.is_some_and(|miles| miles > FAR) && !is_delivery(self.one) && !is_delivery(self.other)
    }

    /// Whether phone or website are the same, which decides nothing alone.
    pub fn is_supported(&self) -> bool {
        self.phone.is_some() || self.website.is_some()
    }

    /// Whether they are in different places.
    pub fn are_elsewhere(&self) -> bool {
        match self.relation {
            None | Some(Relation::Similar) => false,
            Some(Relation::Same(units)) => units == Units::Other && !self.likeness.is_close(),
            Some(Relation::Partial | Relation::Other) => !self.is_typing_error(),
        }
    }

    /// Whether the difference of the addresses may be an error.
    fn is_typing_error(&self) -> bool {
        let (is_same, is_supported) = (self.likeness.is_same(), self.is_supported());
        let is_near = self.is_near() && (is_same || self.likeness.is_alike() && is_supported);
        is_near || self.relation == Some(Relation::Partial) && is_same && is_supported && !self.is_far()
    }

    /// Whether a licence says that they are one although they are in different places.
    pub fn is_move(&self) -> bool {
        self.are_elsewhere() && (self.licence.is_some() || self.registered.is_some())
    }

    pub fn evidence(&self) -> Vec<Evidence> {
        let licence = self.licence.map(|licence| Evidence::Licence(licence.to_owned()));
        let registered = self.registered.filter(|_| !self.is_same_address()).map(|registered| {
            let (licence, address) = (shown(&registered.entry.licence), shown(&registered.entry.address));
            Evidence::RegisteredAddress { licence, address }
        });
        let found = [licence, registered, self.address_evidence(), self.distance(), Some(self.name()), self.city()];
        let phone = self.phone.and(self.one.phone.clone()).map(Evidence::Phone);
        let website = self.website.map(|website| Evidence::Website(website.to_owned()));
        let differences = [self.other_units(), self.has_other_licences.then_some(Evidence::OtherLicences)];
        found.into_iter().chain([phone, website]).chain(differences).flatten().collect()
    }

    fn is_same_address(&self) -> bool {
        matches!(self.relation, Some(Relation::Same(_)))
    }

    fn address_evidence(&self) -> Option<Evidence> {
        let addresses = || [self.one, self.other].map(written_address);
        Some(match self.relation? {
            Relation::Same(_) => Evidence::Address(format!("{}{}", written_address(self.one), written_city(self.one))),
            Relation::Similar => Evidence::SimilarAddresses(addresses()),
            Relation::Partial | Relation::Other => Evidence::OtherAddresses(addresses()),
        })
    }

    fn distance(&self) -> Option<Evidence> {
        // a number below the half of the Earth's circumference
        let hundredths = (self.miles? * 100.0).round() as u32;
        (!self.is_same_address() || self.is_far()).then_some(Evidence::Distance { hundredths })
    }

    fn name(&self) -> Evidence {
        match (self.likeness, self.registered_name) {
            (likeness, Some(registered)) if likeness.is_alike() => {
                let (licence, name) = (shown(&registered.entry.licence), shown(&registered.entry.name));
                Evidence::RegisteredName { licence, name }
            }
            (likeness, _) if likeness.is_same() => Evidence::SameName,
            (likeness, _) if likeness.is_alike() => Evidence::NamesAlike,
            _ => Evidence::OtherNames([self.one, self.other].map(|profile| shown(&profile.record.name))),
        }
    }

    fn city(&self) -> Option<Evidence> {
        let city = self.one.record.city.as_deref().filter(|_| self.is_same_city && !self.is_same_address())?;
        Some(Evidence::City(shown(city)))
    }

    fn other_units(&self) -> Option<Evidence> {
        let unit = |profile: &Profile| profile.address.as_ref()?.unit().map(shown);
        let units = [unit(self.one)?, unit(self.other)?];
        (self.relation == Some(Relation::Same(Units::Other))).then_some(Evidence::OtherUnits(units))
    }
}

/// How alike the names are, and the line of the register by which they are more alike than by themselves.
fn likeness<'p>(one: &'p Profile<'p>, other: &'p Profile<'p>) -> (Likeness, Option<&'p Registered<'p>>) {
    let registered = [one.registered_likeness(other), other.registered_likeness(one)].into_iter().flatten();
    let registered = registered.map(|(likeness, registered)| (likeness, Some(registered)));
    let own = (one.name.likeness(&other.name), None);
    registered.fold(own, |best, next| if next.0.similarity > best.0.similarity { next } else { best })
}

/// The line of the register with an address of `one` that is the address of `other`.
fn registered<'p>(one: &'p Profile<'p>, other: &Profile) -> Option<&'p Registered<'p>> {
    let is_same = |registered: &&Registered| {
        let addresses = registered.address.as_ref().zip(other.address.as_ref());
        addresses.is_some_and(|(one, other)| one.relation(other) > Some(Relation::Same(Units::Other)))
    };
    one.registered.iter().find(is_same)
}

fn written_address(profile: &Profile) -> String {
    profile.record.address.as_deref().map(shown).unwrap_or_default()
}

/// The city behind a comma, unless the address names it.
fn written_city(profile: &Profile) -> String {
    let city = profile.record.city.as_deref().map(shown).filter(|city| !city.is_empty());
    city.filter(|city| !written_address(profile).contains(city.as_str()))
        .map(|city| format!(", {city}"))
        .unwrap_or_default()
}

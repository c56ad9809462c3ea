//! Rules: whether two stores are one retailer. In: their comparison. Out: a verdict of the first rule that knows: licence, address,
//! distance, name with city.
//!
//! Phone and website support: a chain has one number for all of its shops. Alone they decide nothing, nor does a name.

use Confidence::{Likely, Sure};

use super::address::{Relation, Units};
use super::comparison::Comparison;
use super::shared::Phone;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Confidence {
    /// A person decides.
    Likely,
    /// Needs no person.
    Sure,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Verdict {
    pub confidence: Confidence,
    /// The larger, the stronger the evidence.
    pub score: u32,
}

pub(super) fn verdict(facts: &Comparison) -> Option<Verdict> {
    let rules: [fn(&Comparison) -> Option<Confidence>; 4] = [by_licence, by_address, by_distance, by_name_and_city];
    let (at, confidence) = rules.iter().enumerate().find_map(|(at, rule)| Some((at, rule(facts)?)))?;
    Some(Verdict { confidence, score: score(facts, at) })
}

/// A licence decides also where the shop moved or has another name, but not where it did both.
fn by_licence(facts: &Comparison) -> Option<Confidence> {
    facts.licence?;
    let is_at_address = facts.relation.is_some_and(|relation| relation >= Relation::Similar);
    let agrees = facts.likeness.is_alike() || is_at_address || facts.is_near() || facts.is_supported();
    Some(if agrees { Sure } else { Likely })
}

fn by_address(facts: &Comparison) -> Option<Confidence> {
    let (is_alike, is_close) = (facts.likeness.is_alike(), facts.likeness.is_close());
    if facts.registered.is_some() && !matches!(facts.relation, Some(Relation::Same(_))) {
        // an address without a unit may be that of a mall
        return Some(if is_close || is_alike && facts.is_supported() { Sure } else { Likely });
    }
    let is_sure = match facts.relation? {
        // two shops of a mall, or the two doors of one
        Relation::Same(Units::Other) if is_close => facts.is_supported(),
        Relation::Same(Units::Other) => return None,
        Relation::Same(Units::Equal) => is_alike || !facts.has_other_licences,
        // without a unit, a mall is one address
        Relation::Same(Units::BothAbsent) => is_alike || facts.is_supported(),
        Relation::Same(Units::OneAbsent) => is_close || facts.is_supported(),
        Relation::Similar if facts.is_supported() => true,
        Relation::Similar if is_alike => is_close || facts.is_near(),
        Relation::Similar | Relation::Partial | Relation::Other => return None,
    };
    let is_doubtful = !is_alike && facts.has_other_licences;
    if is_sure { Some(Sure) } else { (!is_doubtful).then_some(Likely) }
}

fn by_distance(facts: &Comparison) -> Option<Confidence> {
    if !facts.is_near() || matches!(facts.relation, Some(Relation::Same(_))) {
        return None;
    }
    let is_sure = match facts.relation {
        None if facts.likeness.is_alike() => true,
        None => facts.phone == Some(Phone::OneShop),
        // a typing error in the number, another name of the street, or the shop next door
        Some(Relation::Partial) if facts.likeness.is_same() && !facts.has_other_licences => true,
        Some(_) if facts.likeness.is_alike() => facts.is_supported(),
        Some(_) => return None,
    };
    Some(if is_sure { Sure } else { Likely })
}

fn by_name_and_city(facts: &Comparison) -> Option<Confidence> {
    if !facts.likeness.is_close() || !facts.is_same_city {
        return None;
    }
    let phone = facts.phone.filter(|phone| *phone > Phone::Central);
    match facts.relation {
        None if facts.is_far() => None,
        None if phone == Some(Phone::OneShop) && !facts.has_other_zip => Some(Sure),
        None => Some(Likely),
        // it may have moved, or be another of a chain
        Some(Relation::Same(_)) => None,
        Some(_) => phone.map(|_| Likely),
    }
}

fn score(facts: &Comparison, rule: usize) -> u32 {
    const RULES: [u32; 4] = [4_000, 3_000, 2_000, 1_000];
    let is_unit = facts.relation == Some(Relation::Same(Units::Equal));
    let support =
        300 * u32::from(is_unit) + 200 * u32::from(facts.phone.is_some()) + 100 * u32::from(facts.website.is_some());
    // from 0 to 100
    let name = (facts.likeness.similarity * 100.0).round() as u32;
    RULES[rule] + support + name
}

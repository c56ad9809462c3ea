//! `Address`: house number, street, unit and place. In: an address as a platform writes it. Out: whether two are the same.

mod abbreviations;
mod street;

use street::Street;

use crate::text::{folded, words};

const ZIP_DIGITS: usize = 5;
/// Words before the number of a suite.
const UNIT_WORDS: [&str; 19] = [
    "apt", "bay", "bldg", "booth", "building", "fl", "floor", "lot", "number", "rm", "room", "space", "spc", "ste",
    "stes", "suite", "suites", "trlr", "unit",
];

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Address {
    house: String,
    street: Street,
    /// Suite, unit or the like.
    unit: Option<String>,
    pub zip: Option<String>,
    city: String,
}

/// The parts of an address that a platform gives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parts<'p> {
    pub text: &'p str,
    /// Folded.
    pub city: &'p str,
    /// Spellings of the state, folded; a whole address ends with one.
    pub state: &'p [String],
    pub zip: Option<&'p str>,
}

/// How two addresses stand to each other; the larger, the nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relation {
    Other,
    /// The house number or the street is the same.
    Partial,
    /// All but a letter or two of the street.
    Similar,
    Same(Units),
}

/// The units of one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Units {
    Other,
    /// One of the two has none.
    OneAbsent,
    BothAbsent,
    Equal,
}

impl Address {
    /// None = it has no house number, or no street.
    pub fn new(parts: Parts) -> Option<Address> {
        let folded = folded(&parts.text.replace('#', " unit "));
        let mut zip = parts.zip.and_then(zip_digits);
        let mut unit = None;
        let mut sections = folded.split([',', ';', '\n']).map(numbered_words).filter(|words| !words.is_empty());
        let (house, street) = loop {
            let section = sections.next()?;
            let (own, rest) = leading_unit(&section);
            unit = own.or(unit);
            let Some(at) = rest.iter().position(|word| is_house(word)) else { continue };
            let [house, street @ ..] = &rest[at..] else { continue };
            if !street.is_empty() {
                break (house.clone(), street.to_vec());
            }
        };
        let mut street: Vec<&str> = street.iter().map(String::as_str).collect();
        let own_zip = take_place(&mut street, &parts);
        unit = take_unit(&mut street).or(unit);
        for section in sections {
            unit = leading_unit(&section).0.or(unit);
            zip = zip.or_else(|| section.last().and_then(|word| zip_digits(word)));
        }
        let (house, of_house) = split_house(&house);
        let city = words(parts.city).collect::<Vec<_>>().join(" ");
        let street = Street::new(&street)?;
        Some(Address { house, street, unit: unit.or(of_house), zip: zip.or(own_zip), city })
    }

    pub fn house(&self) -> &str {
        &self.house
    }

    pub fn city(&self) -> Option<&str> {
        Some(self.city.as_str()).filter(|city| !city.is_empty())
    }

    /// None = they may be the same, but their places cannot be compared.
    pub fn relation(&self, other: &Address) -> Option<Relation> {
        let is_zip = self.zip.as_ref().zip(other.zip.as_ref()).map(|(one, other)| one == other);
        let is_city = self.city().is_some() && self.city == other.city;
        let is_house = self.house == other.house;
        if !is_city && is_zip != Some(true) {
            let is_known = is_zip.is_some() || self.city().is_some() && other.city().is_some();
            let may_be = !is_known && is_house && self.street.agrees(&other.street);
            return (!may_be).then_some(Relation::Other);
        }
        // a long street has its numbers in the north and in the south
        let is_in_doubt = is_zip == Some(false);
        let is_street = if is_in_doubt { self.street == other.street } else { self.street.agrees(&other.street) };
        Some(match (is_house, is_street) {
            (true, true) => Relation::Same(self.units(other)),
            (true, false) if !is_in_doubt && self.street.is_similar(&other.street) => Relation::Similar,
            (true, false) | (false, true) => Relation::Partial,
            (false, false) => Relation::Other,
        })
    }

    pub fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }

    fn units(&self, other: &Address) -> Units {
        match (&self.unit, &other.unit) {
            (None, None) => Units::BothAbsent,
            (Some(one), Some(other)) if one == other => Units::Equal,
            (Some(_), Some(_)) => Units::Other,
            _ => Units::OneAbsent,
        }
    }
}

/// The first digits of a zip, which may have four more.
pub(super) fn zip_digits(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = text.get(..ZIP_DIGITS)?;
    let ends = !text[ZIP_DIGITS..].starts_with(|next: char| next.is_alphanumeric());
    (ends && digits.bytes().all(|digit| digit.is_ascii_digit())).then(|| digits.to_owned())
}

fn begins_with_digit(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit())
}

fn is_house(word: &str) -> bool {
    begins_with_digit(word) && !street::is_ordinal(word)
}

/// The words of a section; a number with hyphens, such as `100-102`, `12-b` or `a-5`, is one.
fn numbered_words(section: &str) -> Vec<String> {
    let words = section.split_whitespace().flat_map(|part| {
        let has_digit = part.bytes().any(|byte| byte.is_ascii_digit());
        let begins_unit = part.split('-').next().is_some_and(|first| UNIT_WORDS.contains(&first));
        let is_number = has_digit && !begins_unit;
        part.split(move |char: char| !(char.is_alphanumeric() || is_number && char == '-'))
    });
    let words = words.map(|word| word.trim_matches('-')).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The unit that a section begins with, and the rest of the section.
fn leading_unit(section: &[String]) -> (Option<String>, &[String]) {
    let is_marker = |word: &String| UNIT_WORDS.contains(&word.as_str());
    match section {
        [marker, rest @ ..] if is_marker(marker) && rest.first().is_some_and(is_marker) => leading_unit(rest),
        [marker, value, rest @ ..] if is_marker(marker) => {
            let (later, rest) = leading_unit(rest);
            (later.or_else(|| Some(unit(value))), rest)
        }
        _ => (None, section),
    }
}

/// Takes the unit from the end of a street.
fn take_unit(street: &mut Vec<&str>) -> Option<String> {
    let is_marker = |word: &&str| UNIT_WORDS.contains(word);
    let Some(first) = street.iter().skip(1).position(is_marker).map(|at| at + 1) else {
        return street::trailing_unit(street).map(|found| {
            street.pop();
            unit(&found)
        });
    };
    let tail = street.split_off(first);
    let last = tail.iter().rposition(is_marker)?;
    if let Some(value) = tail.get(last + 1) {
        return Some(unit(value));
    }
    // `2nd floor`
    let is_ordinal = last == 0 && street.len() > 2 && street.last().is_some_and(|word| begins_with_digit(word));
    if is_ordinal { street.pop().map(unit) } else { tail.get(last.checked_sub(1)?).copied().map(unit) }
}

fn unit(value: &str) -> String {
    let short = value.trim_start_matches('0').replace('-', "");
    if short.is_empty() { value.to_owned() } else { short }
}

/// Takes zip, state and city from the end of a street that no comma ends. Returns the zip.
fn take_place(street: &mut Vec<&str>, parts: &Parts) -> Option<String> {
    let zip = street.last().filter(|_| street.len() > 2).and_then(|word| zip_digits(word));
    if zip.is_some() {
        street.pop();
    }
    let city: Vec<&str> = words(parts.city).collect();
    for state in parts.state {
        // without a zip the city has to stand before it: CT is a court, too
        let before: &[&str] = if zip.is_some() { &[] } else { &city };
        let end: Vec<&str> = before.iter().copied().chain(words(state)).collect();
        take_end(street, &end);
    }
    take_end(street, &city);
    zip
}

fn take_end(street: &mut Vec<&str>, end: &[&str]) {
    if !end.is_empty() && street.len() > end.len() + 1 && street.ends_with(end) {
        street.truncate(street.len() - end.len());
    }
}

/// The number and the letter behind it: `12b`, `12-b`.
fn split_house(house: &str) -> (String, Option<String>) {
    let end = house.find(|char: char| !char.is_ascii_digit()).unwrap_or(house.len());
    let (number, letter) = house.split_at(end);
    let letter = letter.trim_start_matches('-');
    let number = number.trim_start_matches('0');
    let is_letter = letter.len() == 1 && letter.bytes().all(|byte| byte.is_ascii_alphabetic());
    if is_letter {
        (number.to_owned(), Some(letter.to_owned()))
    } else {
        (house.trim_start_matches('0').to_owned(), None)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn address(text: &str) -> Option<Address> {
        Address::new(Parts { text, city: "mesa", state: &["az".to_owned()], zip: Some("85201") })
    }

    fn written(address: &Address) -> String {
        let unit = address.unit.as_ref().map(|unit| format!(" [{unit}]")).unwrap_or_default();
        format!("{} {}{unit} {}", address.house, address.street, address.zip.as_deref().unwrap_or_default())
    }

    #[rstest]
    #[case::plain("12 Example Rd", "12 example rd 85201")]
    #[case::written_out("0012 North Example Road", "12 n example rd 85201")]
    #[case::points("12 N. Example St.", "12 n example st 85201")]
    #[case::whole("12 Example Rd, Mesa, AZ 85201", "12 example rd 85201")]
    #[case::whole_without_commas("12 Example Rd Mesa AZ 85201", "12 example rd 85201")]
    #[case::suite("12 Example Rd, Suite 05", "12 example rd [5] 85201")]
    #[case::suite_without_comma("12 Example Rd Ste A-5", "12 example rd [a5] 85201")]
    #[case::number_sign("12 Example Rd #5", "12 example rd [5] 85201")]
    #[case::suite_with_number_sign("12 Example Rd Suite #5", "12 example rd [5] 85201")]
    #[case::suite_first("Suite 5, 12 Example Rd", "12 example rd [5] 85201")]
    #[case::suite_first_without_comma("Unit 5 12 Example Rd", "12 example rd [5] 85201")]
    #[case::building_and_suite("12 Example Rd Bldg 2 Ste 5", "12 example rd [5] 85201")]
    #[case::suite_in_a_section("12 Example Rd, Bldg 2, Ste 5, Mesa", "12 example rd [5] 85201")]
    #[case::floor("12 Example Rd 2nd Floor", "12 example rd [2nd] 85201")]
    #[case::unit_without_a_word("12 Example Rd A5", "12 example rd [a5] 85201")]
    #[case::letter_at_the_house("12B Example Rd", "12 example rd [b] 85201")]
    #[case::letter_behind_a_hyphen("12-B Example Rd", "12 example rd [b] 85201")]
    #[case::two_numbers("37-11 30th St", "37-11 30 st 85201")]
    #[case::building_name("Fern Plaza, 12 Example Rd", "12 example rd 85201")]
    #[case::direction_behind("12 Example Rd NE", "12 ne example rd 85201")]
    #[case::ordinal("12 Seventh Ave", "12 7 ave 85201")]
    #[case::highway("12 State Highway 60", "12 hwy60 85201")]
    #[case::route("12 US Route 60", "12 hwy60 85201")]
    #[case::county_road("12 County Road 5", "12 countyrd5 85201")]
    #[case::lettered_avenue("12 Avenue C", "12 avec 85201")]
    #[case::named_by_a_direction("12 North St", "12 north st 85201")]
    #[case::saint("12 St James Pl", "12 stjames pl 85201")]
    fn addresses_are_read(#[case] text: &str, #[case] expected: &str) {
        assert_eq!(written(&address(text).unwrap()), expected);
    }

    #[rstest]
    #[case::empty("")]
    #[case::no_number("Main St")]
    #[case::no_street("PO Box 12")]
    #[case::corner("7th St and Main")]
    #[case::suite_alone("Suite 5")]
    #[case::signs("#, #, ,,")]
    fn some_texts_are_no_address(#[case] text: &str) {
        assert_eq!(address(text), None);
    }

    #[rstest]
    #[case::the_same("12 Example Rd", "12 example road", Relation::Same(Units::BothAbsent))]
    #[case::direction_left_out("12 N Example Rd", "12 Example Rd", Relation::Same(Units::BothAbsent))]
    #[case::kind_left_out("12 Example", "12 Example Rd", Relation::Same(Units::BothAbsent))]
    #[case::another_direction("12 N Example Rd", "12 S Example Rd", Relation::Partial)]
    #[case::another_kind("12 Example Rd", "12 Example Ave", Relation::Partial)]
    #[case::one_suite("12 Example Rd #5", "12 Example Rd Suite 5", Relation::Same(Units::Equal))]
    #[case::other_suites("12 Example Rd #5", "12 Example Rd #6", Relation::Same(Units::Other))]
    #[case::suite_left_out("12 Example Rd #5", "12 Example Rd", Relation::Same(Units::OneAbsent))]
    #[case::typing_error("12 Example Rd", "12 Exmaple Rd", Relation::Similar)]
    #[case::another_numbered_street("12 7th St", "12 17th St", Relation::Partial)]
    #[case::another_house("12 Example Rd", "14 Example Rd", Relation::Partial)]
    #[case::another_street("12 Example Rd", "12 Granite Rd", Relation::Partial)]
    #[case::other("12 Example Rd", "14 Granite Rd", Relation::Other)]
    fn addresses_of_one_zip(#[case] one: &str, #[case] other: &str, #[case] expected: Relation) {
        let (one, other) = (address(one).unwrap(), address(other).unwrap());
        assert_eq!([one.relation(&other), other.relation(&one)], [Some(expected), Some(expected)]);
    }

    #[rstest]
    #[case::one_zip(("mesa", Some("85201")), ("gilbert", Some("85201-1234")), Some(Relation::Same(Units::BothAbsent)))]
    #[case::one_city(("mesa", None), ("mesa", Some("85201")), Some(Relation::Same(Units::BothAbsent)))]
    #[case::other_zips_of_a_city(("mesa", Some("85202")), ("mesa", Some("85201")), Some(Relation::Same(Units::BothAbsent)))]
    #[case::other_places(("mesa", Some("85202")), ("gilbert", Some("85201")), Some(Relation::Other))]
    #[case::unknown_places(("", None), ("", None), None)]
    fn one_street_in_two_places(
        #[case] one: (&str, Option<&str>),
        #[case] other: (&str, Option<&str>),
        #[case] expected: Option<Relation>,
    ) {
        let address = |(city, zip)| Address::new(Parts { text: "12 N Example Rd", city, state: &[], zip }).unwrap();
        assert_eq!(address(one).relation(&address(other)), expected);
    }

    #[test]
    fn without_a_common_zip_a_direction_counts() {
        let address = |text, zip| Address::new(Parts { text, city: "mesa", state: &[], zip: Some(zip) }).unwrap();
        let relation = address("12 N Example Rd", "85201").relation(&address("12 Example Rd", "85202"));
        assert_eq!(relation, Some(Relation::Partial));
    }
}

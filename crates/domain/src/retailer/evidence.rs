//! `Evidence`: one fact for, or against, two stores being one retailer, in plain words.

use std::fmt::{Display, Formatter, Result};

/// A fact. Its texts are short and on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    Licence(String),
    /// The register has the licence of one store at the address of the other.
    RegisteredAddress {
        licence: String,
        address: String,
    },
    /// The register has the licence of one store under the name of the other.
    RegisteredName {
        licence: String,
        name: String,
    },
    Address(String),
    SimilarAddresses([String; 2]),
    OtherAddresses([String; 2]),
    OtherUnits([String; 2]),
    /// Hundredths of a mile.
    Distance {
        hundredths: u32,
    },
    SameName,
    NamesAlike,
    OtherNames([String; 2]),
    City(String),
    Phone(String),
    Website(String),
    OtherLicences,
}

impl Display for Evidence {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Evidence::Licence(licence) => write!(f, "same licence {licence}"),
            Evidence::RegisteredAddress { licence, address } => {
                write!(f, "licence {licence} is registered at {address}")
            }
            Evidence::RegisteredName { licence, name } => write!(f, "licence {licence} is registered for {name}"),
            Evidence::Address(address) => write!(f, "same address {address}"),
            Evidence::SimilarAddresses([one, other]) => write!(f, "addresses alike: {one} and {other}"),
            Evidence::OtherAddresses([one, other]) => write!(f, "different addresses: {one} and {other}"),
            Evidence::OtherUnits([one, other]) => write!(f, "different suites: {one} and {other}"),
            Evidence::Distance { hundredths } => write!(f, "{}.{:02} miles apart", hundredths / 100, hundredths % 100),
            Evidence::SameName => write!(f, "same name"),
            Evidence::NamesAlike => write!(f, "names alike"),
            Evidence::OtherNames([one, other]) => write!(f, "different names: {one} and {other}"),
            Evidence::City(city) => write!(f, "same city {city}"),
            Evidence::Phone(phone) => write!(f, "same phone {phone}"),
            Evidence::Website(website) => write!(f, "same website {website}"),
            Evidence::OtherLicences => write!(f, "different licences"),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn two(one: &str, other: &str) -> [String; 2] {
        [one.to_owned(), other.to_owned()]
    }

    #[rstest]
    #[case(Evidence::Licence("A100".into()), "same licence A100")]
    #[case(
        Evidence::RegisteredAddress { licence: "A100".into(), address: "12 Example Rd".into() },
        "licence A100 is registered at 12 Example Rd"
    )]
    #[case(
        Evidence::RegisteredName { licence: "A100".into(), name: "Fern LLC".into() },
        "licence A100 is registered for Fern LLC"
    )]
    #[case(Evidence::Address("12 Example Rd, Mesa".into()), "same address 12 Example Rd, Mesa")]
    #[case(
        Evidence::SimilarAddresses(two("12 Exmaple Rd", "12 Example Rd")),
        "addresses alike: 12 Exmaple Rd and 12 Example Rd"
    )]
    #[case(
        Evidence::OtherAddresses(two("12 Example Rd", "7 Elm St")),
        "different addresses: 12 Example Rd and 7 Elm St"
    )]
    #[case(Evidence::OtherUnits(two("5", "7")), "different suites: 5 and 7")]
    #[case(Evidence::Distance { hundredths: 4 }, "0.04 miles apart")]
    #[case(Evidence::SameName, "same name")]
    #[case(Evidence::NamesAlike, "names alike")]
    #[case(Evidence::OtherNames(two("Fern", "Tin")), "different names: Fern and Tin")]
    #[case(Evidence::City("Mesa".into()), "same city Mesa")]
    #[case(Evidence::Phone("4805550100".into()), "same phone 4805550100")]
    #[case(Evidence::Website("fern.example".into()), "same website fern.example")]
    #[case(Evidence::OtherLicences, "different licences")]
    fn evidence_is_in_plain_words(#[case] evidence: Evidence, #[case] words: &str) {
        assert_eq!(evidence.to_string(), words);
    }
}

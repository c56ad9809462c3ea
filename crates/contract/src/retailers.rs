//! Retailers: stores of several platforms that are the same shop, and a person's decisions about them.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::checks::{BadField, MAX_TEXT_CHARS, bad, check_text};
use domain::retailer::{RegisterEntry, RetailerId};
use domain::store;
use domain::store::{Platform, StoreId, us_states};
use domain::vocabulary::Word;

/// Maximum number of licences of one import.
pub const MAX_LICENCES: usize = 1_000;

/// Filter of retailers; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RetailerFilter {
    /// Two letters, in any case.
    #[serde(deserialize_with = "store::state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "AZ")]
    pub state: Option<String>,
    /// Part of its name, in any letter case.
    pub q: Option<String>,
}

/// A shop with its stores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Retailer {
    pub id: RetailerId,
    /// Name of its first store, or the one that a person gave it.
    pub name: String,
    pub state: Option<String>,
    /// Two stores at least, by platform, then by id.
    pub stores: Vec<RetailerStore>,
}

/// A store as one of a retailer's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RetailerStore {
    pub id: StoreId,
    pub name: String,
    #[schema(value_type = Platform)]
    pub platform: Word<Platform>,
    pub address: Option<String>,
    pub city: Option<String>,
    pub state: Option<String>,
    pub is_recreational: Option<bool>,
    pub is_medical: Option<bool>,
    pub crawl_enabled: bool,
    pub retailer_id: Option<RetailerId>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RetailerPage {
    pub retailers: Vec<Retailer>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// Two stores that may be one retailer, for a person to decide.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RetailerProposal {
    /// 1 is the strongest.
    pub rank: i32,
    #[schema(min_items = 2, max_items = 2)]
    pub stores: Vec<RetailerStore>,
    /// Facts for and against it in plain words, the strongest first.
    pub evidence: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RetailerProposalPage {
    pub proposals: Vec<RetailerProposal>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

/// Whether two stores are one retailer, as a person says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetailerDecision {
    /// Ids of two different stores.
    #[schema(min_items = 2, max_items = 2)]
    pub stores: [StoreId; 2],
    /// False: they are never joined again, unless a person says so.
    pub is_same: bool,
}

impl RetailerDecision {
    /// The smaller id first.
    pub fn check(self) -> Result<[StoreId; 2], BadField> {
        let [one, other] = self.stores;
        if one == other {
            return Err(bad("stores", format!("{one} is named twice: name two stores")));
        }
        Ok([one.min(other), one.max(other)])
    }
}

/// Result of a decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct DecidedRetailer {
    /// The retailer of both stores; null where they are apart.
    pub retailer: Option<Retailer>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetailerName {
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
}

impl RetailerName {
    /// The name without blanks around it.
    pub fn check(&self) -> Result<&str, BadField> {
        let name = self.name.trim();
        check_text("name", Some(name))?;
        Ok(name)
    }
}

/// Result of a match of all stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RetailerMatch {
    /// New retailers.
    pub retailers: i64,
    /// Stores that were surely one of a retailer's, and have one now.
    pub joined: i64,
    /// Pairs of stores for a person to decide.
    pub proposals: i64,
}

/// Licences of a state's public register.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LicenceImport {
    /// Two letters, such as `AZ`.
    #[schema(pattern = "^[A-Za-z]{2}$")]
    pub state: String,
    #[schema(min_items = 1, max_items = 1000)]
    pub licences: Vec<RegisteredLicence>,
}

/// A line of a register.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RegisteredLicence {
    #[schema(min_length = 1, max_length = 200)]
    pub licence: String,
    /// The holder's.
    #[schema(min_length = 1, max_length = 200)]
    pub name: String,
    /// The street with its number, or all of the address.
    #[schema(min_length = 1, max_length = 200)]
    pub address: String,
    #[serde(default)]
    #[schema(max_length = 200)]
    pub city: Option<String>,
    #[serde(default)]
    #[schema(max_length = 200)]
    pub zip: Option<String>,
}

/// Result of an import of licences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedLicences {
    /// Licences that the register did not have.
    pub added: i64,
    /// Licences with another name or address than before.
    pub changed: i64,
}

impl LicenceImport {
    /// The state's code and its licences without blanks around their texts; a licence that is listed twice is the last one.
    pub fn check(&self) -> Result<(&'static str, Vec<RegisterEntry>), BadField> {
        let state = us_states::code(self.state.trim())
            .filter(|_| self.state.trim().len() == 2)
            .ok_or_else(|| bad("state", format!("'{}' is not the code of a US state, such as AZ", self.state)))?;
        if !(1..=MAX_LICENCES).contains(&self.licences.len()) {
            return Err(bad("licences", format!("must hold 1 to {MAX_LICENCES} licences")));
        }
        let mut entries = std::collections::BTreeMap::new();
        for (nth, licence) in self.licences.iter().enumerate() {
            let entry = licence.check(state).map_err(|fault| bad("licences", format!("[{nth}] {fault}")))?;
            entries.insert(entry.licence.clone(), entry);
        }
        Ok((state, entries.into_values().collect()))
    }
}

impl RegisteredLicence {
    /// The entry, or its fault in words.
    pub fn check(&self, state: &str) -> Result<RegisterEntry, String> {
        let required = |name: &str, text: &str| match fitting(name, text)? {
            "" => Err(format!("{name} is missing")),
            text => Ok(text.to_owned()),
        };
        let optional = |name: &str, text: &Option<String>| -> Result<Option<String>, String> {
            let text = fitting(name, text.as_deref().unwrap_or_default())?;
            Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
        };
        Ok(RegisterEntry {
            licence: required("licence", &self.licence)?,
            name: required("name", &self.name)?,
            address: required("address", &self.address)?,
            city: optional("city", &self.city)?,
            state: Some(state.to_owned()),
            zip: optional("zip", &self.zip)?,
        })
    }
}

fn fitting<'t>(name: &str, text: &'t str) -> Result<&'t str, String> {
    let text = text.trim();
    match text.chars().count() <= MAX_TEXT_CHARS && !text.contains(char::is_control) {
        true => Ok(text),
        false => Err(format!("{name} must be at most {MAX_TEXT_CHARS} characters without control characters")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn licence(licence: &str, name: &str, address: &str) -> RegisteredLicence {
        let [licence, name, address] = [licence, name, address].map(str::to_owned);
        RegisteredLicence { licence, name, address, ..RegisteredLicence::default() }
    }

    #[rstest]
    #[case::blank_name(licence("A1", " ", "12 Example Rd"), "[0] name is missing")]
    #[case::no_licence(licence("", "Fern", "12 Example Rd"), "[0] licence is missing")]
    #[case::control(licence("A1", "Fern", "12\nExample Rd"), "[0] address must be")]
    #[case::long(licence(&"1".repeat(201), "Fern", "12 Example Rd"), "[0] licence must be")]
    fn each_fault_of_a_licence_is_named(#[case] licence: RegisteredLicence, #[case] fault: &str) {
        let import = LicenceImport { state: "AZ".to_owned(), licences: vec![licence] };
        let error = import.check().unwrap_err();
        assert!(error.fault.starts_with(fault), "{error}");
    }

    #[test]
    fn the_last_of_two_equal_licences_counts() {
        let licences = vec![licence("A1", "Fern", "12 Example Rd"), licence(" A1 ", "Copper Fern", "12 Example Rd")];
        let (state, entries) = LicenceImport { state: "az".to_owned(), licences }.check().unwrap();
        assert_eq!((state, entries.len(), entries[0].name.as_str()), ("AZ", 1, "Copper Fern"));
    }

    #[rstest]
    #[case::name("Arizona")]
    #[case::none("")]
    #[case::no_such("ZZ")]
    fn a_state_is_two_letters(#[case] state: &str) {
        let licences = vec![licence("A1", "Fern", "12 Example Rd")];
        assert_eq!(LicenceImport { state: state.to_owned(), licences }.check().unwrap_err().field, "state");
    }

    #[test]
    fn a_decision_is_about_two_stores() {
        let decided = |stores| RetailerDecision { stores, is_same: true }.check();
        assert_eq!(decided([7, 3]).unwrap(), [3, 7]);
        assert_eq!(decided([3, 3]).unwrap_err().field, "stores");
    }
}

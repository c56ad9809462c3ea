//! `Params`: the query of a request, read strictly: what is unknown, doubled or unreadable is refused by name.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use url::form_urlencoded;

use super::ApiError;

pub struct Params(BTreeMap<String, String>);

impl Params {
    /// Reads a raw query; `known` are the names that the route has.
    pub fn read(query: Option<&str>, known: &[&str]) -> Result<Params, ApiError> {
        let mut params = BTreeMap::new();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if !known.contains(&name.as_ref()) {
                return Err(ApiError::bad(name, unknown(known)));
            }
            if value.contains('\0') {
                return Err(ApiError::bad(name, "holds a NUL character"));
            }
            if params.insert(name.to_string(), value.into_owned()).is_some() {
                return Err(ApiError::bad(name, "given twice"));
            }
        }
        Ok(Params(params))
    }

    /// For a route without parameters.
    pub fn none(query: Option<&str>) -> Result<(), ApiError> {
        Params::read(query, &[]).map(drop)
    }

    pub fn get<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, ApiError> {
        self.with(name, |text| text.parse().map_err(|error: T::Err| error.to_string()))
    }

    pub fn within(&self, name: &str, range: RangeInclusive<i64>) -> Result<Option<i64>, ApiError> {
        let number = |text: &str| text.parse().map_err(|_| format!("expected a whole number, got '{text}'"));
        let Some(number) = self.with(name, number)? else { return Ok(None) };
        match range.contains(&number) {
            true => Ok(Some(number)),
            false => {
                Err(ApiError::bad(name, format!("{number} is out of range ({} to {})", range.start(), range.end())))
            }
        }
    }

    /// A value read by a rule of its own.
    pub fn with<T>(&self, name: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>, ApiError> {
        let Some(text) = self.0.get(name) else { return Ok(None) };
        read(text).map(Some).map_err(|fault| ApiError::bad(name, fault))
    }
}

fn unknown(known: &[&str]) -> String {
    match known {
        [] => "unknown parameter: this address has none".to_owned(),
        known => format!("unknown parameter: the parameters are {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::unknown("statsu=failed", "statsu: unknown parameter: the parameters are limit, q")]
    #[case::doubled("limit=1&limit=2", "limit: given twice")]
    #[case::no_number("limit=ten", "limit: expected a whole number, got 'ten'")]
    #[case::too_large("limit=501", "limit: 501 is out of range (1 to 500)")]
    #[case::nul("q=%00", "q: holds a NUL character")]
    fn what_cannot_be_read_is_refused_by_name(#[case] query: &str, #[case] says: &str) {
        let read = Params::read(Some(query), &["limit", "q"]).and_then(|params| params.within("limit", 1..=500));
        assert_eq!(read.unwrap_err().to_string(), says);
    }

    #[test]
    fn values_are_decoded() {
        let params = Params::read(Some("q=a%26b+c"), &["q"]).unwrap();
        assert_eq!(params.get::<String>("q").unwrap().as_deref(), Some("a&b c"));
    }
}

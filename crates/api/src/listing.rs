//! `Listing<F, C>`: the query of a list that is read page by page.
//!
//! In: a request's parameters. Out: the filter `F` that they are read into, and beside it the page's maximum
//! length and beginning. `F` denies unknown fields and describes its parameters, which the page's parameters
//! follow. It must not know the listed items.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde::de::value::{Error as ValueError, StringDeserializer};
use utoipa::IntoParams;
use utoipa::openapi::path::ParameterIn;

use super::{ApiError, Describe, Description, query};
use contract::cursor::Cursor;
use contract::limit::Limit;

pub struct Listing<F, C = Cursor> {
    pub filter: F,
    pub limit: Limit,
    /// Position after the page before; None of the first one.
    pub cursor: Option<C>,
}

/// The parameters that every list has.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
struct Paging {
    #[serde(default)]
    #[param(inline)]
    limit: Limit,
    /// The `next_cursor` of the page before, whose other parameters stay as they were.
    cursor: Option<String>,
}

impl Paging {
    const NAMES: [&str; 2] = ["limit", "cursor"];
}

impl<F: DeserializeOwned + IntoParams, C: DeserializeOwned, S: Sync> FromRequestParts<S> for Listing<F, C> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Listing::read(parts.uri.query().unwrap_or_default())
    }
}

impl<F: DeserializeOwned + IntoParams, C: DeserializeOwned> Listing<F, C> {
    fn read(query: &str) -> Result<Self, ApiError> {
        let pairs = query::pairs(query)?;
        let (paging, others) = pairs.into_iter().partition(|(name, _)| Paging::NAMES.contains(&name.as_ref()));
        let filter = query::read(others).map_err(naming_all::<F>)?;
        let Paging { limit, cursor } = query::read(paging)?;
        Ok(Listing { filter, limit, cursor: cursor.map(position).transpose()? })
    }
}

/// Reads the position at which a page begins.
fn position<C: DeserializeOwned>(cursor: String) -> Result<C, ApiError> {
    let text = StringDeserializer::<ValueError>::new(cursor);
    C::deserialize(text).map_err(|error| ApiError::bad("cursor", error))
}

/// A refusal of an unknown parameter names all that are known: the filter knows only its own.
fn naming_all<F: IntoParams>(error: ApiError) -> ApiError {
    match error {
        ApiError::Bad { field, fault } => {
            let own: Vec<String> = F::into_params(|| None).into_iter().map(|parameter| parameter.name).collect();
            let fault = if own.contains(&field) { fault } else { unknown(&field, &own) };
            ApiError::Bad { field, fault }
        }
        other => other,
    }
}

fn unknown(field: &str, own: &[String]) -> String {
    let known: Vec<String> =
        own.iter().map(String::as_str).chain(Paging::NAMES).map(|name| format!("`{name}`")).collect();
    match known.as_slice() {
        [first, second] => format!("unknown field `{field}`, expected {first} or {second}"),
        known => format!("unknown field `{field}`, expected one of {}", known.join(", ")),
    }
}

impl<F: IntoParams, C> Describe for Listing<F, C> {
    const READS_QUERY: bool = true;

    fn describe(description: &mut Description<'_>) {
        description.parameters::<F>(ParameterIn::Query);
        description.parameters::<Paging>(ParameterIn::Query);
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;
    use utoipa::openapi::path::Operation;

    use super::super::query::NoParameters;
    use super::*;

    #[derive(Debug, Default, PartialEq, Deserialize, IntoParams)]
    #[serde(default, deny_unknown_fields)]
    #[into_params(parameter_in = Query)]
    struct Fruits {
        colour: Option<String>,
        least: Option<i32>,
        /// Ids, known only to requests with a body.
        #[param(ignore)]
        ids: Option<Vec<i64>>,
        #[serde(skip)]
        below: Option<i64>,
    }

    fn read<F: DeserializeOwned + IntoParams>(query: &str) -> Result<Listing<F>, ApiError> {
        Listing::read(query)
    }

    #[test]
    fn the_page_is_taken_off_the_filter() {
        let cursor = String::from(Cursor(7));
        let listing: Listing<Fruits> = read(&format!("limit=3&least=2&cursor={cursor}&colour=a%26b")).ok().unwrap();
        let filter = Fruits { colour: Some("a&b".to_owned()), least: Some(2), ..Fruits::default() };
        assert_eq!((listing.filter, listing.limit.rows(), listing.cursor), (filter, 3, Some(Cursor(7))));
        let listing: Listing<Fruits> = read("").ok().unwrap();
        assert_eq!((listing.filter, listing.limit, listing.cursor), (Fruits::default(), Limit::default(), None));
    }

    #[rstest]
    #[case::unknown("x=1", "x: unknown field `x`, expected one of `colour`, `least`, `limit`, `cursor`")]
    #[case::not_of_a_query("ids=1", "ids: unknown field `ids`, expected one of `colour`, `least`, `limit`, `cursor`")]
    #[case::not_of_a_request(
        "below=1",
        "below: unknown field `below`, expected one of `colour`, `least`, `limit`, `cursor`"
    )]
    #[case::doubled("limit=1&limit=2", "limit: given twice")]
    #[case::no_number("least=two", "least: expected a whole number, got 'two'")]
    #[case::no_limit("limit=0", "limit: 0 is out of range (1 to 500)")]
    #[case::no_cursor("cursor=17", "cursor: not a cursor of this list")]
    fn what_cannot_be_read_is_refused_by_name(#[case] query: &str, #[case] message: &str) {
        assert_eq!(read::<Fruits>(query).err().unwrap().to_string(), message);
    }

    #[test]
    fn a_list_without_a_filter_has_the_parameters_of_its_page() {
        let refused = read::<NoParameters>("x=1").err().unwrap();
        assert_eq!(refused.to_string(), "x: unknown field `x`, expected `limit` or `cursor`");
    }

    #[test]
    fn the_parameters_of_the_page_are_described_last() {
        let mut operation = Operation::default();
        Listing::<Fruits>::describe(&mut Description { operation: &mut operation, schemas: &mut Vec::new() });
        let described = json!(operation.parameters);
        let names: Vec<&str> = (0..).map_while(|index| described[index]["name"].as_str()).collect();
        assert_eq!(names, ["colour", "least", "limit", "cursor"]);
    }
}

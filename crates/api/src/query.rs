//! `Query<T>`: the query of a request, read strictly into a derived type.
//!
//! `T` is a struct with `deny_unknown_fields`. A parameter that is unknown, doubled or unreadable is refused
//! with its name.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::RangeInclusive;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::de::value::{Error as ValueError, MapDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error, IntoDeserializer, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use url::form_urlencoded;
use utoipa::IntoParams;
use utoipa::openapi::path::{Parameter, ParameterIn};

use super::body::named_field;
use super::{ApiError, Describe, Description};

pub struct Query<T>(pub T);

/// A number of the query that lies within `range`, for `deserialize_with`.
pub fn number_within<'de, D: Deserializer<'de>>(from: D, range: RangeInclusive<i64>) -> Result<Option<i64>, D::Error> {
    let number = i64::deserialize(from)?;
    match range.contains(&number) {
        true => Ok(Some(number)),
        false => Err(D::Error::custom(format_args!("{number} is out of range ({} to {})", range.start(), range.end()))),
    }
}

/// Any query, which is not read: probes and scrapers may add one.
pub struct AnyQuery;

/// An extension of the requests for an operation that has no parameters in its query.
#[derive(Clone, Copy)]
pub struct NoQuery;

/// Parameters of an operation that has none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParameters {}

/// A parameter's name and value.
pub type Pair<'a> = (Cow<'a, str>, Cow<'a, str>);

impl IntoParams for NoParameters {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        Vec::new()
    }
}

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        read(pairs(parts.uri.query().unwrap_or_default())?).map(Query)
    }
}

impl<T: IntoParams> Describe for Query<T> {
    const READS_QUERY: bool = true;

    fn describe(description: &mut Description<'_>) {
        description.parameters::<T>(ParameterIn::Query);
    }
}

impl<S: Sync> FromRequestParts<S> for AnyQuery {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(AnyQuery)
    }
}

impl Describe for AnyQuery {
    const READS_QUERY: bool = true;
}

/// Refuses parameters of an operation that has none.
pub fn check_absent(parts: &Parts) -> Result<(), ApiError> {
    match parts.extensions.get() {
        Some(NoQuery) => read(pairs(parts.uri.query().unwrap_or_default())?).map(|NoParameters {}| ()),
        None => Ok(()),
    }
}

/// The parameters of a query, none of which comes twice.
pub fn pairs(query: &str) -> Result<Vec<Pair<'_>>, ApiError> {
    let pairs: Vec<Pair<'_>> = form_urlencoded::parse(query.as_bytes()).collect();
    let mut seen = BTreeSet::new();
    for (name, value) in &pairs {
        if value.contains('\0') {
            return Err(ApiError::bad(&**name, "holds a NUL character"));
        }
        if !seen.insert(name) {
            return Err(ApiError::bad(&**name, "given twice"));
        }
    }
    Ok(pairs)
}

pub fn read<T: DeserializeOwned>(pairs: Vec<Pair<'_>>) -> Result<T, ApiError> {
    let values = pairs.into_iter().map(|(name, value)| (name, Text(value)));
    serde_path_to_error::deserialize(MapDeserializer::<_, ValueError>::new(values)).map_err(|error| refused(&error))
}

fn refused(error: &serde_path_to_error::Error<ValueError>) -> ApiError {
    let detail = error.inner().to_string();
    // a missing parameter has no path of its own
    let field = named_field(&detail).map_or_else(|| error.path().to_string(), str::to_owned);
    ApiError::bad(field, detail)
}

/// One value of a query: text that is read as its field's type.
struct Text<'a>(Cow<'a, str>);

impl<'de> IntoDeserializer<'de, ValueError> for Text<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! whole_numbers {
    ($($deserialize:ident $visit:ident;)+) => {
        $(fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
            // JSON knows one kind of numbers: 7.0 is whole
            match self.0.strip_suffix(".0").unwrap_or(&self.0).parse() {
                Ok(number) => visitor.$visit(number),
                Err(_) => Err(ValueError::custom(format_args!("expected a whole number, got '{}'", self.0))),
            }
        })+
    };
}

impl<'de> Deserializer<'de> for Text<'_> {
    type Error = ValueError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_str(&self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &str, visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(self, _: &str, _: &[&str], visitor: V) -> Result<V::Value, ValueError> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.0.as_ref() {
            "true" | "1" => visitor.visit_bool(true),
            "false" | "0" => visitor.visit_bool(false),
            other => Err(ValueError::custom(format_args!("expected true or false, got '{other}'"))),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ValueError> {
        match self.0.parse::<f64>().ok().filter(|number| number.is_finite()) {
            Some(number) => visitor.visit_f64(number),
            None => Err(ValueError::custom(format_args!("expected a number, got '{}'", self.0))),
        }
    }

    whole_numbers! {
        deserialize_i32 visit_i32;
        deserialize_i64 visit_i64;
        deserialize_u32 visit_u32;
        deserialize_u64 visit_u64;
    }

    forward_to_deserialize_any! {
        i8 i16 i128 u8 u16 u128 f32 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct
        map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};
    use rstest::rstest;

    use super::*;
    use domain::span;

    fn read<T: DeserializeOwned>(query: &str) -> Result<T, ApiError> {
        super::read(pairs(query)?)
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Fruit {
        count: Option<i64>,
        name: Option<String>,
        colour: Option<Colour>,
        ripe: Option<bool>,
        #[serde(default, deserialize_with = "span::optional_beginning")]
        picked: Option<DateTime<Utc>>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Colour {
        Red,
        Green,
    }

    #[rstest]
    #[case::unknown(
        "cuont=1",
        "cuont: unknown field `cuont`, expected one of `count`, `name`, `colour`, `ripe`, `picked`"
    )]
    #[case::doubled("count=1&count=2", "count: given twice")]
    #[case::no_number("count=ten", "count: expected a whole number, got 'ten'")]
    #[case::no_variant("colour=blue", "colour: unknown variant `blue`, expected `red` or `green`")]
    #[case::no_truth("ripe=yes", "ripe: expected true or false, got 'yes'")]
    #[case::no_time("picked=soon", "picked: not a time as in RFC 3339, 2025-01-10T08:00:00Z, nor a day, 2025-01-10")]
    #[case::nul("name=%00", "name: holds a NUL character")]
    fn what_cannot_be_read_is_refused_by_name(#[case] query: &str, #[case] message: &str) {
        assert_eq!(read::<Fruit>(query).unwrap_err().to_string(), message);
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Basket {
        #[expect(dead_code, reason = "only read")]
        fruits: i64,
    }

    #[test]
    fn a_parameter_that_is_missing_is_named() {
        assert_eq!(read::<Basket>("").unwrap_err().to_string(), "fruits: missing field `fruits`");
    }

    #[test]
    fn values_are_decoded_into_their_types() {
        let fruit: Fruit = read("name=a%26b+c&count=-3&colour=red&ripe=1&picked=2025-01-10T08:00:00%2B01:00").unwrap();
        assert_eq!((fruit.name.as_deref(), fruit.count, fruit.colour), (Some("a&b c"), Some(-3), Some(Colour::Red)));
        assert_eq!(fruit.ripe, Some(true));
        assert_eq!(fruit.picked.unwrap().to_rfc3339(), "2025-01-10T07:00:00+00:00");
    }
}

//! `States`: the data of each US state, from `states.toml`: timezone, locale, where to look for stores.
//!
//! It must not know stores: a state's code goes in, a [`StateLocale`] comes out.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Value;

use super::data_file::{DataFileError, parse};
use domain::store::state_code::two_letters;

pub const EMBEDDED: &str = include_str!("../../config/states.toml");

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateLocale {
    pub timezone: String,
    /// Locale, which is not sent: Accept-Language comes from `languages`.
    pub locale: String,
    /// Languages for Accept-Language, best first.
    pub languages: Vec<String>,
    /// South, west, north, east: a grid of points over it is asked for stores.
    pub bounds: Option<[f64; 4]>,
    /// Latitude, longitude, miles; asked in the place of the grid.
    #[serde(default)]
    pub points: Vec<[f64; 3]>,
}

#[derive(Clone, Debug, Default)]
pub struct States {
    by_code: BTreeMap<String, StateLocale>,
    default: StateLocale,
}

impl States {
    /// The shipped table with `overlay` over it: a state given there replaces the shipped one.
    pub fn load(overlay: Option<&str>) -> Result<States, DataFileError> {
        read(overlay).map_err(|errors| DataFileError { file: "states.toml", errors })
    }

    /// The state's row; the default's for a store without a state, or with one that is not in the table.
    pub fn of(&self, state: Option<&str>) -> &StateLocale {
        state.and_then(|code| self.by_code.get(&code.trim().to_ascii_uppercase())).unwrap_or(&self.default)
    }

    /// Every state by its code, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &StateLocale)> {
        self.by_code.iter().map(|(code, locale)| (code.as_str(), locale))
    }
}

fn read(overlay: Option<&str>) -> Result<States, Vec<String>> {
    let mut file = parse(EMBEDDED)?;
    if let Some(overlay) = overlay {
        file.extend(parse(overlay)?);
    }
    let default = file.remove("default").and_then(|code| code.as_str().map(str::to_owned)).unwrap_or_default();
    let mut errors = Vec::new();
    let states = file.iter().filter_map(|(code, state)| Some((code.clone(), state_of(code, state, &mut errors)?)));
    let by_code: BTreeMap<_, _> = states.collect();
    match by_code.get(&default).cloned() {
        Some(default) if errors.is_empty() => Ok(States { by_code, default }),
        Some(_) => Err(errors),
        None => {
            errors.push(format!("default '{default}' is not a state of the table"));
            Err(errors)
        }
    }
}

fn state_of(code: &str, state: &Value, errors: &mut Vec<String>) -> Option<StateLocale> {
    match StateLocale::deserialize(state.clone()) {
        Ok(state) => {
            errors.extend(state_errors(code, &state).into_iter().map(|error| format!("{code}: {error}")));
            Some(state)
        }
        Err(error) => {
            errors.push(format!("{code}: {}", error.message()));
            None
        }
    }
}

fn state_errors(code: &str, state: &StateLocale) -> Vec<String> {
    let is_code = two_letters(code).is_some_and(|capitals| capitals == code);
    let is_tag = |tag: &String| !tag.is_empty() && tag.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-');
    let is_point = |[lat, lng, miles]: &[f64; 3]| lat.abs() <= 90.0 && lng.abs() <= 180.0 && *miles > 0.0;
    let is_rectangle = |[south, west, north, east]: &[f64; 4]| {
        -90.0 <= *south && south < north && *north <= 90.0 && -180.0 <= *west && west < east && *east <= 180.0
    };
    let checks = [
        (is_code, "a state is two capital letters"),
        (state.timezone.contains('/'), "timezone is not a zone name such as America/Phoenix"),
        (is_tag(&state.locale), "locale is not a language tag"),
        (!state.languages.is_empty() && state.languages.iter().all(is_tag), "languages are not language tags"),
        (state.points.iter().all(is_point), "a point is latitude, longitude, miles"),
        (state.bounds.iter().all(is_rectangle), "bounds are south, west, north, east in degrees"),
    ];
    checks.into_iter().filter(|(good, _)| !good).map(|(_, error)| error.to_owned()).collect()
}

//! `States`: what a store's state says about it, read from `states.toml`: timezone, locale, points to look for stores around.
//!
//! It must not know stores: a state's code goes in, a [`StateLocale`] comes out.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Table, Value};

use super::identity::BadFile;

pub const EMBEDDED: &str = include_str!("../../config/states.toml");

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StateLocale {
    pub timezone: String,
    pub locale: String,
    /// For Accept-Language, best first.
    pub languages: Vec<String>,
    /// Latitude, longitude, miles.
    pub points: Vec<[f64; 3]>,
}

#[derive(Clone, Debug)]
pub struct States {
    by_code: BTreeMap<String, StateLocale>,
    default: StateLocale,
}

impl States {
    /// The shipped table with `overlay` laid over it: a state given there replaces the shipped one.
    pub fn load(overlay: Option<&str>) -> Result<States, BadFile> {
        read(overlay).map_err(|faults| BadFile { file: "states.toml", faults })
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
    let mut faults = Vec::new();
    let states = file.iter().filter_map(|(code, state)| Some((code.clone(), state_of(code, state, &mut faults)?)));
    let by_code: BTreeMap<_, _> = states.collect();
    match by_code.get(&default).cloned() {
        Some(default) if faults.is_empty() => Ok(States { by_code, default }),
        Some(_) => Err(faults),
        None => {
            faults.push(format!("default '{default}' is no state of the table"));
            Err(faults)
        }
    }
}

fn parse(text: &str) -> Result<Table, Vec<String>> {
    text.parse().map_err(|error: toml::de::Error| vec![error.to_string()])
}

fn state_of(code: &str, state: &Value, faults: &mut Vec<String>) -> Option<StateLocale> {
    match StateLocale::deserialize(state.clone()) {
        Ok(state) => {
            faults.extend(state_faults(code, &state).into_iter().map(|fault| format!("{code}: {fault}")));
            Some(state)
        }
        Err(error) => {
            faults.push(format!("{code}: {}", error.message()));
            None
        }
    }
}

fn state_faults(code: &str, state: &StateLocale) -> Vec<String> {
    let is_code = code.len() == 2 && code.bytes().all(|letter| letter.is_ascii_uppercase());
    let is_tag = |tag: &String| !tag.is_empty() && tag.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-');
    let is_point = |[lat, lng, miles]: &[f64; 3]| lat.abs() <= 90.0 && lng.abs() <= 180.0 && *miles > 0.0;
    let checks = [
        (is_code, "a state is two capital letters"),
        (state.timezone.contains('/'), "timezone is no zone name such as America/Phoenix"),
        (is_tag(&state.locale), "locale is no language tag"),
        (!state.languages.is_empty() && state.languages.iter().all(is_tag), "languages are no language tags"),
        (state.points.iter().all(is_point), "a point is latitude, longitude, miles"),
    ];
    checks.into_iter().filter(|(good, _)| !good).map(|(_, fault)| fault.to_owned()).collect()
}

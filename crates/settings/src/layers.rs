//! `Layer`: the settings of one file, one kind of variable, or the flags; `Schema`: the keys and types of
//! `default.toml`, against which a layer is checked.
//!
//! Keys are dotted (`queue.lease`). A key has the type of its default value; an empty table in `default.toml`
//! is open: it takes any key, with a string; [`OPEN_TABLES_OF_TABLES`] take tables.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use config::{ConfigError, Map, Source, Value, ValueKind};

use super::errors::ConfigErrors;
use foundation::spelling;

/// Open tables of `default.toml` whose entries are tables, and the one key that each of these has.
const OPEN_TABLES_OF_TABLES: [(&str, &str); 1] = [("media.platforms", "url")];

/// Settings of one source, each with its origin. Its `Debug` shows keys alone: values hold secrets.
#[derive(Clone, Default)]
pub struct Layer(Vec<(String, Value)>);

impl Layer {
    pub fn set(&mut self, origin: &str, key: &str, kind: ValueKind) {
        self.0.push((key.to_owned(), Value::new(Some(&origin.to_owned()), kind)));
    }

    pub fn only(setting: (String, Value)) -> Layer {
        Layer(vec![setting])
    }

    pub fn into_settings(self) -> Vec<(String, Value)> {
        self.0
    }
}

impl FromIterator<(String, Value)> for Layer {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(settings: I) -> Self {
        Layer(settings.into_iter().collect())
    }
}

impl fmt::Debug for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().map(|(key, _)| key)).finish()
    }
}

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, Value>, ConfigError> {
        Ok(self.0.iter().cloned().collect())
    }
}

/// Keys that exist, and the type of each.
#[derive(Clone, Debug)]
pub struct Schema {
    kinds: BTreeMap<String, toml::Value>,
    open: BTreeSet<String>,
    sections: BTreeSet<String>,
}

impl Schema {
    /// Reads `default.toml`; returns the schema, and the defaults as the lowest layer.
    pub fn read(origin: &str, text: &str, errors: &mut ConfigErrors) -> (Schema, Layer) {
        let mut schema = Schema { kinds: BTreeMap::new(), open: BTreeSet::new(), sections: BTreeSet::new() };
        let mut defaults = Layer::default();
        for (key, value) in leaves(origin, text, errors) {
            let mut parents = key.match_indices('.').map(|(end, _)| key[..end].to_owned());
            schema.sections.extend(&mut parents);
            defaults.set(origin, &key, kind(origin, value.clone()));
            if value.is_table() {
                schema.open.insert(key);
            } else {
                schema.kinds.insert(key, value);
            }
        }
        (schema, defaults)
    }

    /// A file's settings; one that does not fit the schema is an error with file and key.
    pub fn file(&self, origin: &str, text: &str, errors: &mut ConfigErrors) -> Layer {
        let mut layer = Layer::default();
        for (key, value) in leaves(origin, text, errors) {
            if value.as_table().is_some_and(toml::Table::is_empty) {
                continue;
            }
            match self.fits(&key, &value) {
                Ok(()) => layer.set(origin, &key, kind(origin, value)),
                Err(problem) => errors.push(origin, &key, problem),
            }
        }
        layer
    }

    /// A setting given as text (variable, flag), read as its key's type.
    pub fn read_text(&self, key: &str, text: &str) -> Result<ValueKind, String> {
        match self.kind_of(key)? {
            Some(toml::Value::Integer(_)) => {
                text.parse::<i64>().map(ValueKind::I64).map_err(|_| format!("expected a whole number, got '{text}'"))
            }
            Some(toml::Value::Float(_)) => {
                text.parse::<f64>().map(ValueKind::Float).map_err(|_| format!("expected a number, got '{text}'"))
            }
            Some(toml::Value::Boolean(_)) => text
                .parse::<bool>()
                .map(ValueKind::Boolean)
                .map_err(|_| format!("expected true or false, got '{text}'")),
            Some(toml::Value::Array(_)) => Ok(list(text)),
            _ => Ok(ValueKind::String(text.to_owned())),
        }
    }

    /// Whether the key's type has no empty value: numbers and booleans.
    pub fn is_never_empty(&self, key: &str) -> bool {
        matches!(self.kind_of(key), Ok(Some(kind)) if !kind.is_str() && !kind.is_array())
    }

    fn fits(&self, key: &str, value: &toml::Value) -> Result<(), String> {
        let expected = self.kind_of(key)?;
        let fits = match (expected, value) {
            (None, value) => value.is_str(),
            (Some(toml::Value::Float(_)), value) => value.is_float() || value.is_integer(),
            (Some(toml::Value::Array(_)), toml::Value::Array(items)) => items.iter().all(toml::Value::is_str),
            (Some(expected), value) => expected.same_type(value),
        };
        if fits {
            return Ok(());
        }
        Err(format!("expected {}, got {}", expected.map_or("a string", in_words), in_words(value)))
    }

    /// None = a key of an open table, or of a table in one.
    fn kind_of(&self, key: &str) -> Result<Option<&toml::Value>, String> {
        if let Some(kind) = self.kinds.get(key) {
            return Ok(Some(kind));
        }
        if self.sections.contains(key) || self.open.contains(key) {
            return Err("is a section and has no value of its own".to_owned());
        }
        if self.is_in_open_table(key) {
            return Ok(None);
        }
        Err(match spelling::nearest(key, self.kinds.keys()) {
            Some(known) => format!("unknown key (did you mean {known}?)"),
            None => "unknown key".to_owned(),
        })
    }

    fn is_in_open_table(&self, key: &str) -> bool {
        let Some((table, name)) = key.rsplit_once('.') else { return false };
        let of_tables = |(tables, field): &(&str, &str)| {
            let item = table.strip_prefix(tables).and_then(|rest| rest.strip_prefix('.'));
            *field == name && item.is_some_and(|item| is_name(&item.replace('-', "_")))
        };
        match OPEN_TABLES_OF_TABLES.iter().any(|(tables, _)| *tables == table) {
            true => false,
            false => self.open.contains(table) && is_name(name) || OPEN_TABLES_OF_TABLES.iter().any(of_tables),
        }
    }
}

/// The values of a TOML text by dotted key; a syntax error is one error, with its line.
fn leaves(origin: &str, text: &str, errors: &mut ConfigErrors) -> Vec<(String, toml::Value)> {
    let mut found = Vec::new();
    match text.parse::<toml::Table>() {
        Ok(table) => flatten("", table, &mut found),
        Err(error) => {
            let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
            errors.push(format!("{origin} line {line}"), "", error.message());
        }
    }
    found
}

fn flatten(prefix: &str, table: toml::Table, found: &mut Vec<(String, toml::Value)>) {
    for (name, value) in table {
        let key = if prefix.is_empty() { name } else { format!("{prefix}.{name}") };
        match value {
            toml::Value::Table(inner) if !inner.is_empty() => flatten(&key, inner, found),
            leaf => found.push((key, leaf)),
        }
    }
}

fn kind(origin: &str, value: toml::Value) -> ValueKind {
    match value {
        toml::Value::String(text) => ValueKind::String(text),
        toml::Value::Integer(number) => ValueKind::I64(number),
        toml::Value::Float(number) => ValueKind::Float(number),
        toml::Value::Boolean(flag) => ValueKind::Boolean(flag),
        toml::Value::Datetime(when) => ValueKind::String(when.to_string()),
        toml::Value::Table(_) => ValueKind::Table(Map::new()),
        toml::Value::Array(items) => {
            let origin = Some(origin.to_owned());
            ValueKind::Array(items.into_iter().map(|item| Value::new(origin.as_ref(), kind("", item))).collect())
        }
    }
}

fn list(text: &str) -> ValueKind {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    ValueKind::Array(items.map(|item| Value::new(None, ValueKind::String(item.to_owned()))).collect())
}

fn in_words(value: &toml::Value) -> &'static str {
    match value {
        toml::Value::String(_) => "a string",
        toml::Value::Integer(_) => "a whole number",
        toml::Value::Float(_) => "a number",
        toml::Value::Boolean(_) => "true or false",
        toml::Value::Datetime(_) => "a date",
        toml::Value::Array(_) => "a list of strings",
        toml::Value::Table(_) => "a section",
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

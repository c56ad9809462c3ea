//! The effective configuration as a list for people and programs: key, value, origin, with secrets masked.

use config::{Value, ValueKind};
use serde::Serialize;

const MASK: &str = "***";

/// One key of the effective configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    pub key: String,
    pub value: serde_json::Value,
    /// The file, variable or flag that set it.
    pub origin: String,
}

/// Every leaf of the merged configuration, sorted by key.
pub fn settings(merged: &config::Config) -> Vec<Setting> {
    let mut found = Vec::new();
    walk("", &merged.cache, &mut found);
    found.sort_by(|a, b| a.key.cmp(&b.key));
    found
}

/// A database URL or key-value string that may be shown: the password is replaced.
pub fn masked_database_url(url: &str) -> String {
    let parsed = url::Url::parse(url).ok().filter(|parsed| matches!(parsed.scheme(), "postgres" | "postgresql"));
    let Some(mut parsed) = parsed else { return masked_pairs(url) };
    if parsed.password().is_some() && parsed.set_password(Some(MASK)).is_err() {
        return MASK.to_owned();
    }
    if parsed.query_pairs().any(|(name, _)| name == "password") {
        let kept: Vec<(String, String)> =
            parsed.query_pairs().filter(|(name, _)| name != "password").map(|(n, v)| (n.into(), v.into())).collect();
        parsed.query_pairs_mut().clear().extend_pairs(kept).append_pair("password", MASK);
    }
    parsed.into()
}

fn walk(key: &str, value: &Value, found: &mut Vec<Setting>) {
    if let ValueKind::Table(table) = &value.kind {
        for (name, inner) in table {
            let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
            walk(&key, inner, found);
        }
        return;
    }
    let origin = value.origin().unwrap_or_default().to_owned();
    found.push(Setting { key: key.to_owned(), value: shown(key, value), origin });
}

fn shown(key: &str, value: &Value) -> serde_json::Value {
    match &value.kind {
        ValueKind::String(url) if key == "database.url" => masked_database_url(url).into(),
        ValueKind::String(text) => text.clone().into(),
        ValueKind::I64(number) => (*number).into(),
        ValueKind::Float(number) => (*number).into(),
        ValueKind::Boolean(flag) => (*flag).into(),
        ValueKind::Array(items) => items.iter().map(|item| shown(key, item)).collect(),
        _ => serde_json::Value::Null,
    }
}

/// `host=… user=… password=…`; everything after a password is masked too, since its end is hard to know when quoted.
fn masked_pairs(text: &str) -> String {
    match text.split_once("password") {
        None if text.contains('@') => MASK.to_owned(),
        None => text.to_owned(),
        Some((before, _)) => format!("{before}password={MASK}"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", "")]
    #[case("postgresql:///drover?host=/run/pg&user=drover", "postgresql:///drover?host=/run/pg&user=drover")]
    #[case("postgresql://me:secret@db/x", "postgresql://me:***@db/x")]
    #[case("postgresql://db/x?password=secret&user=me", "postgresql://db/x?user=me&password=***")]
    #[case("host=db password='se cret' user=me", "host=db password=***")]
    #[case("host=db user=me", "host=db user=me")]
    #[case("me:secret@db", "***")]
    fn a_password_is_never_shown(#[case] url: &str, #[case] shown: &str) {
        assert_eq!(masked_database_url(url), shown);
    }
}

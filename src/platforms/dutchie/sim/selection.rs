//! `Selection`: the fields that the full text of a query asks for. It knows names, arguments and braces; no
//! fragments, no aliases.

use std::collections::BTreeMap;

use serde_json::Value;

/// Fields and the selection in each; empty = the whole value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection(BTreeMap<String, Selection>);

impl Selection {
    /// None when there are no outer braces, or when they do not match.
    pub(crate) fn of(text: &str) -> Option<Selection> {
        let mut tokens = tokens(text).into_iter();
        tokens.by_ref().find(|token| *token == "{")?;
        let selection = Selection::read(&mut tokens)?;
        tokens.next().is_none().then_some(selection)
    }

    pub(crate) fn asks_for(&self, field: &str) -> bool {
        self.0.contains_key(field)
    }

    /// Removes from `value` whatever was not asked for.
    pub(crate) fn prune(&self, value: &mut Value) {
        match value {
            _ if self.0.is_empty() => {}
            Value::Array(items) => items.iter_mut().for_each(|item| self.prune(item)),
            Value::Object(fields) => {
                fields.retain(|name, _| self.asks_for(name));
                for (name, field) in fields {
                    self.0[name].prune(field);
                }
            }
            _ => {}
        }
    }

    /// Reads up to the closing brace of an open one.
    fn read<'a>(tokens: &mut impl Iterator<Item = &'a str>) -> Option<Selection> {
        let mut fields = BTreeMap::new();
        let mut last = String::new();
        loop {
            match tokens.next()? {
                "}" => return Some(Selection(fields)),
                "{" => *fields.get_mut(&last)? = Selection::read(tokens)?,
                name => {
                    name.clone_into(&mut last);
                    fields.insert(last.clone(), Selection::default());
                }
            }
        }
    }
}

/// Names and braces; text in parentheses is skipped.
fn tokens(text: &str) -> Vec<&str> {
    let outside = text.split('(').enumerate().map(|(nth, part)| match nth {
        0 => part,
        _ => part.split_once(')').map_or("", |(_, after)| after),
    });
    let words = outside.flat_map(|part| part.split_inclusive(|c: char| !is_of_name(c)));
    words
        .flat_map(|word| [word.trim_end_matches(|c| !is_of_name(c)), word.trim_start_matches(is_of_name)])
        .filter(|token| token.chars().all(is_of_name) && !token.is_empty() || ["{", "}"].contains(token))
        .collect()
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "query Q($page: Int) { list(page: $page, of: \"x\") { items { id, name\n parts { size } } } }";

    #[test]
    fn a_text_leaves_what_it_asks_for() {
        let part = json!({ "size": 1, "colour": "red" });
        let mut data =
            json!({ "list": { "items": [{ "id": 7, "name": null, "parts": [part], "price": 2 }], "total": 1 } });
        Selection::of(TEXT).unwrap().prune(&mut data);
        assert_eq!(data, json!({ "list": { "items": [{ "id": 7, "name": null, "parts": [{ "size": 1 }] }] } }));
    }

    #[test]
    fn braces_that_do_not_match_are_no_text() {
        for text in ["query Q", "{ list { items }", "{ list } }", "{ { items } }"] {
            assert_eq!(Selection::of(text), None, "{text}");
        }
    }
}

//! The index of menus: filters, facets, pages, and the ceiling above which it lets no hit pass.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::goods::{JaneProduct, store_id};
use super::hit::hit;
use crate::catalogue::StoreSeed;
use crate::menu::Menu;
use crate::world::World;

const MAX_PER_PAGE: u64 = 1000;
const DEFAULT_PER_PAGE: u64 = 20;

/// Answers a question; an error is the message of a refusal.
pub(crate) fn menu(world: &World, question: &Value) -> Result<Value, String> {
    let conditions = conditions(question["filters"].as_str().unwrap_or_default())?;
    let page = Page::of(question)?;
    let store = world.catalogue.stores.iter().find(|store| {
        let id = store_id(store).to_string();
        !store.captured && conditions.iter().any(|condition| condition.is("store_id", &id))
    });
    let products = store.map(|store| listed(world, store)).unwrap_or_default();
    let hits: Vec<(&JaneProduct<'_>, Value)> = match store {
        Some(store) => products.iter().map(|product| (product, hit(product, store))).collect(),
        None => Vec::new(),
    };
    let hits: Vec<_> = hits.into_iter().filter(|(_, hit)| conditions.iter().all(|it| it.holds(hit))).collect();
    if let (Some(store), Some((first, _)), 0) = (store, hits.first(), page.number) {
        world.platforms.jane.vanishing.answered(store.index, first.index);
    }
    let hits: Vec<Value> = hits.into_iter().map(|(_, hit)| hit).collect();
    Ok(page.answer(hits, facets(question), world.platforms.jane.ceiling))
}

/// The products in the index now, in the menu's order.
fn listed<'a>(world: &'a World, store: &StoreSeed) -> Vec<JaneProduct<'a>> {
    let crawl = world.crawl();
    let menu = Menu::of(world.seed, store, crawl);
    let is_there = |product: &u64| !world.platforms.jane.vanishing.is_gone(store.index, *product);
    let products = menu.products().filter(is_there);
    products.filter_map(|product| JaneProduct::listed(world, store, product, crawl)).collect()
}

pub(crate) struct Page {
    number: u64,
    size: u64,
}

impl Page {
    pub(crate) fn of(question: &Value) -> Result<Page, String> {
        let size = question["hitsPerPage"].as_u64().unwrap_or(DEFAULT_PER_PAGE);
        if !(1..=MAX_PER_PAGE).contains(&size) {
            return Err(format!("hitsPerPage: {size} is out of range"));
        }
        Ok(Page { number: question["page"].as_u64().unwrap_or_default(), size })
    }

    /// The page of these hits; `nbHits` counts those above the ceiling, too.
    pub(crate) fn answer(&self, mut hits: Vec<Value>, facets: Vec<String>, ceiling: usize) -> Value {
        let counts: BTreeMap<&String, BTreeMap<String, u64>> =
            facets.iter().map(|facet| (facet, count(&hits, facet))).collect();
        let total = hits.len();
        hits.truncate(ceiling);
        let pages = (hits.len() as u64).div_ceil(self.size);
        let start = usize::try_from(self.number.saturating_mul(self.size)).unwrap_or(usize::MAX);
        let hits: Vec<Value> = hits.into_iter().skip(start).take(self.size as usize).collect();
        json!({ "hits": hits, "nbHits": total, "page": self.number, "nbPages": pages, "hitsPerPage": self.size,
                "exhaustiveNbHits": true, "facets": counts, "processingTimeMS": 1 })
    }
}

fn facets(question: &Value) -> Vec<String> {
    let named = question["facets"].as_array().into_iter().flatten();
    named.filter_map(|name| Some(name.as_str()?.to_owned())).collect()
}

fn count(hits: &[Value], facet: &str) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for value in hits.iter().filter_map(|hit| hit[facet].as_str()) {
        *counts.entry(value.to_owned()).or_default() += 1;
    }
    counts
}

/// `name:value`, `name = value`, `name:"value"`, with NOT before it.
struct Condition {
    is_not: bool,
    name: String,
    value: String,
}

impl Condition {
    fn is(&self, name: &str, value: &str) -> bool {
        !self.is_not && self.name == name && self.value == value
    }

    fn holds(&self, hit: &Value) -> bool {
        let has = match &hit[&self.name] {
            Value::String(text) => *text == self.value,
            Value::Number(number) => number.to_string() == self.value,
            _ => false,
        };
        has != self.is_not
    }
}

fn conditions(filters: &str) -> Result<Vec<Condition>, String> {
    filters
        .split(" AND ")
        .map(|text| condition(text).ok_or_else(|| format!("filters: unexpected token in {text}")))
        .collect()
}

fn condition(text: &str) -> Option<Condition> {
    let (is_not, text) = match text.trim().strip_prefix("NOT ") {
        Some(text) => (true, text),
        None => (false, text.trim()),
    };
    let (name, value) = text.split_once(" = ").or_else(|| text.split_once(':'))?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let inner = value.strip_prefix('"').map_or(Some(value), |rest| rest.strip_suffix('"'))?;
    let is_plain = value.starts_with('"') || !value.contains(' ');
    let value = inner.replace("\\\"", "\"").replace("\\\\", "\\");
    (is_name && is_plain).then(|| Condition { is_not, name: name.to_owned(), value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_holds_for_the_hits_that_meet_all_of_its_conditions() {
        let hit = json!({ "store_id": 7, "kind": "pre-roll", "root_subtype": "a \"b\" c", "brand": null });
        let holds = |filters: &str| conditions(filters).map(|all| all.iter().all(|condition| condition.holds(&hit)));
        for (filters, expected) in [
            ("store_id:7", true),
            ("store_id = 7 AND kind:pre-roll", true),
            ("store_id:70", false),
            (r#"kind:"pre-roll" AND root_subtype:"a \"b\" c""#, true),
            (r#"NOT kind:"pre-roll""#, false),
            (r#"NOT kind:"gear" AND NOT brand:"x""#, true),
        ] {
            assert_eq!(holds(filters), Ok(expected), "{filters}");
        }
        for wrong in ["", "kind", "kind:a b", "kind:\"a", "KIND:a"] {
            assert!(holds(wrong).is_err(), "{wrong}");
        }
    }
}

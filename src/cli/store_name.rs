//! `StoreName`: a store as people name it on the command line: its id, its slug or its name. In: the text. Out: its id, or a
//! refusal that names the stores that are meant perhaps. Every command that takes a store takes these three.

use std::str::FromStr;

use super::{ApiClient, CliError, with_query};
use contract::stores::{StorePage, StoreView};
use domain::store::StoreId;

/// Maximum number of stores that a refusal names.
const MAX_NAMED: usize = 10;
/// Maximum number of stores that are read for a name.
const MAX_READ: usize = 500;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreName {
    Id(StoreId),
    /// A slug or a name.
    Text(String),
}

/// Stores that a command changes, one after the other.
#[derive(Debug, clap::Args)]
pub struct Stores {
    /// Ids, slugs or names
    #[arg(required = true, value_name = "STORE", allow_negative_numbers = true)]
    stores: Vec<StoreName>,
}

impl Stores {
    /// All of them are looked up before the first one is changed: a wrong name changes none.
    pub async fn ids(&self, api: &ApiClient) -> anyhow::Result<Vec<StoreId>> {
        ids(&self.stores, api).await
    }
}

pub async fn ids(stores: &[StoreName], api: &ApiClient) -> anyhow::Result<Vec<StoreId>> {
    let mut ids = Vec::new();
    for store in stores {
        ids.push(store.id(api).await?);
    }
    Ok(ids)
}

/// The store of a filter that has one.
pub async fn id_of(store: Option<&StoreName>, api: &ApiClient) -> anyhow::Result<Option<StoreId>> {
    match store {
        Some(store) => store.id(api).await.map(Some),
        None => Ok(None),
    }
}

impl FromStr for StoreName {
    type Err = String;

    fn from_str(text: &str) -> Result<StoreName, String> {
        match text.trim() {
            "" => Err("expected the id, slug or name of a store".to_owned()),
            text => Ok(text.parse().map_or_else(|_| StoreName::Text(text.to_owned()), StoreName::Id)),
        }
    }
}

impl StoreName {
    /// The id of the one store with this slug, else of the one with this name, without regard to case.
    pub async fn id(&self, api: &ApiClient) -> anyhow::Result<StoreId> {
        let text = match self {
            StoreName::Id(id) => return Ok(*id),
            StoreName::Text(text) => text,
        };
        let query = [("q", Some(text.clone())), ("limit", Some(MAX_READ.to_string()))];
        let list: StorePage = api.get(&with_query("/api/stores", query)).await?;
        Ok(one_of(text, &list.stores)?)
    }
}

fn one_of(text: &str, stores: &[StoreView]) -> Result<StoreId, CliError> {
    let is = |other: &str| other.to_lowercase() == text.to_lowercase();
    let by_slug = stores.iter().filter(|store| store.slug.as_deref().is_some_and(is)).collect::<Vec<_>>();
    let by_name = stores.iter().filter(|store| is(&store.name)).collect::<Vec<_>>();
    match (&by_slug[..], &by_name[..]) {
        ([store], _) | ([], [store]) => Ok(store.id),
        ([], []) if stores.is_empty() => Err(CliError::usage(format!(
            "no store has the slug or name '{text}'; `drover stores list` shows all stores"
        ))),
        ([], []) => {
            let named = named(stores.iter());
            Err(CliError::usage(format!("no store has exactly the slug or name '{text}'; stores like it: {named}")))
        }
        (several, others) => {
            let meant = if several.is_empty() { others } else { several };
            Err(CliError::usage(format!(
                "'{text}' is ambiguous: give the id of one of {}",
                named(meant.iter().copied())
            )))
        }
    }
}

/// `12 Leaf (leaf-az, AZ), 15 Leaf (leaf-nv, NV)`
fn named<'a>(stores: impl ExactSizeIterator<Item = &'a StoreView>) -> String {
    let left_out = stores.len().saturating_sub(MAX_NAMED);
    let mut parts: Vec<String> = stores.take(MAX_NAMED).map(described).collect();
    if left_out > 0 {
        parts.push(format!("{left_out} others"));
    }
    parts.join(", ")
}

fn described(store: &StoreView) -> String {
    let place: Vec<&str> = [&store.slug, &store.state].into_iter().flatten().map(String::as_str).collect();
    match place.is_empty() {
        true => format!("{} {}", store.id, store.name),
        false => format!("{} {} ({})", store.id, store.name, place.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn store(id: StoreId, name: &str, slug: Option<&str>) -> StoreView {
        let empty = json!({"id": id, "name": name, "slug": slug, "platform": "dutchie", "platform_dispensary_id": null, "menu_url": null,
            "address": null, "city": null, "state": "AZ", "zip": null, "latitude": null, "longitude": null, "phone": null, "timezone": null,
            "is_recreational": null, "is_medical": null, "licences": [], "website": null, "email": null, "former_menus": [], "retailer_id": null, "groups": [], "crawl_enabled": true, "crawl_status": "fresh", "empty_menus": 0,
            "suspicious": [], "disabled_reason": null, "last_fetch_at": null, "last_crawl_at": null, "last_payload_id": null,
            "last_payload_at": null, "last_complete_at": null, "last_coverage": null, "products": 0, "in_stock": 0, "on_special": 0});
        serde_json::from_value(empty).unwrap()
    }

    #[rstest]
    #[case::its_slug("leaf-az", Ok(1))]
    #[case::its_slug_in_capitals("LEAF-AZ", Ok(1))]
    #[case::its_name("fern", Ok(3))]
    #[case::a_slug_before_a_name("Leaf-NV", Ok(2))]
    #[case::two_of_a_name(
        "Leaf",
        Err("'Leaf' is ambiguous: give the id of one of 1 Leaf (leaf-az, AZ), 2 Leaf (leaf-nv, AZ)")
    )]
    #[case::a_part("Lea", Err("no store has exactly the slug or name 'Lea'; stores like it: 1 Leaf"))]
    fn a_store_is_found_by_slug_or_name(#[case] text: &str, #[case] expected: Result<StoreId, &str>) {
        let stores = [
            store(1, "Leaf", Some("leaf-az")),
            store(2, "Leaf", Some("leaf-nv")),
            store(3, "Fern", None),
            store(4, "Leaf-NV", None),
        ];
        match (one_of(text, &stores), expected) {
            (Ok(id), Ok(wanted)) => assert_eq!(id, wanted),
            (Err(error), Err(wanted)) => assert!(error.to_string().starts_with(wanted), "{error}"),
            (found, _) => panic!("{found:?}"),
        }
    }

    #[test]
    fn a_store_that_is_not_there_is_named() {
        let fault = one_of("Moss", &[]).unwrap_err().to_string();
        assert_eq!(fault, "no store has the slug or name 'Moss'; `drover stores list` shows all stores");
    }

    #[rstest]
    #[case::an_id("7", Ok(StoreName::Id(7)))]
    #[case::a_name(" Leaf ", Ok(StoreName::Text("Leaf".to_owned())))]
    #[case::nothing(" ", Err("expected the id, slug or name of a store".to_owned()))]
    fn digits_are_an_id(#[case] text: &str, #[case] expected: Result<StoreName, String>) {
        assert_eq!(text.parse(), expected);
    }
}

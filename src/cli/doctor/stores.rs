//! Checks the enabled stores. In: the database. Out: one finding if no store needs a person, else one for
//! each kind of need, with the command that ends it.

use super::finding::Finding;
use super::unread;
use crate::cli::output::counted;
use contract::overview::{StoreCounts, TroubledStore};
use db::{Db, overview};
use domain::store::StoreStatus;
use domain::vocabulary::Word;

/// Maximum number of stores that are read; those that need a person come first.
const MAX_READ: i64 = 20;
/// Maximum number of stores that a finding names.
const MAX_NAMED: usize = 3;

pub async fn check(db: &Db) -> Vec<Finding> {
    let read = async { overview::stores(&db.client().await?, MAX_READ).await };
    match read.await {
        Ok(counts) => findings(&counts),
        Err(error) => vec![unread("stores", &error)],
    }
}

fn findings(counts: &StoreCounts) -> Vec<Finding> {
    let enabled = counts.enabled;
    if enabled == 0 {
        return vec![Finding::advice("stores", "none is enabled", "import some: `drover stores import FILE`")];
    }
    let findings: Vec<Finding> = [empty_menus(counts), menu_ids(counts)].into_iter().flatten().collect();
    match findings.is_empty() {
        true => vec![Finding::well("stores", format!("{enabled} enabled"))],
        false => findings,
    }
}

fn empty_menus(counts: &StoreCounts) -> Option<Finding> {
    let named = named(counts, StoreStatus::EmptyMenu);
    let detail =
        format!("{} of {} with an empty menu{}", counted(counts.empty_menu, "store"), counts.enabled, names(&named));
    let id = named.first().map_or_else(|| "ID".to_owned(), |store| store.id.to_string());
    let remedy = format!(
        "if a store sells nothing, accept it with `drover stores accept-empty {id}`; `drover stores list --status empty_menu` lists them"
    );
    (counts.empty_menu > 0).then(|| Finding::advice("store menus", detail, remedy))
}

fn menu_ids(counts: &StoreCounts) -> Option<Finding> {
    let named = named(counts, StoreStatus::NeedsMenuId);
    let detail =
        format!("{} of {} without a menu id{}", counted(counts.needs_menu_id, "store"), counts.enabled, names(&named));
    let id = named.first().map_or_else(|| "ID".to_owned(), |store| store.id.to_string());
    let remedy = format!(
        "correct the slug with `drover stores edit {id} --slug SLUG`, or give the id with --platform-id; `drover stores list --status needs_menu_id` lists them"
    );
    (counts.needs_menu_id > 0).then(|| Finding::advice("menu ids", detail, remedy))
}

/// The stores in this state, as far as they were read.
fn named(counts: &StoreCounts, status: StoreStatus) -> Vec<&TroubledStore> {
    counts.troubled.iter().filter(|store| store.crawl_status == Word::Known(status)).take(MAX_NAMED).collect()
}

/// `: 4 Leaf, 9 Fern`.
fn names(stores: &[&TroubledStore]) -> String {
    let names: Vec<String> = stores.iter().map(|store| format!("{} {}", store.id, store.name)).collect();
    if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) }
}

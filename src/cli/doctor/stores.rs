//! Checks the enabled stores. In: the database. Out: one finding if no store needs a person, else one for
//! each kind of need, with the command that ends it.

use super::{Finding, unread};
use contract::overview::{StoreCounts, TroubledStore};
use db::{Db, tasks};
use domain::amounts::counted;
use domain::store::StoreStatus;
use domain::vocabulary::Word;

/// Maximum number of stores that are read; those that need a person come first.
const MAX_READ: i64 = 20;
/// Maximum number of stores that a finding names.
const MAX_NAMED: usize = 3;

pub async fn check(db: &Db) -> Vec<Finding> {
    let read = async { tasks::overview::stores(&db.client().await?, MAX_READ).await };
    match read.await {
        Ok(counts) => findings(&counts),
        Err(error) => vec![unread("stores", &error)],
    }
}

fn findings(counts: &StoreCounts) -> Vec<Finding> {
    let enabled = counts.enabled;
    if enabled == 0 {
        return vec![Finding::advice("stores", "no store is enabled", "import stores: `drover stores import FILE`")];
    }
    let findings: Vec<Finding> = [empty_menus(counts), menu_ids(counts)].into_iter().flatten().collect();
    match findings.is_empty() {
        true => vec![Finding::well("stores", format!("{enabled} enabled"))],
        false => findings,
    }
}

fn empty_menus(counts: &StoreCounts) -> Option<Finding> {
    need(counts, StoreStatus::EmptyMenu, "store menus", (counts.empty_menu, "with an empty menu"), |id| {
        format!(
            "if a store sells nothing, accept it with `drover stores accept-empty {id}`; `drover stores list --status empty_menu` lists them"
        )
    })
}

fn menu_ids(counts: &StoreCounts) -> Option<Finding> {
    need(counts, StoreStatus::NeedsMenuId, "menu ids", (counts.needs_menu_id, "without a menu id"), |id| {
        format!(
            "correct the slug with `drover stores edit {id} --slug SLUG`, or give the id with --platform-id; `drover stores list --status needs_menu_id` lists them"
        )
    })
}

/// Names what the stores in a state need; None where no store is in this state. `remedy` is given the id of one of them.
fn need(
    counts: &StoreCounts,
    status: StoreStatus,
    check: &'static str,
    (number, fault): (i64, &str),
    remedy: impl FnOnce(&str) -> String,
) -> Option<Finding> {
    if number == 0 {
        return None;
    }
    let named = named(counts, status);
    let detail = format!("{} of {} {fault}{}", counted(number, "store"), counts.enabled, names(&named));
    let id = named.first().map_or_else(|| "ID".to_owned(), |store| store.id.to_string());
    Some(Finding::advice(check, detail, remedy(&id)))
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

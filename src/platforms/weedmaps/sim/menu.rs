//! Pages of a menu: at most 100 items each, and an overlap, since a row came in front while the pages were asked for.

use http::StatusCode;
use serde_json::{Value, json};

use super::goods::WeedmapsItem;
use super::{item, page_of, refusal};
use crate::catalogue::StoreSeed;
use crate::menu::Menu;
use crate::question::Question;
use crate::reply::Document;
use crate::world::World;

/// `is_empty`: the items are left out, and the total stays.
pub(super) fn page(world: &World, store: &StoreSeed, question: &Question, is_empty: bool) -> Document {
    let Some((page, size)) = page_of(question) else {
        return refusal(StatusCode::UNPROCESSABLE_ENTITY, "page and page_size must be positive numbers");
    };
    let listed = listed(world, store);
    // behind the first page every row is one place further back
    let shift = usize::from(page > 1);
    let start = ((page - 1) * size - shift).min(listed.len());
    let end = (page * size - shift).min(listed.len());
    let is_shown_again = |at: usize| page == 1 && at + 1 == size && listed.len() > size;
    let shown = listed.get(start..end).unwrap_or_default().iter().enumerate().filter(|_| !is_empty);
    let items = shown.filter_map(|(at, index)| {
        let shown = WeedmapsItem::listed(world, store, *index, world.crawl())?;
        Some(item::item(&if is_shown_again(at) { shown.superseded() } else { shown }))
    });
    (StatusCode::OK, document(items.collect(), listed.len() + shift))
}

/// The products on the menu, in its order.
fn listed(world: &World, store: &StoreSeed) -> Vec<u64> {
    let menu = Menu::of(world.seed, store, world.crawl());
    let is_active = |product: &u64| world.product(store, *product, world.crawl()).active;
    menu.products().filter(is_active).collect()
}

pub(super) fn document(items: Vec<Value>, total: usize) -> Value {
    json!({
        "meta": { "total_menu_items": total, "updated_at": "2026-11-27T18:00:00.000Z", "has_live_menu": total > 0 },
        "data": { "menu_items": items },
    })
}

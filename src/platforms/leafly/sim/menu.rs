//! Pages of a menu, by the number of items to skip and to take.

use http::StatusCode;
use serde_json::{Value, json};

use super::goods::LeaflyItem;
use super::{item, refusal};
use crate::catalogue::StoreSeed;
use crate::menu::Menu;
use crate::question::Question;
use crate::reply::Document;
use crate::world::World;

/// Maximum number of items that a client may take at once.
const MAX_TAKE: usize = 50;

pub(super) fn part(world: &World, store: &StoreSeed, question: &Question) -> Document {
    let take = question.number("take").filter(|take| (1..=MAX_TAKE).contains(take));
    let (Some(skip), Some(take)) = (question.number::<usize>("skip"), take) else {
        world.counters.note(|counts| counts.other += 1);
        return refusal(StatusCode::BAD_REQUEST, "take must be between 1 and 50");
    };
    let crawl = world.crawl();
    let listed = listed(world, store, crawl);
    let items = listed.iter().skip(skip).take(take);
    let items = items.filter_map(|key| Some(item::item(&LeaflyItem::listed(world, store, *key, crawl)?, store)));
    let document = document(items.collect(), listed.len());
    if let (0, Some((first, _))) = (skip, listed.first()) {
        world.platforms.leafly.vanishing.answered(store.index, *first);
    }
    (StatusCode::OK, document)
}

/// The products of both menus, in their order, each with its menu.
fn listed(world: &World, store: &StoreSeed, crawl: u32) -> Vec<(u64, bool)> {
    let menu = Menu::of(world.seed, store, crawl);
    let is_there = |product: &u64| !world.platforms.leafly.vanishing.is_gone(store.index, *product);
    let keys = menu.products().filter(is_there).flat_map(|product| [(product, false), (product, true)]);
    keys.filter(|key| LeaflyItem::is_on_menu(world, store, *key)).collect()
}

pub(super) fn document(items: Vec<Value>, total: usize) -> Value {
    json!({ "data": items, "metadata": { "totalCount": total } })
}

//! Leafly's part of the oracle: the expected content of a product table after crawls 1 … n of its stores.
//!
//! Computed from the truth about an item, never from a menu. A product is a row of each menu that has it.

use super::goods::{LeaflyItem, LeaflySize};
use super::stores::slug;
use crate::catalogue::StoreSeed;
use crate::oracle::listing::{Listing, Seen};
use crate::oracle::{OraclePotency, OracleProduct, OracleStore, OracleVariant, bargain};
use crate::size::{self, Size};
use crate::world::World;

pub(crate) fn oracle(world: &World, store: &StoreSeed, crawl: u32) -> Option<OracleStore> {
    let keys = (0..store.size).flat_map(|index| [(index, false), (index, true)]);
    Some(OracleStore {
        platform_dispensary_id: slug(store).to_owned(),
        products: keys.filter_map(|key| product(world, store, key, crawl)).collect(),
    })
}

fn product(world: &World, store: &StoreSeed, key: (u64, bool), crawl: u32) -> Option<OracleProduct> {
    let (seen, item) = Seen::last(crawl, |crawl| LeaflyItem::listed(world, store, key, crawl))?;
    let listing = Listing {
        id: item.id.to_string(),
        truth: &item.truth,
        category: Some(item.truth.category.name),
        subcategory: item.subcategory(),
        strain_type: item.truth.lineage(),
        logo: None,
        thc: OraclePotency::exact(item.truth.thc.number(), item.truth.category),
        cbd: OraclePotency::exact(item.truth.cbd.number(), item.truth.category),
        quantity: item.quantity.map(|quantity| quantity as i32),
        stock_status: stock_status(&item),
        variants: (0..item.sizes.len()).map(|at| variant(&item, at)).collect(),
    };
    Some(listing.row(world, seen))
}

/// A number is more exact than the word beside it.
fn stock_status(item: &LeaflyItem<'_>) -> &'static str {
    match (item.quantity, item.is_in_stock) {
        (Some(0), _) | (None, Some(false)) => "oos",
        (Some(_), _) | (None, Some(true)) => "in_stock",
        (None, None) => "unknown",
    }
}

/// An item that is sold out is so in all sizes; otherwise it has the stock of its own size alone.
fn variant(item: &LeaflyItem<'_>, at: usize) -> OracleVariant {
    let LeaflySize { label, price, .. } = &item.sizes[at];
    let quantity = item.quantity.filter(|quantity| at == item.own || *quantity == 0).map(|quantity| quantity as i32);
    let size = size::stated(label).or(item.net_weight_mg(&item.sizes[at]).map(Size::Mg));
    let (regular, special) = (Some(price.regular.cents()), bargain(*price));
    let [rec, med] = if item.is_medical { [None, Some(())] } else { [Some(()), None] };
    OracleVariant {
        label,
        nth: 0,
        size_mg: size.and_then(Size::mg),
        size_ml: size.and_then(Size::ml),
        price_rec: rec.and(regular),
        price_med: med.and(regular),
        special_price_rec: rec.and(special),
        special_price_med: med.and(special),
        quantity,
        quantity_censored: false,
        is_in_stock: item.truth.active && quantity != Some(0),
    }
}

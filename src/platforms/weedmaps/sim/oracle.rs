//! Weedmaps' part of the oracle: the expected content of a product table after crawls 1 … n of its listings.
//!
//! Computed from the truth about an item, never from a menu. It knows no stock: an item that is on the menu is sold.

use super::goods::{Tier, WeedmapsItem};
use super::listings::wmid;
use crate::catalogue::StoreSeed;
use crate::oracle::listing::{Listing, Seen};
use crate::oracle::{OraclePotency, OracleProduct, OracleStore, OracleVariant};
use crate::potency::Content;
use crate::size::{self, Size};
use crate::world::World;

pub(crate) fn oracle(world: &World, store: &StoreSeed, crawl: u32) -> Option<OracleStore> {
    Some(OracleStore {
        platform_dispensary_id: wmid(store).to_string(),
        products: (0..store.size).filter_map(|index| product(world, store, index, crawl)).collect(),
    })
}

fn product(world: &World, store: &StoreSeed, index: u64, crawl: u32) -> Option<OracleProduct> {
    let (seen, item) = Seen::last(crawl, |crawl| WeedmapsItem::listed(world, store, index, crawl))?;
    let listing = Listing {
        id: item.id.to_string(),
        truth: &item.truth,
        category: Some(item.truth.category.name),
        subcategory: item.subcategory(),
        strain_type: item.truth.lineage(),
        logo: item.truth.logo(),
        thc: potency(&item, item.truth.thc),
        cbd: potency(&item, item.truth.cbd),
        quantity: None,
        stock_status: "unknown",
        variants: variants(&item),
    };
    Some(listing.row(world, seen))
}

/// The options in the menu's order; the same at the same price is one.
fn variants(item: &WeedmapsItem<'_>) -> Vec<OracleVariant> {
    let mut variants: Vec<OracleVariant> = Vec::new();
    for tier in item.tiers() {
        let mut variant = variant(item, &tier);
        let prices = |of: &OracleVariant| (of.price_rec, of.price_med, of.special_price_rec, of.special_price_med);
        let of_label = || variants.iter().filter(|earlier| earlier.label == variant.label);
        if of_label().any(|earlier| prices(earlier) == prices(&variant)) {
            continue;
        }
        variant.nth = of_label().count() as i16;
        variants.push(variant);
    }
    variants
}

fn variant(item: &WeedmapsItem<'_>, tier: &Tier) -> OracleVariant {
    let [is_rec, is_med] = item.buyers();
    let (regular, special) = (tier.price.regular.cents(), tier.special().map(|special| special.cents()));
    let size = size::stated(tier.label).or(item.weight_mg(tier).map(Size::Mg));
    OracleVariant {
        label: tier.label,
        nth: 0,
        size_mg: size.and_then(Size::mg),
        size_ml: size.and_then(Size::ml),
        price_rec: is_rec.then_some(regular),
        price_med: is_med.then_some(regular),
        special_price_rec: special.filter(|_| is_rec),
        special_price_med: special.filter(|_| is_med),
        quantity: None,
        quantity_censored: false,
        is_in_stock: true,
    }
}

fn potency(item: &WeedmapsItem<'_>, content: Content) -> OraclePotency {
    OraclePotency::exact(content.number().filter(|amount| *amount > 0.0), item.truth.category)
}

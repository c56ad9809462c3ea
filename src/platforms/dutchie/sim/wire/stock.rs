//! Stock on the wire: `POSMetaData` (capped, in another order than the options) or `manualInventory`
//! (neither).

use serde::Serialize;

use crate::brand::Naming;
use crate::draw::Draw;
use crate::product::{Offer, Product, Stock};

/// The platform never shows more than this from a till.
pub(crate) const CAP: u32 = 25;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PosMetaData<'a> {
    canonical_brand_name: Option<&'a str>,
    #[serde(rename = "canonicalSKU")]
    canonical_sku: String,
    children: Option<Vec<PosChild>>,
    #[serde(rename = "__typename")]
    typename: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PosChild {
    #[serde(rename = "activeBatchTags")]
    batch_tags: Option<()>,
    #[serde(rename = "canonicalSKU")]
    sku: String,
    option: &'static str,
    quantity: u32,
    quantity_available: Option<u32>,
    kiosk_quantity_available: u32,
    standard_equivalent: Option<()>,
    rec_equivalent: Option<()>,
    #[serde(rename = "__typename")]
    typename: &'static str,
}

#[derive(Serialize)]
pub(crate) struct ManualInventory {
    option: &'static str,
    inventory: u32,
    #[serde(rename = "__typename")]
    typename: &'static str,
}

pub(crate) fn pos<'a>(draw: &mut Draw, product: &Product<'a>) -> Option<PosMetaData<'a>> {
    let tells_nothing = product.stock == Stock::Unknown && draw.percent(30);
    if product.stock != Stock::Pos && !tells_nothing {
        return None;
    }
    let named = product.naming == Naming::Canonical || (product.naming == Naming::Object && draw.percent(50));
    Some(PosMetaData {
        canonical_brand_name: named.then_some(product.brand.name.as_str()),
        canonical_sku: draw.object_id(),
        children: (!tells_nothing).then(|| children(draw, &product.offers)),
        typename: "Products_POSMetaData",
    })
}

/// Next to a till the manual list is a leftover that must be ignored.
pub(crate) fn manual(draw: &mut Draw, product: &Product<'_>) -> Option<Vec<ManualInventory>> {
    let leftover = product.stock == Stock::Pos && draw.percent(10);
    if product.stock != Stock::Manual && !leftover {
        return None;
    }
    let line = |offer: &Offer| ManualInventory {
        option: offer.label,
        inventory: if leftover { 7 } else { offer.units },
        typename: "Products_manualInventory",
    };
    let mut lines: Vec<ManualInventory> = product.offers.iter().map(line).collect();
    reorder(draw, &product.offers, &mut lines);
    Some(lines)
}

fn children(draw: &mut Draw, offers: &[Offer]) -> Vec<PosChild> {
    let renamed = draw.percent(4);
    let mut children: Vec<PosChild> = offers.iter().map(|offer| child(draw, offer, renamed)).collect();
    if !renamed {
        reorder(draw, offers, &mut children);
    }
    children
}

/// `renamed`: its label matches no option, so only its position identifies its option.
fn child(draw: &mut Draw, offer: &Offer, renamed: bool) -> PosChild {
    let shown = offer.units.min(CAP);
    let says_available = draw.percent(90);
    PosChild {
        batch_tags: None,
        sku: draw.object_id(),
        option: if renamed { "each" } else { offer.label },
        // a part of the stock may be promised to other carts
        quantity: if says_available { CAP.min(shown + draw.below(4) as u32) } else { shown },
        quantity_available: says_available.then_some(shown),
        kiosk_quantity_available: shown,
        standard_equivalent: None,
        rec_equivalent: None,
        typename: "Products_POSMetaData_children",
    }
}

/// Lists are joined by label, so their order may differ; labels that repeat keep theirs.
fn reorder<T>(draw: &mut Draw, offers: &[Offer], lines: &mut [T]) {
    let distinct =
        offers.iter().enumerate().all(|(at, offer)| offers[..at].iter().all(|other| other.label != offer.label));
    if distinct && draw.percent(40) {
        draw.shuffle(lines);
    }
}

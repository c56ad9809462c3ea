//! Attributes of an item: its strain, its brand's id, pick-up and delivery. The ratings in an item are its strain's.
//!
//! In: an item. Out: the attributes that it states. It must not know prices.

use super::wire::{Brand, MenuItem};
use crate::platforms::reading::reader::{self, Reader};
use domain::menu::attributes::{Attributes, AttributesJson};

pub fn attributes(item: &MenuItem<'_>, read: &mut Reader<'_>) -> Option<AttributesJson> {
    // a brand may be a text, which has no id
    let brand = item.brand.filter(|raw| raw.get().starts_with('{'));
    let brand: Brand<'_> = read.object(brand, "brand").unwrap_or_default();
    let attributes = Attributes {
        strain_name: read.text(item.strain_name, "strainName"),
        brand_id: reader::key_text(brand.id),
        pickup: read.flag(item.pickup_enabled, "pickupEnabled"),
        delivery: read.flag(item.delivery_enabled, "deliveryEnabled"),
        ..Attributes::default()
    };
    attributes.into_json()
}

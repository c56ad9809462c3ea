//! Leafly's menu page as it comes: every field is kept as raw JSON text.

use serde::Deserialize;

use crate::platforms::reading::Raw;
use crate::platforms::reading::first_of::FirstOf;
use crate::platforms::reading::items::{WireItem, raw_object};

/// Maximum number of items on a page: twenty times as many as are asked for.
pub const MAX_ITEMS: usize = 1000;

/// A whole response body.
#[derive(Deserialize)]
pub struct Answer<'a> {
    #[serde(borrow)]
    pub data: Option<FirstOf<'a, MAX_ITEMS>>,
    #[serde(borrow)]
    pub metadata: Option<Metadata<'a>>,
}

raw_object! {
    #[serde(rename_all = "camelCase")]
    Metadata {
        total_count,
    }
}

raw_object! {
    #[serde(rename_all = "camelCase")]
    MenuItem {
        id, menu_item_id, dispensary_slug, name, brand_name, brand, product_category, sub_category, strain_type,
        strain, thc_content, thc_unit, cbd_content, cbd_unit, in_stock, medical, image_url, thumbnail_url,
        updated_at, variants, price, sort_price, quantity, unit, display_quantity, normalized_quantity_label,
        stock_quantity, deal, strain_name, pickup_enabled, delivery_enabled,
    }
}

impl<'a> WireItem<'a> for MenuItem<'a> {
    fn id(&self) -> Raw<'a> {
        self.id.or(self.menu_item_id)
    }

    fn name(&self) -> Raw<'a> {
        self.name
    }
}

impl<'a> MenuItem<'a> {
    /// The size that the item is by itself.
    pub fn own_size(&self) -> WireSize<'a> {
        WireSize {
            price: self.price,
            sort_price: self.sort_price,
            quantity: self.quantity,
            unit: self.unit,
            display_quantity: self.display_quantity,
            normalized_quantity_label: self.normalized_quantity_label,
            stock_quantity: self.stock_quantity,
            deal: self.deal,
        }
    }
}

raw_object! {
    /// A size in which the item is sold.
    #[serde(rename_all = "camelCase")]
    WireSize {
        price,
        /// The price that is paid.
        sort_price,
        quantity, unit, display_quantity, normalized_quantity_label, stock_quantity, deal,
    }
}

raw_object! {
    Strain {
        category,
    }
}

raw_object! {
    Brand {
        id,
    }
}

raw_object! {
    #[serde(rename_all = "camelCase")]
    Deal {
        id, title, discounted_price, discount_amount, discount_type, start_date, end_date,
    }
}

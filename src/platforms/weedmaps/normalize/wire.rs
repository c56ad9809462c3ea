//! Weedmaps' menu page as it comes: every field is kept as raw JSON text.

use serde::Deserialize;

use crate::platforms::reading::Raw;
use crate::platforms::reading::first_of::FirstOf;
use crate::platforms::reading::items::{WireItem, raw_object};

/// Maximum number of items on a page: ten times as many as are asked for.
pub const MAX_ITEMS: usize = 1000;

/// A whole response body.
#[derive(Deserialize)]
pub struct Answer<'a> {
    #[serde(borrow)]
    pub meta: Option<Meta<'a>>,
    #[serde(borrow)]
    pub data: Option<Data<'a>>,
}

raw_object! {
    Meta {
        total_menu_items,
    }
}

#[derive(Deserialize)]
pub struct Data<'a> {
    #[serde(borrow)]
    pub menu_items: Option<FirstOf<'a, MAX_ITEMS>>,
}

raw_object! {
    MenuItem {
        id, name, license_type, category, edge_category, genetics_tag, tags, brand_endorsement, price, prices,
        metrics, avatar_image, current_deal_title, deal_ids, created_at, updated_at, rating, reviews_count,
    }
}

impl<'a> WireItem<'a> for MenuItem<'a> {
    fn id(&self) -> Raw<'a> {
        self.id
    }

    fn name(&self) -> Raw<'a> {
        self.name
    }
}

raw_object! {
    /// Any object of which the name is all that is read.
    Named {
        name,
    }
}

raw_object! {
    EdgeCategory {
        name,
        /// Categories above it, the top one first.
        ancestors,
    }
}

raw_object! {
    Tag {
        name, tag_group,
    }
}

raw_object! {
    BrandEndorsement {
        brand_id, brand_name, brand_slug, brand_avatar_image_url, product_id, product_slug,
    }
}

raw_object! {
    Metrics {
        aggregates, terpenes,
    }
}

raw_object! {
    Compound {
        code, value, unit,
    }
}

raw_object! {
    /// 0 = unknown.
    Aggregates {
        thc, thc_unit, cbd, cbd_unit,
    }
}

raw_object! {
    AvatarImage {
        original_url, large_url, small_url,
    }
}

raw_object! {
    /// The price of one size. `quantity`, `unit` and `compliance_net_mg` are those of an item's main price.
    Tier {
        label, price, original_price, on_sale, weight, quantity, unit, compliance_net_mg, discount_label,
    }
}

raw_object! {
    Weight {
        value, unit,
    }
}

raw_object! {
    /// Prices by size. Beside them is a number, `grams_per_eighth`, which is no price.
    Prices {
        ounce, gram, unit, half_gram, two_grams, eighth, quarter, half_ounce,
    }
}

impl<'a> Prices<'a> {
    /// The prices in the order of a menu, each with the label of the size that its key names.
    pub fn by_label(&self) -> [(&'static str, Raw<'a>); 8] {
        [
            ("1 oz", self.ounce),
            ("1 g", self.gram),
            ("each", self.unit),
            ("1/2 g", self.half_gram),
            ("2 g", self.two_grams),
            ("1/8 oz", self.eighth),
            ("1/4 oz", self.quarter),
            ("1/2 oz", self.half_ounce),
        ]
    }
}

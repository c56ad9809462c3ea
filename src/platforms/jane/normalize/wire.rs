//! Jane's menu hits as they come: every field is kept as raw JSON text.
//!
//! In: an answer. Out: its hits, each with the fields that are read. It must not know what fields mean.

use serde::Deserialize;

use crate::platforms::reading::Raw;
use crate::platforms::reading::first_of::FirstOf;
use crate::platforms::reading::items::{WireItem, raw_object};

/// Maximum number of hits of an answer: that of the index.
pub const MAX_HITS: usize = 1000;

/// A whole answer of the index.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct Answer<'a> {
    pub hits: Option<FirstOf<'a, MAX_HITS>>,
    pub nb_hits: Raw<'a>,
    pub nb_pages: Raw<'a>,
    /// False: `nb_hits` is an estimate.
    pub exhaustive_nb_hits: Raw<'a>,
    /// Number of hits by facet and value.
    pub facets: Raw<'a>,
}

/// Raw prices of one weight.
#[derive(Clone, Copy, Default)]
pub struct WirePrices<'a> {
    pub regular: Raw<'a>,
    /// Price after the running special.
    pub discounted: Raw<'a>,
    /// The special: an object, in some data the price itself.
    pub special: Raw<'a>,
}

macro_rules! wire_hit {
    (
        fields { $($(#[$attribute:meta])* $field:ident,)* }
        weights { $($regular:ident, $discounted:ident, $special:ident;)* }
    ) => {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        #[serde(bound(deserialize = "'de: 'a"))]
        pub struct WireHit<'a> {
            $($(#[$attribute])* pub $field: Raw<'a>,)*
            $($regular: Raw<'a>, $discounted: Raw<'a>, $special: Raw<'a>,)*
        }

        impl<'a> WireHit<'a> {
            /// Prices in the order of [`WEIGHTS`](super::WEIGHTS).
            pub fn prices(&self) -> [WirePrices<'a>; 8] {
                [$(WirePrices { regular: self.$regular, discounted: self.$discounted, special: self.$special },)*]
            }
        }
    };
}

wire_hit! {
    fields {
        #[serde(rename = "objectID")]
        object_id, product_id, store_id, name, brand, kind, kind_subtype, root_subtype, category, percent_thc, percent_cbd,
        product_percent_thc, product_percent_cbd, inventory_potencies, dosage, amount, net_weight_grams, store_types, special_id,
        special_title, special_amount, applicable_special_ids, applicable_bundle_special_ids, image_urls, product_photos, photos,
        brand_logo_url, strain, terpenes, lab_results, effects, feelings, activities, flavors, aggregate_rating, review_count,
        url_slug, product_brand_id, available_for_pickup, available_for_delivery,
    }
    weights {
        price_half_gram, discounted_price_half_gram, special_price_half_gram;
        price_gram, discounted_price_gram, special_price_gram;
        price_two_gram, discounted_price_two_gram, special_price_two_gram;
        price_eighth_ounce, discounted_price_eighth_ounce, special_price_eighth_ounce;
        price_quarter_ounce, discounted_price_quarter_ounce, special_price_quarter_ounce;
        price_half_ounce, discounted_price_half_ounce, special_price_half_ounce;
        price_ounce, discounted_price_ounce, special_price_ounce;
        price_each, discounted_price_each, special_price_each;
    }
}

impl<'a> WireItem<'a> for WireHit<'a> {
    fn id(&self) -> Raw<'a> {
        self.product_id
    }

    fn other_id(&self) -> Raw<'a> {
        self.object_id
    }

    fn name(&self) -> Raw<'a> {
        self.name
    }
}

raw_object! {
    WireSpecial {
        discount_price,
    }
}

raw_object! {
    WirePotency {
        thc_potency, cbd_potency,
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
#[serde(bound(deserialize = "'de: 'a"))]
pub struct WirePhoto<'a> {
    pub position: Raw<'a>,
    #[serde(borrow)]
    pub urls: Option<WireUrls<'a>>,
}

raw_object! {
    WireUrls {
        original,
    }
}

raw_object! {
    /// The measured compounds of one weight.
    WireLabResults {
        lab_results,
    }
}

raw_object! {
    WireCompound {
        compound_name, value, unit,
    }
}

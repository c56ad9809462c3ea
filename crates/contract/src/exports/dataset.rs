//! `Dataset`: the content of an export, with its columns and filters. Its statements are in the package `db`.

use super::{Column, Kind};
use domain::vocabulary;

vocabulary! {
    /// Content of an export.
    pub enum Dataset {
        /// The published changes of prices, specials, stock and products.
        Changes,
        /// Each change of an option's price, quantity or stock, with its product and store.
        OptionHistory,
        /// Options of products as they are now.
        Options,
        /// Options whose price differs from that of another time, as the page Prices lists them.
        PriceChanges,
        /// Products as their stores list them now.
        Products,
        Stores,
        /// Prices by unit of what is in stock, as the page Prices compares them.
        UnitPrices,
    }
}

/// Columns by name and type; `or null`: a value may be unknown.
macro_rules! columns {
    (@nullable) => { false };
    (@nullable null) => { true };
    ($($name:ident: $kind:ident $(or $null:ident)?;)+) => {
        &[$(Column { name: stringify!($name), kind: Kind::$kind, is_nullable: columns!(@nullable $($null)?) }),+]
    };
}

impl Dataset {
    /// Columns in the order of a file, with the names that `drover_v1` has for the same things. New ones are added at the end, and
    /// none is renamed: programs read the files.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Dataset::Changes => CHANGES,
            Dataset::OptionHistory => OPTION_HISTORY,
            Dataset::Options => OPTIONS,
            Dataset::PriceChanges => PRICE_CHANGES,
            Dataset::Products => PRODUCTS,
            Dataset::Stores => STORES,
            Dataset::UnitPrices => UNIT_PRICES,
        }
    }

    /// Names of the filters that it has.
    pub fn filters(self) -> &'static [&'static str] {
        match self {
            Dataset::Changes => &[
                "since",
                "until",
                "store",
                "group",
                "state",
                "city",
                "platform",
                "brand",
                "category",
                "kind",
                "product",
                "min_percent",
                "min_cents",
                "max_price",
                "max_unit_price",
            ],
            Dataset::OptionHistory => {
                &["since", "until", "store", "group", "state", "city", "platform", "brand", "category"]
            }
            Dataset::Options => &["store", "group", "state", "city", "platform", "brand", "category"],
            Dataset::PriceChanges => &[
                "since",
                "direction",
                "store",
                "group",
                "state",
                "city",
                "platform",
                "brand",
                "category",
                "q",
                "in_stock",
                "on_special",
                "min_price",
                "max_price",
                "max_unit_price",
                "sort",
            ],
            Dataset::Products => &[
                "store",
                "group",
                "state",
                "city",
                "platform",
                "brand",
                "category",
                "q",
                "in_stock",
                "on_special",
                "min_price",
                "max_price",
                "max_unit_price",
            ],
            Dataset::Stores => &["store", "group", "state", "city", "platform"],
            Dataset::UnitPrices => &["by", "unit", "state", "category", "brand", "week"],
        }
    }
}

const CHANGES: &[Column] = columns! {
    seq: Int64;
    n: Int32;
    kind: Text;
    store_id: Int64;
    store: Text;
    city: Text or null;
    state: Text or null;
    product_id: Int64;
    product: Text or null;
    brand: Text or null;
    category: Text or null;
    subcategory: Text or null;
    canonical_category: Text or null;
    option_label: Text or null;
    nth: Int16 or null;
    crawled_at: Timestamp or null;
    cents: Int32 or null;
    percent: Float64 or null;
    old_rec: Int32 or null;
    new_rec: Int32 or null;
    old_med: Int32 or null;
    new_med: Int32 or null;
    old_special_rec: Int32 or null;
    new_special_rec: Int32 or null;
    old_special_med: Int32 or null;
    new_special_med: Int32 or null;
    old_quantity: Int32 or null;
    new_quantity: Int32 or null;
    old_quantity_censored: Bool;
    new_quantity_censored: Bool;
    new_rec_per_g: Int64 or null;
    new_med_per_g: Int64 or null;
    new_rec_per_mg_thc: Int64 or null;
    new_med_per_mg_thc: Int64 or null;
    unit_basis: Text or null;
};

const OPTION_HISTORY: &[Column] = columns! {
    store_id: Int64;
    store: Text;
    state: Text or null;
    product_id: Int64;
    product: Text;
    brand: Text or null;
    category: Text or null;
    subcategory: Text or null;
    option_label: Text;
    nth: Int16;
    crawl_id: Int64;
    crawled_at: Timestamp or null;
    size_mg: Int64 or null;
    size_ml: Float64 or null;
    price_rec: Int32 or null;
    price_med: Int32 or null;
    special_price_rec: Int32 or null;
    special_price_med: Int32 or null;
    quantity: Int32 or null;
    quantity_censored: Bool;
    is_in_stock: Bool;
    gone: Bool;
    rec_per_g: Int64 or null;
    med_per_g: Int64 or null;
    rec_per_ml: Int64 or null;
    med_per_ml: Int64 or null;
    rec_per_mg_thc: Int64 or null;
    med_per_mg_thc: Int64 or null;
    unit_basis: Text or null;
    city: Text or null;
    canonical_category: Text or null;
    price: Int32 or null;
};

const OPTIONS: &[Column] = columns! {
    store_id: Int64;
    store: Text;
    city: Text or null;
    state: Text or null;
    product_id: Int64;
    product: Text;
    brand: Text or null;
    category: Text or null;
    subcategory: Text or null;
    canonical_category: Text or null;
    option_label: Text;
    nth: Int16;
    position: Int16 or null;
    size_mg: Int64 or null;
    size_ml: Float64 or null;
    price: Int32 or null;
    price_rec: Int32 or null;
    price_med: Int32 or null;
    special_price_rec: Int32 or null;
    special_price_med: Int32 or null;
    quantity: Int32 or null;
    quantity_censored: Bool;
    is_in_stock: Bool;
    rec_per_g: Int64 or null;
    med_per_g: Int64 or null;
    rec_per_ml: Int64 or null;
    med_per_ml: Int64 or null;
    rec_per_mg_thc: Int64 or null;
    med_per_mg_thc: Int64 or null;
    thc_mg: Float64 or null;
    unit_basis: Text or null;
    no_unit_price: Text or null;
    no_thc_price: Text or null;
    bundle_quantity: Int32 or null;
    bundle_total: Int32 or null;
    bundle_per_g: Int64 or null;
};

const PRICE_CHANGES: &[Column] = columns! {
    store_id: Int64;
    store: Text;
    city: Text or null;
    state: Text or null;
    product_id: Int64;
    product: Text;
    brand: Text or null;
    category: Text or null;
    canonical_category: Text or null;
    option_label: Text;
    nth: Int16;
    is_in_stock: Bool;
    since: Timestamp or null;
    price_before: Int32;
    price: Int32;
    cents: Int32;
    percent: Float64 or null;
    unit: Text or null;
    unit_price_before: Int64 or null;
    unit_price: Int64 or null;
    changed_at: Timestamp or null;
};

const PRODUCTS: &[Column] = columns! {
    store_id: Int64;
    store: Text;
    city: Text or null;
    state: Text or null;
    product_id: Int64;
    product: Text;
    brand: Text or null;
    category: Text or null;
    subcategory: Text or null;
    canonical_category: Text or null;
    strain_type: Text or null;
    price: Int32 or null;
    price_rec: Int32 or null;
    price_med: Int32 or null;
    special_price_rec: Int32 or null;
    special_price_med: Int32 or null;
    is_on_special: Bool;
    quantity: Int32 or null;
    quantity_censored: Bool;
    is_in_stock: Bool;
    stock_status: Text;
    consecutive_misses: Int16;
    thc_min: Float64 or null;
    thc_max: Float64 or null;
    thc_unit: Text or null;
    cbd_min: Float64 or null;
    cbd_max: Float64 or null;
    cbd_unit: Text or null;
    image_url: Text or null;
    platform: Text;
    provider_product_id: Text;
    enterprise_product_id: Text or null;
    first_seen_at: Timestamp or null;
    last_seen_at: Timestamp or null;
    updated_at: Timestamp or null;
    rec_per_g: Int64 or null;
    med_per_g: Int64 or null;
    rec_per_mg_thc: Int64 or null;
    med_per_mg_thc: Int64 or null;
    unit_basis: Text or null;
};

/// `groups`: names with semicolons between them, as lists of stores are imported.
const STORES: &[Column] = columns! {
    store_id: Int64;
    store: Text;
    platform: Text;
    platform_dispensary_id: Text or null;
    slug: Text or null;
    menu_url: Text or null;
    address: Text or null;
    city: Text or null;
    state: Text or null;
    zip: Text or null;
    latitude: Float64 or null;
    longitude: Float64 or null;
    phone: Text or null;
    timezone: Text or null;
    is_recreational: Bool or null;
    is_medical: Bool or null;
    groups: Text;
    crawl_enabled: Bool;
    last_crawl_at: Timestamp or null;
    last_complete_at: Timestamp or null;
    last_coverage: Float64 or null;
    products: Int64;
    in_stock: Int64;
    on_special: Int64;
    created_at: Timestamp or null;
};

/// `week`: its Monday. `share`: of the menus of the state, from 0 to 1.
const UNIT_PRICES: &[Column] = columns! {
    week: Text;
    state: Text or null;
    category: Text or null;
    brand: Text or null;
    stores: Int32;
    share: Float64;
    unit: Text;
    options: Int32;
    price_min: Int64 or null;
    price_p25: Int64 or null;
    price_median: Int64 or null;
    price_p75: Int64 or null;
    price_max: Int64 or null;
};

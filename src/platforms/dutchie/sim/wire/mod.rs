//! How upstream writes things down: the JSON of products and dispensaries, and the envelopes around them.
//!
//! In: the truth (`Product`, `StoreSeed`). Out: types that serialise to the platform's shapes, with its
//! inconsistencies.

pub(crate) mod answer;
pub(crate) mod dispensary;
mod potency;
pub(crate) mod product;
mod specials;
mod stock;

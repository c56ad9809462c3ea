//! Products, matched for single cases and for any listings.

mod cases;
mod properties;
mod support;

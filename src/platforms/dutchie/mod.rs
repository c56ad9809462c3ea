//! Dutchie.

pub mod normalize;

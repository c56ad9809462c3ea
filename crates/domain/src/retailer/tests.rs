//! Retailers, proposed for stores of an invented state, for single cases, and for any text.

mod accuracy;
mod cases;
mod properties;
mod state;

//! How a statement is written: its file, names for its values, types that the server knows, rows that Rust reads, and
//! tables into which many rows are written at once. It must not know how a statement is sent.

pub mod generated;

pub(crate) mod arrays;
pub(crate) mod columns;
pub(crate) mod file;
pub(crate) mod named;
pub(crate) mod numbered;
pub(crate) mod row;
pub(crate) mod sql_type;
pub(crate) mod storable;

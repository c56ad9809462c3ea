//! How a statement is written: its file, names for its values, types that the server knows, rows that Rust reads, and
//! tables into which many rows are written at once. It must not know how a statement is sent.

pub mod generated;

mod arrays;
mod columns;
mod file;
mod micros;
mod named;
mod numbered;
mod row;
mod sql_type;
mod storable;

pub(crate) use arrays::{column, potency_max, potency_min, potency_unit};
pub(crate) use columns::{Array, Column, Columns, array, columns, copy_statement, update_rows, update_statement};
pub(crate) use file::sql;
pub(crate) use micros::Micros;
pub(crate) use named::{NamedValues, named, named_values};
pub(crate) use numbered::{Source, Text, numbered};
pub(crate) use row::{
    FromRow, document, first_column, first_columns, json, known_word, optional_json, optional_word, page, parsed,
    read_all, rows, word,
};
pub(crate) use sql_type::typed;
pub(crate) use storable::{reason, storable};

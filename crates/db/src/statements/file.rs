//! `sql!`: a statement as its file below `sql/` has it.

/// The text of a file: `sql!("stores/groups/list.sql")`. Statements of four or more values use
/// [`named!`](super::named!), which finds files the same.
macro_rules! sql {
    ($file:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/sql/", $file))
    };
}

pub(crate) use sql;

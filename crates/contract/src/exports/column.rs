//! `Column`: the name and type of a column of a file.

/// Type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Int16,
    Int32,
    Int64,
    Float64,
    Text,
    Bool,
    /// Microseconds of UTC since 1970; text formats write RFC 3339.
    Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
    pub is_nullable: bool,
}

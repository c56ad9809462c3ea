//! Reading rows: a value that Rust cannot decode is an error of its row, never a panic.
//!
//! The database holds values that Rust cannot: infinite and far dates, numbers and nesting of JSON beyond the
//! decoder's limits. A struct that is read from rows implements [`FromRow`]: by [`rows!`] where its fields
//! are columns, else by `try_get`. `Row::get` panics and is not used.
//!
//! A reader is a function from a row and a column to a value or an error, such as [`word`].

use std::fmt::Display;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde_json::Value;
use strum::VariantArray;
use tokio_postgres::Row;
use tokio_postgres::row::RowIndex;
use tokio_postgres::types::{FromSqlOwned, Json};

use crate::DbError;
use domain::vocabulary::{self, Word};

/// A value read from one row of a statement.
pub trait FromRow: Sized {
    fn from_row(row: &Row) -> Result<Self, DbError>;
}

/// Implements [`FromRow`] for structs. The text after a field names its column or reader:
///
/// ```text
/// rows! {
///     ProductView {
///         id, state,                  // the column with the field's name
///         name: "name_raw",           // a column with another name
///         role: word,                 // the reader `word`, of the column with the field's name
///         platform: word("provider"), // the reader `word`, of a column with another name
///         offer: row,                 // a struct whose columns are in the same row
///         options = Vec::new(),       // no column: this value
///     }
/// }
/// ```
macro_rules! rows {
    (@read $row:ident $field:ident = $value:expr) => { $value };
    (@read $row:ident $field:ident) => { $row.try_get(stringify!($field))? };
    (@read $row:ident $field:ident row) => { $crate::statements::FromRow::from_row($row)? };
    (@read $row:ident $field:ident $column:literal) => { $row.try_get($column)? };
    (@read $row:ident $field:ident $reader:ident) => { $reader($row, stringify!($field))? };
    (@read $row:ident $field:ident $reader:ident($column:literal)) => { $reader($row, $column)? };
    ($($name:ident { $($field:ident $(: $source:tt $(($column:literal))?)? $(= $value:expr)?),+ $(,)? })+) => {$(
        impl $crate::statements::FromRow for $name {
            fn from_row(row: &tokio_postgres::Row) -> Result<Self, $crate::DbError> {
                Ok(Self {
                    $($field: $crate::statements::rows!(@read row $field $($source $(($column))?)? $(= $value)?)),+
                })
            }
        }
    )+};
}

pub(crate) use rows;

/// All rows, or the error of the first that cannot be read.
pub fn read_all<T: FromRow>(rows: &[Row]) -> Result<Vec<T>, DbError> {
    rows.iter().map(T::from_row).collect()
}

/// The value of the only (or first) column.
pub fn first_column<T: FromSqlOwned>(row: &Row) -> Result<T, DbError> {
    Ok(row.try_get(0)?)
}

/// The value of the only (or first) column of each row.
pub fn first_columns<T: FromSqlOwned>(rows: &[Row]) -> Result<Vec<T>, DbError> {
    rows.iter().map(first_column).collect()
}

/// A column that holds a word of the program, such as the name of a role.
pub fn parsed<T: FromStr<Err: Display>>(row: &Row, column: impl RowIndex + Display) -> Result<T, DbError> {
    row.try_get::<_, &str>(column)?.parse().map_err(|unknown: T::Err| DbError::Other(unknown.to_string()))
}

/// A column that holds a word of `T` alone.
pub fn known_word<T: VariantArray + Copy + Into<&'static str>>(row: &Row, column: &str) -> Result<T, DbError> {
    let text: &str = row.try_get(column)?;
    vocabulary::find(text).ok_or_else(|| DbError::Other(format!("{column} is '{text}', a word from a newer program")))
}

/// A column that holds a word of `T`, or of a newer program.
pub fn word<T: VariantArray + Copy + Into<&'static str>>(row: &Row, column: &str) -> Result<Word<T>, DbError> {
    Ok(row.try_get::<_, String>(column)?.into())
}

/// Same as [`word`], for a column that may be NULL.
pub fn optional_word<T>(row: &Row, column: &str) -> Result<Option<Word<T>>, DbError>
where
    T: VariantArray + Copy + Into<&'static str>,
{
    Ok(row.try_get::<_, Option<String>>(column)?.map(Word::from))
}

/// The rows of a page, and its last row if another page follows. The query asked for one row more than
/// `limit`.
pub fn page(rows: &[Row], limit: i64) -> (&[Row], Option<&Row>) {
    let limit = usize::try_from(limit).unwrap_or_default();
    let shown = &rows[..rows.len().min(limit)];
    (shown, shown.last().filter(|_| rows.len() > limit))
}

/// A document of JSON. A document beyond the decoder's limits (a number beyond f64, 1,000 levels) must not
/// hide its row.
pub fn json(row: &Row, column: &str) -> Result<Value, DbError> {
    Ok(optional_json(row, column)?.unwrap_or_default())
}

/// Same as [`json`], for a column that may be NULL.
pub fn optional_json(row: &Row, column: &str) -> Result<Option<Value>, DbError> {
    Ok(row.try_get(column).unwrap_or_else(|error| Some(Value::String(format!("cannot be shown: {error}")))))
}

/// A document of JSON as a type; one that does not fit the type is an error.
pub fn document<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T, DbError> {
    Ok(row.try_get::<_, Json<T>>(column)?.0)
}

//! The columns of the tables into which many rows are written at once: one line each, with name, type and
//! value.
//!
//! [`columns!`] makes the statements' parts from these lines: the names in COPY, the encoder of its rows, and
//! the arrays and assignments of an update. No column is counted; a new column is a new line.

use tokio_postgres::types::ToSql;

use super::arrays::column;
use crate::connection::copy::{CopyEncoder, EncodeError};
use crate::{DbError, MAX_BATCH, Tx};

/// A column: its name, and the name of its type.
pub type Column = (&'static str, &'static str);

/// The values of one column in many rows.
pub type Array<'r> = Box<dyn ToSql + Sync + Send + 'r>;

/// A struct that is written to one row of a table. [`columns!`] implements it.
pub trait Columns: Sized {
    /// Values that all rows of one COPY share.
    type Common;

    const TABLE: &'static str;
    /// Columns by which an update finds its row.
    const KEY: &'static [Column];
    /// Columns that are set in a new row, and that an update leaves alone.
    const NEW: &'static [Column];
    /// Columns that are set in a new row, and that an update sets too.
    const SET: &'static [Column];

    /// Encodes the values of all columns: the key, then `NEW`, then `SET`.
    fn encode(&self, encoder: &mut CopyEncoder, common: &Self::Common) -> Result<(), EncodeError>;

    /// The arrays of an update: the key, then `SET`.
    fn arrays(rows: &[Self]) -> Vec<Array<'_>>;
}

/// Implements [`Columns`] for a table. Its arguments: the table, a name for the row, a name for the values
/// that all rows share, and the columns. The types are the constants of
/// [`Type`](tokio_postgres::types::Type).
///
/// ```text
/// columns! {
///     "store_products", w: ProductWrite<'_>, all: NewProducts;
///     key { id: INT8 = w.id }
///     new { first_seen_at: TIMESTAMPTZ = all.fetched_at }
///     set { name_raw: TEXT = &w.product.name_raw, quantity: INT4 = w.product.quantity }
/// }
/// ```
///
/// Only columns of `new` may use the shared values. Without any it is `_: ()`.
macro_rules! columns {
    (
        $table:literal, $row:tt: $row_type:ty, $common:tt: $common_type:ty;
        $(key { $($key:ident: $key_type:ident = $key_value:expr),+ $(,)? })?
        $(new { $($new:ident: $new_type:ident = $new_value:expr),+ $(,)? })?
        $(set { $($set:ident: $set_type:ident = $set_value:expr),+ $(,)? })?
    ) => {
        // a table may lack a group, and with it the use of a variable
        #[allow(unused_variables)]
        impl $crate::statements::Columns for $row_type {
            type Common = $common_type;

            const TABLE: &'static str = $table;
            const KEY: &'static [$crate::statements::Column] =
                &[$($((stringify!($key), stringify!($key_type))),+)?];
            const NEW: &'static [$crate::statements::Column] =
                &[$($((stringify!($new), stringify!($new_type))),+)?];
            const SET: &'static [$crate::statements::Column] =
                &[$($((stringify!($set), stringify!($set_type))),+)?];

            fn encode(
                &self,
                encoder: &mut $crate::connection::copy::CopyEncoder,
                common: &Self::Common,
            ) -> Result<(), $crate::connection::copy::EncodeError> {
                let ($row, $common) = (self, common);
                $($(encoder.value(&$key_value, &tokio_postgres::types::Type::$key_type)?;)+)?
                $($(encoder.value(&$new_value, &tokio_postgres::types::Type::$new_type)?;)+)?
                $($(encoder.value(&$set_value, &tokio_postgres::types::Type::$set_type)?;)+)?
                Ok(())
            }

            fn arrays(rows: &[Self]) -> Vec<$crate::statements::Array<'_>> {
                vec![
                    $($($crate::statements::array(rows, |$row| $key_value),)+)?
                    $($($crate::statements::array(rows, |$row| $set_value),)+)?
                ]
            }
        }
    };
}

pub(crate) use columns;

/// The result of `value` for each row.
pub fn array<'r, T, C>(rows: &'r [T], value: impl Fn(&'r T) -> C) -> Array<'r>
where
    C: ToSql + Sync + Send + 'r,
{
    Box::new(column(rows, value))
}

/// The COPY statement of all columns.
pub fn copy_statement<R: Columns>() -> String {
    let names = list(&[R::KEY, R::NEW, R::SET].concat(), |name, _| name.to_owned());
    format!("COPY {} ({names}) FROM STDIN (FORMAT binary)", R::TABLE)
}

/// Fills the template of an update: `{set}` becomes the assignments, `{arrays}` the parameters of `unnest`,
/// and `{names}` their names. The arrays are numbered after the parameters in the template's own text.
pub fn update_statement<R: Columns>(template: &str) -> String {
    let given = [R::KEY, R::SET].concat();
    let mut number = (1..).take_while(|number| template.contains(&format!("${number}"))).count();
    let arrays = list(&given, |_, type_| {
        number += 1;
        format!("${number}::{type_}[]")
    });
    template
        .replace("{set}", &list(R::SET, |name, _| format!("{name} = f.{name}")))
        .replace("{arrays}", &arrays)
        .replace("{names}", &list(&given, |name, _| name.to_owned()))
}

/// The results of `write` for the name and the type of each column, separated by commas.
fn list(columns: &[Column], mut write: impl FnMut(&str, &str) -> String) -> String {
    columns.iter().map(|&(name, type_)| write(name, type_)).collect::<Vec<_>>().join(", ")
}

/// Runs an update that [`update_statement`] made, for all rows. `first` holds the values of the template's
/// own parameters.
pub async fn update_rows<R: Columns>(
    tx: &Tx,
    statement: &str,
    first: &[&(dyn ToSql + Sync)],
    rows: &[R],
) -> Result<(), DbError> {
    for batch in rows.chunks(MAX_BATCH) {
        let arrays = R::arrays(batch);
        let mut values = first.to_vec();
        values.extend(arrays.iter().map(|array| &**array as &(dyn ToSql + Sync)));
        tx.execute(statement, &values).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Line {
        id: i64,
        text: String,
        is_last: bool,
    }

    columns! {
        "lines", line: Line, author: i32;
        key { id: INT8 = line.id }
        new { author: INT4 = author }
        set { text: TEXT = &line.text, is_last: BOOL = line.is_last }
    }

    #[test]
    fn statements_name_the_columns() {
        assert_eq!(copy_statement::<Line>(), "COPY lines (id, author, text, is_last) FROM STDIN (FORMAT binary)");
        let update = update_statement::<Line>("SET at = $1, {set} FROM unnest({arrays}) AS f ({names})");
        let expected = "SET at = $1, text = f.text, is_last = f.is_last \
                        FROM unnest($2::INT8[], $3::TEXT[], $4::BOOL[]) AS f (id, text, is_last)";
        assert_eq!(update, expected);
    }

    #[test]
    fn an_update_gives_an_array_for_each_name() {
        let lines = [Line { id: 1, text: "first".to_owned(), is_last: false }];
        assert_eq!(Line::arrays(&lines).len(), Line::KEY.len() + Line::SET.len());
    }
}

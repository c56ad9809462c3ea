//! `ExportRow`: a row of a dataset, whose values are read by the numbers of its columns.

use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::DbError;
use crate::statements::Micros;
use contract::exports::Column;

/// A row with its head, such as an option with its product.
#[derive(Clone, Copy)]
pub struct ExportRow<'a> {
    head: &'a Row,
    row: &'a Row,
    places: &'a Places,
}

/// Places of the columns of an export: there are millions of rows, and to find a value by its name takes longer than to read it.
pub struct Places(Vec<Place>);

#[derive(Clone, Copy)]
enum Place {
    Head(usize),
    Row(usize),
}

impl Places {
    pub fn find(columns: &[Column], head: &Row, row: &Row) -> Result<Places, DbError> {
        columns.iter().map(|column| Place::find(column.name, head, row)).collect::<Result<_, _>>().map(Places)
    }
}

impl Place {
    fn find(name: &str, head: &Row, row: &Row) -> Result<Place, DbError> {
        let of = |row: &Row| row.columns().iter().position(|column| column.name() == name);
        let found = of(row).map(Place::Row).or_else(|| of(head).map(Place::Head));
        found.ok_or_else(|| DbError::Other(format!("an export has no column {name}")))
    }
}

impl<'a> ExportRow<'a> {
    pub(super) fn new(head: &'a Row, row: &'a Row, places: &'a Places) -> ExportRow<'a> {
        ExportRow { head, row, places }
    }

    /// Value of the column with this number; None: unknown.
    pub fn cell<T: FromSql<'a>>(&self, column: usize) -> Result<Option<T>, DbError> {
        match self.places.0.get(column) {
            Some(Place::Row(place)) => Ok(self.row.try_get(*place)?),
            Some(Place::Head(place)) => Ok(self.head.try_get(*place)?),
            None => Err(DbError::Other(format!("an export has no column {column}"))),
        }
    }

    /// A time, in microseconds of UTC since 1970.
    pub fn time(&self, column: usize) -> Result<Option<i64>, DbError> {
        Ok(self.cell::<Micros>(column)?.map(Micros::since_1970))
    }
}

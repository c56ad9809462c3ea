//! Rows of exports, read whole in chunks. Reads only.
//!
//! In: a dataset and a filter. Out: its rows, in chunks. A chunk is a transaction of its own, which reads some *heads* (stores,
//! products, or crawls with changes) and then the rows of each: no snapshot lasts as long as an export, and the texts that the rows
//! of a head share are read once.

mod answers;
mod row;
mod rows;
mod walk;

use std::ops::ControlFlow;

use tokio_postgres::Row;

pub use row::ExportRow;
use row::Places;
use rows::RowKey;
use walk::Walk;

use crate::statements::{first_column, sql};
use crate::{Db, DbError, Tx};
use contract::exports::{Column, Dataset, ExportQuery};

/// Maximum number of rows of a chunk.
const MAX_ROWS: usize = 50_000;
/// Number of rows that a chunk should have.
const WANTED_ROWS: usize = 25_000;
/// Maximum number of heads of a chunk.
const MAX_HEADS: usize = 1000;
/// Number of heads of the first chunk, before it is known how many rows one has.
const FIRST_HEADS: usize = 100;

/// An export's position in its dataset.
pub struct ExportRows {
    dataset: Dataset,
    query: ExportQuery,
    columns: Vec<Column>,
    walk: Walk,
    /// Heads whose rows are being read.
    heads: Vec<Row>,
    /// The last row that was read, if the first of `heads` may have more.
    last_row: Option<RowKey>,
    /// Number of heads of the next chunk.
    next_heads: usize,
}

/// End of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkEnd {
    /// There may be more rows.
    More {
        /// Whether other connections were at work when the chunk ended.
        is_server_busy: bool,
    },
    /// All rows were read.
    Whole,
}

impl ExportRows {
    pub fn new(dataset: Dataset, query: ExportQuery, columns: Vec<Column>) -> ExportRows {
        let walk = Walk::of(dataset, &query);
        ExportRows { dataset, query, columns, walk, heads: Vec::new(), last_row: None, next_heads: FIRST_HEADS }
    }

    /// Passes the rows of the next chunk to `read`, which may break the chunk off after any row; the next one goes on there.
    /// A chunk may be empty.
    pub async fn read_chunk(
        &mut self,
        db: &Db,
        read: impl FnMut(&ExportRow<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<ChunkEnd, DbError> {
        let tx = db.api_snapshot().await?;
        if self.heads.is_empty() {
            let Some(heads) = self.walk.next(&tx, &self.query, self.next_heads as i64).await? else {
                return Ok(ChunkEnd::Whole);
            };
            self.heads = heads;
        }
        match self.walk {
            _ if self.heads.is_empty() => {}
            Walk::Answers(_) => self.read_answer(read)?,
            _ => self.read_rows(&tx, read).await?,
        }
        let busy = tx.query_one(sql!("exports/is_server_busy.sql"), &[]).await?;
        Ok(ChunkEnd::More { is_server_busy: first_column(&busy)? })
    }

    /// Passes the heads themselves, which are whole rows.
    fn read_answer(
        &mut self,
        mut read: impl FnMut(&ExportRow<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), DbError> {
        let Some(first) = self.heads.first() else { return Ok(()) };
        let places = Places::find(&self.columns, first, first)?;
        let mut done = 0;
        for row in &self.heads {
            done += 1;
            if read(&ExportRow::new(row, row, &places))?.is_break() {
                break;
            }
        }
        self.heads.drain(..done);
        Ok(())
    }

    async fn read_rows(
        &mut self,
        tx: &Tx,
        mut read: impl FnMut(&ExportRow<'_>) -> Result<ControlFlow<()>, DbError>,
    ) -> Result<(), DbError> {
        let (mut rows, mut place, mut last, mut places) = (0, 0, None, None);
        let each = |row: &Row| {
            // the plan keeps the order of the heads: a file that is out of order must not look whole
            let at = place_of(row)?;
            if at < place {
                return Err(DbError::Other("an export was not read in the order of its heads".to_owned()));
            }
            (rows, place) = (rows + 1, at);
            let head = self.heads.get(place).ok_or_else(|| DbError::Other(format!("an export has no head {place}")))?;
            let places = match &mut places {
                Some(places) => places,
                none => none.insert(Places::find(&self.columns, head, row)?),
            };
            let flow = read(&ExportRow::new(head, row, places))?;
            if rows == MAX_ROWS || flow.is_break() {
                last = Some(RowKey::of(self.dataset, row)?);
            }
            Ok(flow)
        };
        self.read_heads(tx, each).await?;
        self.next_heads = fitting(place + 1, self.heads.len(), rows, last.is_some());
        match last {
            Some(_) => drop(self.heads.drain(..place)),
            None => self.heads.clear(),
        }
        self.last_row = last;
        Ok(())
    }
}

/// Number of the row's head in the chunk, from 0: the first column of each statement.
fn place_of(row: &Row) -> Result<usize, DbError> {
    let place: i64 = row.try_get(0)?;
    usize::try_from(place - 1).map_err(|error| DbError::Other(error.to_string()))
}

async fn pin_plans(tx: &Tx) -> Result<(), DbError> {
    tx.query_one(sql!("exports/pin_plans.sql"), &[]).await.map(drop)
}

/// Number of heads whose rows make a chunk of the wanted size. `done`: those that had the rows, of `asked`. A chunk that was cut may
/// have been too large in bytes, so the next one is no larger.
fn fitting(done: usize, asked: usize, rows: usize, is_cut: bool) -> usize {
    let (heads, most) = if is_cut { (done, done) } else { (asked, 4 * asked) };
    (heads * WANTED_ROWS / rows.max(1)).clamp(1, most.min(MAX_HEADS))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::as_wanted(100, 100, 25_000, false, 100)]
    #[case::too_few_rows(100, 100, 12_500, false, 200)]
    #[case::without_rows(1, 100, 0, false, 400)]
    #[case::never_more_than_the_maximum(1, 900, 10, false, MAX_HEADS)]
    #[case::cut_at_the_half(50, 100, MAX_ROWS, true, 25)]
    #[case::cut_by_long_texts(50, 100, 800, true, 50)]
    #[case::one_head_is_too_much(1, 1, MAX_ROWS, true, 1)]
    fn a_chunk_has_as_many_heads_as_fit(
        #[case] done: usize,
        #[case] asked: usize,
        #[case] rows: usize,
        #[case] is_cut: bool,
        #[case] next: usize,
    ) {
        assert_eq!(fitting(done, asked, rows, is_cut), next);
    }
}

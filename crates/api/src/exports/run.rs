//! `Export`: reads chunks of rows, encodes them and sends them, until all are sent or the client has gone.
//!
//! While one chunk is encoded and sent, the next one is read. No connection to the database is held while a client is
//! slow. Beside other work of the database, an export reads for a part of the time only.

use std::ops::ControlFlow;
use std::time::Duration;

use thiserror::Error;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::super::ApiState;
use super::pieces::{self, PieceSender, Pieces};
use contract::exports::{Column, Dataset, ExportQuery, Kind};
use db::exports::{ChunkEnd, ExportRow, ExportRows};
use db::{Db, DbError};
use export::{Chunk, Encoder, ExportError, Value};
use foundation::cpu;
use telemetry::events;

/// Size of the texts at which a chunk ends.
const MAX_CHUNK_TEXT: usize = 8 << 20;

/// Time from one chunk to the next on a busy server, in times that the chunk took.
const BUSY_PACE: u32 = 8;
/// Maximum time from one chunk to the next, unless the chunk takes longer.
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Reason why a file is not whole.
#[derive(Debug, Error)]
pub enum ExportFault {
    #[error(transparent)]
    Db(#[from] DbError),
    #[error(transparent)]
    Encode(#[from] ExportError),
    #[error("its client read nothing for {limit:?}", limit = .0)]
    Stalled(Duration),
    /// The client has ended the connection.
    #[error("its client has gone")]
    Gone,
    #[error("the server stops")]
    Stopped,
}

/// An export before its first row.
pub struct Export {
    source: Source,
    encoder: Encoder,
    stop: CancellationToken,
}

/// Rows of the database.
struct Source {
    db: Db,
    rows: ExportRows,
    columns: Vec<Column>,
    /// Earliest time of the next chunk.
    next_at: Instant,
}

impl Export {
    pub fn new(api: ApiState, dataset: Dataset, query: ExportQuery, columns: Vec<Column>, encoder: Encoder) -> Export {
        let rows = ExportRows::new(dataset, query, columns.clone());
        let source = Source { db: api.db.clone(), rows, columns, next_at: Instant::now() };
        Export { source, encoder, stop: api.stop.clone() }
    }

    /// Reads the first chunk, and leaves the rest to a task of its own, which ends with its client, the server or a fault.
    /// `place`: kept until then.
    pub async fn begin(mut self, place: OwnedSemaphorePermit) -> Result<Pieces, DbError> {
        let first = self.source.next().await?;
        let (sender, pieces) = pieces::channel();
        tokio::spawn(async move {
            let _place = place;
            let stop = self.stop;
            let ended = tokio::select! {
                ended = send_all(self.source, self.encoder, first, &sender) => ended,
                () = sender.closed() => Err(ExportFault::Gone),
                () = stop.cancelled() => Err(ExportFault::Stopped),
            };
            match ended {
                Ok(()) | Err(ExportFault::Gone | ExportFault::Stopped) => {}
                Err(fault) => events::export_failed(&fault),
            }
        });
        Ok(pieces)
    }
}

async fn send_all(
    mut source: Source,
    mut encoder: Encoder,
    first: Option<Chunk>,
    sender: &PieceSender,
) -> Result<(), ExportFault> {
    let (mut chunk, mut rows) = (first, 0);
    while let Some(full) = chunk {
        rows += full.rows() as u64;
        let next = async { Ok(source.next().await?) };
        (chunk, encoder) = tokio::try_join!(next, send(encoder, full, sender))?;
        tokio::time::sleep_until(source.next_at).await;
    }
    sender.send(cpu::run(|| encoder.finish()).await?).await?;
    sender.end(rows).await
}

async fn send(mut encoder: Encoder, chunk: Chunk, sender: &PieceSender) -> Result<Encoder, ExportFault> {
    let (encoder, bytes) = cpu::run(move || {
        let bytes = encoder.write(chunk);
        (encoder, bytes)
    })
    .await;
    sender.send(bytes?).await?;
    Ok(encoder)
}

impl Source {
    /// The next chunk, which may be empty; None at the end.
    async fn next(&mut self) -> Result<Option<Chunk>, DbError> {
        let begun = Instant::now();
        let mut chunk = Chunk::new(&self.columns);
        let columns = &self.columns;
        let read = |row: &ExportRow<'_>| {
            let values: Vec<Value<'_>> = columns
                .iter()
                .enumerate()
                .map(|(nth, column)| value(row, nth, column.kind))
                .collect::<Result<_, _>>()?;
            chunk.push(values).map_err(|error| DbError::Other(error.to_string()))?;
            let is_full = chunk.text_bytes() >= MAX_CHUNK_TEXT;
            Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        match self.rows.read_chunk(&self.db, read).await? {
            ChunkEnd::More { is_server_busy } => {
                let pace = if is_server_busy { BUSY_PACE } else { 1 };
                self.next_at = begun + (begun.elapsed() * pace).min(MAX_PAUSE);
                Ok(Some(chunk))
            }
            ChunkEnd::Whole => Ok(None),
        }
    }
}

/// Value of the column with this number.
fn value<'a>(row: &ExportRow<'a>, column: usize, kind: Kind) -> Result<Value<'a>, DbError> {
    Ok(match kind {
        Kind::Int16 => row.cell::<i16>(column)?.into(),
        Kind::Int32 => row.cell::<i32>(column)?.into(),
        Kind::Int64 => row.cell::<i64>(column)?.into(),
        Kind::Float64 => row.cell::<f64>(column)?.into(),
        Kind::Text => row.cell::<&str>(column)?.into(),
        Kind::Bool => row.cell::<bool>(column)?.into(),
        Kind::Timestamp => row.time(column)?.map_or(Value::Null, Value::Timestamp),
    })
}

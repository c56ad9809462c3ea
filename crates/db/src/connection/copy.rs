//! Writes rows into a table by binary COPY, in messages of bounded size.
//!
//! In: rows with declared columns ([`Columns`]). Out: the number that the server took. COPY checks no
//! conflict: a row that violates a constraint fails the statement.

use std::error::Error;

use bytes::{BufMut, Bytes, BytesMut};
use deadpool_postgres::Object;
use futures_util::SinkExt;
use tokio_postgres::Statement;
use tokio_postgres::types::{IsNull, ToSql, Type};

use crate::statements::{Columns, copy_statement};
use crate::{DbError, Tx};

/// A message is sent once it has this length, so it is longer by one row at most.
const MESSAGE_BYTES: usize = 32 << 10;
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";
const END: i16 = -1;

pub type EncodeError = Box<dyn Error + Sync + Send>;

/// Encodes rows into the next message.
pub struct CopyEncoder {
    message: BytesMut,
}

impl CopyEncoder {
    fn new() -> CopyEncoder {
        let mut message = BytesMut::with_capacity(MESSAGE_BYTES + 4096);
        message.put_slice(SIGNATURE);
        message.put_i32(0); // flags
        message.put_i32(0); // no extension of the header
        CopyEncoder { message }
    }

    fn row<R: Columns>(&mut self, row: &R, common: &R::Common) -> Result<(), EncodeError> {
        let columns = R::KEY.len() + R::NEW.len() + R::SET.len();
        self.message.put_i16(i16::try_from(columns)?);
        row.encode(self, common)
    }

    /// Appends the value of the row's next column.
    pub fn value(&mut self, value: &(dyn ToSql + Sync), type_: &Type) -> Result<(), EncodeError> {
        let start = self.message.len();
        self.message.put_i32(-1); // the length of a null
        if let IsNull::No = value.to_sql_checked(type_, &mut self.message)? {
            let length = i32::try_from(self.message.len() - start - size_of::<i32>())?;
            self.message[start..start + size_of::<i32>()].copy_from_slice(&length.to_be_bytes());
        }
        Ok(())
    }
}

/// Appends `rows` by COPY, encoded one by one; without rows nothing is sent. All rows share the values of
/// `common`. The whole is in a transaction, because it takes several messages.
pub async fn copy_in<R: Columns>(tx: &Tx, common: &R::Common, rows: &[R]) -> Result<u64, DbError> {
    if rows.is_empty() {
        return Ok(0);
    }
    let sql = copy_statement::<R>();
    tx.within(async |object| {
        let statement = match tx.is_pooled() {
            // closed with the end of this call, so before the end of its transaction
            true => object.prepare(&sql).await?,
            false => object.prepare_cached(&sql).await?,
        };
        send(object, &statement, common, rows).await
    })
    .await
}

async fn send<R: Columns>(
    object: &Object,
    statement: &Statement,
    common: &R::Common,
    rows: &[R],
) -> Result<u64, DbError> {
    let mut sink = Box::pin(object.copy_in::<_, Bytes>(statement).await?);
    let mut encoder = CopyEncoder::new();
    for row in rows {
        encoder.row(row, common).map_err(|error| DbError::Other(format!("a row for COPY: {error}")))?;
        if encoder.message.len() >= MESSAGE_BYTES {
            sink.feed(encoder.message.split().freeze()).await?;
        }
    }
    encoder.message.put_i16(END);
    // not flushed, so that it leaves together with the end
    sink.feed(encoder.message.freeze()).await?;
    Ok(sink.as_mut().finish().await?)
}

//! Rows on their way into a table by binary COPY, in messages of bounded size.
//!
//! In: a COPY statement from a file, the types of its columns, and values row by row. Out: how many rows the server took. COPY checks
//! no conflict: a row that violates a constraint fails the statement.

use std::error::Error;

use bytes::{BufMut, Bytes, BytesMut};
use deadpool_postgres::Object;
use futures_util::SinkExt;
use tokio_postgres::types::{IsNull, ToSql, Type};

use super::{Client, DbError};

/// A message is sent once it is this long, so one is longer by a row at most.
const MESSAGE_BYTES: usize = 32 << 10;
const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";
const END: i16 = -1;

pub type EncodeError = Box<dyn Error + Sync + Send>;

/// Where a table's rows go: its COPY statement, and the types of the columns that it names.
pub struct CopyTarget {
    pub sql: &'static str,
    pub types: &'static [Type],
}

/// Encodes rows into the next message.
pub struct CopyEncoder {
    types: &'static [Type],
    message: BytesMut,
}

impl CopyEncoder {
    fn new(types: &'static [Type]) -> CopyEncoder {
        let mut message = BytesMut::with_capacity(MESSAGE_BYTES + 4096);
        message.put_slice(SIGNATURE);
        message.put_i32(0); // flags
        message.put_i32(0); // no extension of the header
        CopyEncoder { types, message }
    }

    /// One value a column, in the order of [`CopyTarget::types`].
    pub fn row(&mut self, values: &[&(dyn ToSql + Sync)]) -> Result<(), EncodeError> {
        if values.len() != self.types.len() {
            return Err(format!("{} values for {} columns", values.len(), self.types.len()).into());
        }
        self.message.put_i16(i16::try_from(values.len())?);
        for (value, type_) in values.iter().zip(self.types) {
            self.value(*value, type_)?;
        }
        Ok(())
    }

    fn value(&mut self, value: &(dyn ToSql + Sync), type_: &Type) -> Result<(), EncodeError> {
        let start = self.message.len();
        self.message.put_i32(-1); // the length of a null
        if let IsNull::No = value.to_sql_checked(type_, &mut self.message)? {
            let length = i32::try_from(self.message.len() - start - size_of::<i32>())?;
            self.message[start..start + size_of::<i32>()].copy_from_slice(&length.to_be_bytes());
        }
        Ok(())
    }
}

/// Appends `rows` by COPY, encoded one by one; without rows nothing is sent.
pub async fn copy_in<T>(
    client: &Client,
    target: &CopyTarget,
    rows: &[T],
    encode: impl Fn(&mut CopyEncoder, &T) -> Result<(), EncodeError>,
) -> Result<u64, DbError> {
    if rows.is_empty() {
        return Ok(0);
    }
    client.within(async |object| send(object, target, rows, &encode).await).await
}

async fn send<T>(
    object: &Object,
    target: &CopyTarget,
    rows: &[T],
    encode: &impl Fn(&mut CopyEncoder, &T) -> Result<(), EncodeError>,
) -> Result<u64, DbError> {
    let statement = object.prepare_cached(target.sql).await?;
    let mut sink = Box::pin(object.copy_in::<_, Bytes>(&statement).await?);
    let mut encoder = CopyEncoder::new(target.types);
    for row in rows {
        encode(&mut encoder, row).map_err(|error| DbError::Other(format!("a row for COPY: {error}")))?;
        if encoder.message.len() >= MESSAGE_BYTES {
            sink.feed(encoder.message.split().freeze()).await?;
        }
    }
    encoder.message.put_i16(END);
    // not flushed, so that it leaves together with the end
    sink.feed(encoder.message.freeze()).await?;
    Ok(sink.as_mut().finish().await?)
}

//! `ParquetFile`: Parquet with zstd, in row groups of bounded size.

use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::chunk::{ColumnValues, Texts, Values};
use super::{Chunk, Column, ExportError, Kind};

/// Maximum number of rows of a row group.
const MAX_GROUP_ROWS: usize = 128 * 1024;
/// Maximum encoded size of a row group: the writer keeps one in memory.
const MAX_GROUP_BYTES: usize = 16 << 20;
/// Maximum number of rows that are encoded at once; the size of the row group is looked at in between.
const MAX_ROWS_AT_ONCE: usize = 4096;
/// Usual size of the texts that are encoded at once.
const TEXT_AT_ONCE: usize = 1 << 20;

pub struct ParquetFile {
    writer: ArrowWriter<Vec<u8>>,
    schema: SchemaRef,
}

impl ParquetFile {
    pub fn new(columns: &[Column]) -> Result<ParquetFile, ExportError> {
        let fields: Vec<Field> = columns.iter().map(field).collect();
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(MAX_GROUP_ROWS))
            .set_max_row_group_bytes(Some(MAX_GROUP_BYTES))
            .set_created_by(concat!("drover ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties)).map_err(failed)?;
        Ok(ParquetFile { writer, schema })
    }

    pub fn write(&mut self, chunk: Chunk) -> Result<Vec<u8>, ExportError> {
        let rows = chunk.rows();
        let at_once = (rows * TEXT_AT_ONCE / chunk.text_bytes().max(1)).clamp(1, MAX_ROWS_AT_ONCE);
        let arrays = chunk.columns.into_iter().map(array).collect::<Result<Vec<_>, _>>()?;
        let batch = RecordBatch::try_new(self.schema.clone(), arrays).map_err(failed)?;
        for begin in (0..rows).step_by(at_once) {
            self.writer.write(&batch.slice(begin, at_once.min(rows - begin))).map_err(failed)?;
        }
        self.ready()
    }

    pub fn finish(mut self) -> Result<Vec<u8>, ExportError> {
        self.writer.finish().map_err(failed)?;
        self.ready()
    }

    /// Takes the bytes of the row groups that have ended. The writer counts positions by itself.
    fn ready(&mut self) -> Result<Vec<u8>, ExportError> {
        self.writer.sync().map_err(failed)?;
        Ok(std::mem::take(self.writer.inner_mut()))
    }
}

fn field(column: &Column) -> Field {
    let data_type = match column.kind {
        Kind::Int16 => DataType::Int16,
        Kind::Int32 => DataType::Int32,
        Kind::Int64 => DataType::Int64,
        Kind::Float64 => DataType::Float64,
        Kind::Text => DataType::Utf8,
        Kind::Bool => DataType::Boolean,
        Kind::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
    };
    Field::new(column.name, data_type, column.is_nullable)
}

fn array(column: ColumnValues) -> Result<ArrayRef, ExportError> {
    let nulls = column.column.is_nullable.then(|| NullBuffer::from(column.known));
    Ok(match column.values {
        Values::Int16(values) => Arc::new(Int16Array::try_new(values.into(), nulls).map_err(failed)?),
        Values::Int32(values) => Arc::new(Int32Array::try_new(values.into(), nulls).map_err(failed)?),
        Values::Int64(values) => Arc::new(Int64Array::try_new(values.into(), nulls).map_err(failed)?),
        Values::Float64(values) => Arc::new(Float64Array::try_new(values.into(), nulls).map_err(failed)?),
        Values::Bool(values) => Arc::new(BooleanArray::new(values.into(), nulls)),
        Values::Text(texts) => Arc::new(strings(texts, nulls)?),
        Values::Timestamp(values) => {
            let times = TimestampMicrosecondArray::try_new(values.into(), nulls).map_err(failed)?;
            Arc::new(times.with_timezone("UTC"))
        }
    })
}

fn strings(texts: Texts, nulls: Option<NullBuffer>) -> Result<StringArray, ExportError> {
    let ends = OffsetBuffer::new(ScalarBuffer::from(texts.ends));
    StringArray::try_new(ends, Buffer::from_vec(texts.bytes.into_bytes()), nulls).map_err(failed)
}

fn failed(error: impl ToString) -> ExportError {
    ExportError::Encode(error.to_string())
}

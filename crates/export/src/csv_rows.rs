//! `CsvRows`: CSV as in RFC 4180, with a row of names. An unknown value is an empty cell.

use std::fmt::Write as _;

use csv::{ByteRecord, Terminator, Writer, WriterBuilder};

use super::chunk::Value;
use super::{Chunk, Column, ExportError, csv_cell, time_text};

pub struct CsvRows {
    /// Row of names, until it is written.
    head: Vec<u8>,
}

impl CsvRows {
    pub fn new(columns: &[Column]) -> Result<CsvRows, ExportError> {
        let mut csv = writer(Vec::new());
        csv.write_record(columns.iter().map(|column| column.name)).map_err(failed)?;
        Ok(CsvRows { head: bytes(csv)? })
    }

    pub fn write(&mut self, chunk: &Chunk) -> Result<Vec<u8>, ExportError> {
        let mut csv = writer(std::mem::take(&mut self.head));
        let (mut record, mut number) = (ByteRecord::new(), String::new());
        for row in 0..chunk.rows() {
            record.clear();
            for column in &chunk.columns {
                push_cell(&mut record, &mut number, column.get(row))?;
            }
            csv.write_byte_record(&record).map_err(failed)?;
        }
        bytes(csv)
    }

    pub fn finish(self) -> Vec<u8> {
        self.head
    }
}

/// `number` is reused from cell to cell.
fn push_cell(record: &mut ByteRecord, number: &mut String, value: Value<'_>) -> Result<(), ExportError> {
    number.clear();
    let written = match value {
        Value::Null => Ok(()),
        Value::Int16(value) => write!(number, "{value}"),
        Value::Int32(value) => write!(number, "{value}"),
        Value::Int64(value) => write!(number, "{value}"),
        Value::Float64(value) => write!(number, "{value}"),
        Value::Bool(value) => write!(number, "{value}"),
        Value::Timestamp(micros) => number.write_str(&time_text::rfc3339(micros)),
        Value::Text(text) => {
            // names come from upstream: a spreadsheet must not read one as a formula
            record.push_field(csv_cell::escaped(text).as_bytes());
            return Ok(());
        }
    };
    written.map_err(failed)?;
    record.push_field(number.as_bytes());
    Ok(())
}

fn writer(begun: Vec<u8>) -> Writer<Vec<u8>> {
    WriterBuilder::new().has_headers(false).terminator(Terminator::CRLF).from_writer(begun)
}

fn bytes(csv: Writer<Vec<u8>>) -> Result<Vec<u8>, ExportError> {
    csv.into_inner().map_err(failed)
}

fn failed(error: impl ToString) -> ExportError {
    ExportError::Encode(error.to_string())
}

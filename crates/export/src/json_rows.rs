//! `JsonRows`: one object of JSON a line. An unknown value is null.

use std::io::Write as _;

use super::chunk::Value;
use super::{Chunk, Column, ExportError, time_text};

pub struct JsonRows {
    /// Text before the value of each column: `{"id":`, `,"name":`
    names: Vec<String>,
}

impl JsonRows {
    pub fn new(columns: &[Column]) -> Result<JsonRows, ExportError> {
        let mut names = Vec::new();
        for (nth, column) in columns.iter().enumerate() {
            let name = serde_json::to_string(column.name).map_err(failed)?;
            names.push(format!("{}{name}:", if nth == 0 { '{' } else { ',' }));
        }
        Ok(JsonRows { names })
    }

    pub fn write(&self, chunk: &Chunk) -> Result<Vec<u8>, ExportError> {
        let mut bytes = Vec::new();
        for row in 0..chunk.rows() {
            for (name, column) in self.names.iter().zip(&chunk.columns) {
                bytes.extend_from_slice(name.as_bytes());
                push_value(&mut bytes, column.get(row))?;
            }
            bytes.extend_from_slice(b"}\n");
        }
        Ok(bytes)
    }
}

fn push_value(bytes: &mut Vec<u8>, value: Value<'_>) -> Result<(), ExportError> {
    match value {
        Value::Null => bytes.extend_from_slice(b"null"),
        Value::Int16(value) => write!(bytes, "{value}").map_err(failed)?,
        Value::Int32(value) => write!(bytes, "{value}").map_err(failed)?,
        Value::Int64(value) => write!(bytes, "{value}").map_err(failed)?,
        Value::Bool(value) => write!(bytes, "{value}").map_err(failed)?,
        Value::Timestamp(micros) => write!(bytes, "\"{}\"", time_text::rfc3339(micros)).map_err(failed)?,
        Value::Float64(value) => serde_json::to_writer(bytes, &value).map_err(failed)?,
        Value::Text(text) => serde_json::to_writer(bytes, text).map_err(failed)?,
    }
    Ok(())
}

fn failed(error: impl ToString) -> ExportError {
    ExportError::Encode(error.to_string())
}

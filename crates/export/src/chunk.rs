//! `Chunk`: some rows, column by column, as Parquet wants them.
//!
//! In: the values of one row after the other. Out: the columns.

use super::time_text::is_writable;
use super::{Column, ExportError, Kind};

/// Value of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Int16(i16),
    Int32(i32),
    Int64(i64),
    Float64(f64),
    Text(&'a str),
    Bool(bool),
    /// Microseconds of UTC since 1970.
    Timestamp(i64),
}

/// Rows of a table. The caller bounds their number and size.
#[derive(Clone, Debug)]
pub struct Chunk {
    pub(crate) columns: Vec<ColumnValues>,
    rows: usize,
    text_bytes: usize,
}

/// Values of one column of a chunk.
#[derive(Clone, Debug)]
pub(crate) struct ColumnValues {
    pub column: Column,
    pub values: Values,
    /// Whether the value of each row is known; where it is not, `values` holds a filler.
    pub known: Vec<bool>,
}

#[derive(Clone, Debug)]
pub(crate) enum Values {
    Int16(Vec<i16>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float64(Vec<f64>),
    Text(Texts),
    Bool(Vec<bool>),
    Timestamp(Vec<i64>),
}

/// Texts in one piece; each ends where the next begins.
#[derive(Clone, Debug)]
pub(crate) struct Texts {
    pub bytes: String,
    /// One more than there are texts: the first is 0.
    pub ends: Vec<i32>,
}

impl Chunk {
    pub fn new(columns: &[Column]) -> Chunk {
        Chunk { columns: columns.iter().map(|column| ColumnValues::new(*column)).collect(), rows: 0, text_bytes: 0 }
    }

    /// Appends a row, whose values come in the order of the columns.
    pub fn push<'a>(&mut self, row: impl IntoIterator<Item = Value<'a>>) -> Result<(), ExportError> {
        let mut row = row.into_iter();
        for column in &mut self.columns {
            let value = row.next().unwrap_or(Value::Null);
            if let Value::Text(text) = value {
                self.text_bytes += text.len();
            }
            column.push(value)?;
        }
        self.rows += 1;
        Ok(())
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of bytes of all texts: numbers take little in comparison.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }
}

impl ColumnValues {
    fn new(column: Column) -> ColumnValues {
        ColumnValues { column, values: Values::new(column.kind), known: Vec::new() }
    }

    fn push(&mut self, value: Value<'_>) -> Result<(), ExportError> {
        let value = writable(value);
        let is_known = value != Value::Null;
        if !is_known && !self.column.is_nullable {
            return Err(ExportError::Unknown { column: self.column.name });
        }
        match (&mut self.values, value) {
            (Values::Int16(values), Value::Int16(value)) => values.push(value),
            (Values::Int32(values), Value::Int32(value)) => values.push(value),
            (Values::Int64(values), Value::Int64(value)) => values.push(value),
            (Values::Float64(values), Value::Float64(value)) => values.push(value),
            (Values::Text(texts), Value::Text(text)) => {
                texts.push(text).ok_or(ExportError::TooLong { column: self.column.name })?;
            }
            (Values::Bool(values), Value::Bool(value)) => values.push(value),
            (Values::Timestamp(values), Value::Timestamp(value)) => values.push(value),
            (values, Value::Null) => values.push_filler(),
            _ => return Err(ExportError::Mismatch { column: self.column.name }),
        }
        self.known.push(is_known);
        Ok(())
    }

    /// Value of the row with this number.
    pub fn get(&self, row: usize) -> Value<'_> {
        if self.known.get(row) != Some(&true) {
            return Value::Null;
        }
        self.values.get(row).unwrap_or(Value::Null)
    }
}

impl Values {
    fn new(kind: Kind) -> Values {
        match kind {
            Kind::Int16 => Values::Int16(Vec::new()),
            Kind::Int32 => Values::Int32(Vec::new()),
            Kind::Int64 => Values::Int64(Vec::new()),
            Kind::Float64 => Values::Float64(Vec::new()),
            Kind::Text => Values::Text(Texts { bytes: String::new(), ends: vec![0] }),
            Kind::Bool => Values::Bool(Vec::new()),
            Kind::Timestamp => Values::Timestamp(Vec::new()),
        }
    }

    fn push_filler(&mut self) {
        match self {
            Values::Int16(values) => values.push(0),
            Values::Int32(values) => values.push(0),
            Values::Int64(values) | Values::Timestamp(values) => values.push(0),
            Values::Float64(values) => values.push(0.0),
            Values::Text(texts) => texts.ends.push(texts.ends.last().copied().unwrap_or_default()),
            Values::Bool(values) => values.push(false),
        }
    }

    fn get(&self, row: usize) -> Option<Value<'_>> {
        match self {
            Values::Int16(values) => values.get(row).copied().map(Value::Int16),
            Values::Int32(values) => values.get(row).copied().map(Value::Int32),
            Values::Int64(values) => values.get(row).copied().map(Value::Int64),
            Values::Float64(values) => values.get(row).copied().map(Value::Float64),
            Values::Text(texts) => texts.get(row).map(Value::Text),
            Values::Bool(values) => values.get(row).copied().map(Value::Bool),
            Values::Timestamp(values) => values.get(row).copied().map(Value::Timestamp),
        }
    }
}

impl Texts {
    /// None: the texts are longer than offsets of 32 bits reach.
    fn push(&mut self, text: &str) -> Option<()> {
        let end = i32::try_from(self.bytes.len() + text.len()).ok()?;
        self.bytes.push_str(text);
        self.ends.push(end);
        Some(())
    }

    fn get(&self, row: usize) -> Option<&str> {
        let [begin, end] = [*self.ends.get(row)?, *self.ends.get(row + 1)?].map(usize::try_from);
        self.bytes.get(begin.ok()?..end.ok()?)
    }
}

/// The value, or null in place of one that a format cannot write, so that all formats hold the same.
fn writable(value: Value<'_>) -> Value<'_> {
    match value {
        Value::Float64(number) if !number.is_finite() => Value::Null,
        Value::Timestamp(micros) if !is_writable(micros) => Value::Null,
        other => other,
    }
}

macro_rules! values {
    ($($rust:ty: $variant:ident;)+) => {$(
        impl From<$rust> for Value<'_> {
            fn from(value: $rust) -> Self {
                Value::$variant(value)
            }
        }
    )+};
}

values! { i16: Int16; i32: Int32; i64: Int64; f64: Float64; bool: Bool; }

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(text)
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

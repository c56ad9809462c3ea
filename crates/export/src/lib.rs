//! Tables as files: CSV (RFC 4180), JSON lines, and Parquet where the feature `parquet` is built in.
//!
//! In: columns, and rows in chunks of bounded size. Out: the bytes of the file, piece by piece; memory does not grow with
//! the number of rows. Money stays whole cents, times are microseconds of UTC, and an unknown value is null, never 0. It
//! must not know where rows come from or where bytes go.

pub mod csv_cell;

mod chunk;
mod csv_rows;
mod encoder;
mod json_rows;
#[cfg_attr(not(feature = "parquet"), path = "parquet_file_absent.rs")]
mod parquet_file;
mod time_text;

pub use chunk::{Chunk, Value};
pub use contract::exports::{Column, Kind};
pub use encoder::{Encoder, ExportError};

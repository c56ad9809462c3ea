//! `Encoder`: turns chunks into the bytes of a file.

use thiserror::Error;

use super::csv_rows::CsvRows;
use super::json_rows::JsonRows;
use super::parquet_file::ParquetFile;
use super::{Chunk, Column};
use contract::exports::ExportFormat;

#[derive(Debug, Error)]
pub enum ExportError {
    /// The build lacks the format.
    #[error("this build of drover writes no Parquet: take a release, or build drover with its default features")]
    NoParquet,
    #[error("the column {column} has no unknown values, but a row lacks it")]
    Unknown { column: &'static str },
    #[error("a value of the column {column} has another type")]
    Mismatch { column: &'static str },
    #[error("the texts of the column {column} are too long for one chunk")]
    TooLong { column: &'static str },
    #[error("cannot encode the rows: {0}")]
    Encode(String),
}

/// A file in the making.
pub enum Encoder {
    Csv(CsvRows),
    Jsonl(JsonRows),
    Parquet(Box<ParquetFile>),
}

impl Encoder {
    pub fn new(format: ExportFormat, columns: &[Column]) -> Result<Encoder, ExportError> {
        Ok(match format {
            ExportFormat::Csv => Encoder::Csv(CsvRows::new(columns)?),
            ExportFormat::Jsonl => Encoder::Jsonl(JsonRows::new(columns)?),
            ExportFormat::Parquet => Encoder::Parquet(Box::new(ParquetFile::new(columns)?)),
        })
    }

    /// Adds the rows, and returns the bytes that are ready; Parquet keeps those of a row group until it is full.
    pub fn write(&mut self, chunk: Chunk) -> Result<Vec<u8>, ExportError> {
        match self {
            Encoder::Csv(rows) => rows.write(&chunk),
            Encoder::Jsonl(rows) => rows.write(&chunk),
            Encoder::Parquet(file) => file.write(chunk),
        }
    }

    /// Returns the last bytes. A file without rows has its columns, too.
    pub fn finish(self) -> Result<Vec<u8>, ExportError> {
        match self {
            Encoder::Csv(rows) => Ok(rows.finish()),
            Encoder::Jsonl(_) => Ok(Vec::new()),
            Encoder::Parquet(file) => file.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::{Kind, Value, csv_cell};

    const COLUMNS: [Column; 7] = [
        Column { name: "small", kind: Kind::Int16, is_nullable: true },
        Column { name: "price", kind: Kind::Int32, is_nullable: true },
        Column { name: "id", kind: Kind::Int64, is_nullable: false },
        Column { name: "size", kind: Kind::Float64, is_nullable: true },
        Column { name: "name", kind: Kind::Text, is_nullable: true },
        Column { name: "gone", kind: Kind::Bool, is_nullable: true },
        Column { name: "at", kind: Kind::Timestamp, is_nullable: true },
    ];
    /// 2025-01-10T08:00:00.000001Z
    const AT: i64 = 1_736_496_000_000_001;

    fn named(name: &str) -> [Value<'_>; 7] {
        let (size, gone) = (Value::Float64(1.5), Value::Bool(true));
        [Value::Int16(-3), Value::Int32(1250), Value::Int64(7), size, name.into(), gone, Value::Timestamp(AT)]
    }

    fn unknown() -> [Value<'static>; 7] {
        let mut row = [Value::Null; 7];
        row[2] = Value::Int64(8);
        row
    }

    fn file(format: ExportFormat, rows: &[[Value<'_>; 7]]) -> Vec<u8> {
        let mut encoder = Encoder::new(format, &COLUMNS).unwrap();
        let mut bytes = Vec::new();
        // in chunks of one row
        for row in rows {
            let mut chunk = Chunk::new(&COLUMNS);
            chunk.push(row.iter().copied()).unwrap();
            bytes.extend(encoder.write(chunk).unwrap());
        }
        bytes.extend(encoder.finish().unwrap());
        bytes
    }

    fn lines(bytes: &[u8]) -> Vec<Json> {
        let text = std::str::from_utf8(bytes).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Names of the rows of a CSV file, as they were before they were escaped.
    fn names_of_csv(bytes: &[u8]) -> Vec<String> {
        let mut csv = csv::Reader::from_reader(bytes);
        csv.records().map(|record| csv_cell::unescaped(&record.unwrap()[4]).to_owned()).collect()
    }

    #[test]
    fn csv_is_as_in_rfc_4180() {
        let csv = file(ExportFormat::Csv, &[named("Blue, \"Ledger\"\nline"), unknown(), named("=1+2")]);
        let rows = "small,price,id,size,name,gone,at\r\n\
                    -3,1250,7,1.5,\"Blue, \"\"Ledger\"\"\nline\",true,2025-01-10T08:00:00.000001Z\r\n\
                    ,,8,,,,\r\n\
                    -3,1250,7,1.5,'=1+2,true,2025-01-10T08:00:00.000001Z\r\n";
        assert_eq!(String::from_utf8(csv).unwrap(), rows);
    }

    #[test]
    fn each_json_line_is_an_object_whose_unknown_values_are_null() {
        let rows = lines(&file(ExportFormat::Jsonl, &[named("a"), unknown()]));
        let full = json!({"small": -3, "price": 1250, "id": 7, "size": 1.5, "name": "a", "gone": true, "at": "2025-01-10T08:00:00.000001Z"});
        let empty =
            json!({"small": null, "price": null, "id": 8, "size": null, "name": null, "gone": null, "at": null});
        assert_eq!(rows, [full, empty]);
    }

    #[rstest]
    #[case::csv(ExportFormat::Csv, "small,price,id,size,name,gone,at\r\n")]
    #[case::jsonl(ExportFormat::Jsonl, "")]
    fn a_file_without_rows_has_its_columns(#[case] format: ExportFormat, #[case] text: &str) {
        assert_eq!(String::from_utf8(file(format, &[])).unwrap(), text);
    }

    #[rstest]
    #[case::not_a_number(3, Value::Float64(f64::NAN))]
    #[case::infinite(3, Value::Float64(f64::INFINITY))]
    #[case::a_time_beyond_all_years(6, Value::Timestamp(i64::MAX))]
    fn a_value_that_a_format_cannot_write_is_null_in_all(#[case] column: usize, #[case] value: Value<'_>) {
        let mut row = named("a");
        row[column] = value;
        assert_eq!(lines(&file(ExportFormat::Jsonl, &[row]))[0][COLUMNS[column].name], Json::Null);
    }

    #[rstest]
    #[case::of_another_type(Value::Int32(1), "a value of the column id has another type")]
    #[case::unknown(Value::Null, "the column id has no unknown values, but a row lacks it")]
    fn a_row_that_does_not_fit_is_an_error(#[case] id: Value<'_>, #[case] fault: &str) {
        let mut row = named("a");
        row[2] = id;
        assert_eq!(Chunk::new(&COLUMNS).push(row).unwrap_err().to_string(), fault);
    }

    proptest! {
        #[test]
        fn any_text_survives(name in any::<String>()) {
            let rows = [named(&name)];
            let lines = lines(&file(ExportFormat::Jsonl, &rows));
            prop_assert_eq!(lines[0]["name"].as_str(), Some(name.as_str()));
            prop_assert_eq!(names_of_csv(&file(ExportFormat::Csv, &rows)), [name]);
        }
    }

    #[cfg(not(feature = "parquet"))]
    #[test]
    fn a_build_without_parquet_says_how_to_get_it() {
        let refused = Encoder::new(ExportFormat::Parquet, &COLUMNS).err().unwrap().to_string();
        assert!(refused.contains("build drover with its default features"), "{refused}");
    }

    #[cfg(feature = "parquet")]
    mod parquet {
        use ::parquet::file::reader::{FileReader, SerializedFileReader};
        use ::parquet::record::Field;
        use bytes::Bytes;

        use super::*;

        fn read(bytes: Vec<u8>) -> Vec<Vec<Field>> {
            let reader = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
            let rows = reader.get_row_iter(None).unwrap();
            rows.map(|row| row.unwrap().into_columns().into_iter().map(|(_, field)| field).collect()).collect()
        }

        /// Row groups of a file of `rows` rows, each with a text of `length` bytes that no compression makes shorter.
        fn groups(rows: usize, length: usize) -> Vec<(i64, i64)> {
            let column = [Column { name: "name", kind: Kind::Text, is_nullable: false }];
            let mut encoder = Encoder::new(ExportFormat::Parquet, &column).unwrap();
            let (mut chunk, mut bytes, mut state) = (Chunk::new(&column), Vec::new(), 1_u64);
            for _ in 0..rows {
                let letter = || {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    char::from((state >> 57) as u8)
                };
                let name: String = std::iter::repeat_with(letter).take(length).collect();
                chunk.push([Value::Text(&name)]).unwrap();
            }
            bytes.extend(encoder.write(chunk).unwrap());
            bytes.extend(encoder.finish().unwrap());
            let reader = SerializedFileReader::new(Bytes::from(bytes)).unwrap();
            let groups = reader.metadata().row_groups();
            groups.iter().map(|group| (group.num_rows(), group.total_byte_size())).collect()
        }

        #[test]
        fn values_are_read_back_as_they_were() {
            let rows = read(file(ExportFormat::Parquet, &[named("Blue \u{202e}Ledger 🌿"), unknown()]));
            let name = Field::Str("Blue \u{202e}Ledger 🌿".to_owned());
            let (size, gone, at) = (Field::Double(1.5), Field::Bool(true), Field::TimestampMicros(AT));
            assert_eq!(rows[0], [Field::Short(-3), Field::Int(1250), Field::Long(7), size, name, gone, at]);
            let mut empty = vec![Field::Null; 7];
            empty[2] = Field::Long(8);
            assert_eq!(rows[1], empty);
            assert_eq!(read(file(ExportFormat::Parquet, &[])), Vec::<Vec<Field>>::new());
        }

        #[test]
        fn a_row_group_has_an_end() {
            let by_rows: Vec<i64> = groups(130 * 1024, 0).iter().map(|(rows, _)| *rows).collect();
            assert_eq!(by_rows, [128 * 1024, 2 * 1024]);
            let by_size = groups(2500, 10_000);
            assert_eq!(by_size.len(), 2, "{by_size:?}");
            assert!(by_size.iter().all(|(_, bytes)| *bytes <= 20 << 20), "{by_size:?}");
        }
    }
}

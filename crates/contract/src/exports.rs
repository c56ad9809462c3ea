//! Exports: their datasets, formats and filters.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use utoipa::IntoParams;

use domain::store::StoreId;
use domain::{span, store, vocabulary};

/// Trailer of an export, after its last byte: the number of its rows.
pub const ROWS_TRAILER: &str = "x-drover-rows";

vocabulary! {
    /// Content of an export.
    pub enum Dataset {
        /// Each change of an option's price, quantity or stock, with its product and store.
        OptionHistory,
    }
}

vocabulary! {
    /// Format of an export.
    #[derive(Default)]
    pub enum ExportFormat {
        /// RFC 4180. An unknown value is empty, and a text that a spreadsheet would read as a formula begins with an apostrophe.
        #[default]
        Csv,
        /// One object of JSON a line.
        Jsonl,
        /// Apache Parquet, compressed by zstd.
        Parquet,
    }
}

impl ExportFormat {
    /// Ending of the names of files.
    pub fn extension(self) -> &'static str {
        self.name()
    }

    pub fn content_type(self) -> &'static str {
        match self {
            ExportFormat::Csv => "text/csv; charset=utf-8",
            ExportFormat::Jsonl => "application/x-ndjson",
            ExportFormat::Parquet => "application/vnd.apache.parquet",
        }
    }
}

/// Filter of an export; a field that is None does not filter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    /// Format of the file; by default `csv`.
    #[param(inline)]
    pub format: Option<ExportFormat>,
    /// Crawled then or later.
    #[serde(deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    pub since: Option<DateTime<Utc>>,
    /// Crawled before; a day is part of the span.
    #[serde(deserialize_with = "span::optional_end")]
    #[param(schema_with = span::schema)]
    pub until: Option<DateTime<Utc>>,
    /// Its id.
    pub store: Option<StoreId>,
    /// Stores of this group.
    pub group: Option<String>,
    /// Two letters, in any case.
    #[serde(deserialize_with = "store::state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "AZ")]
    pub state: Option<String>,
    /// Name of a brand, in any letter case, like the category.
    pub brand: Option<String>,
    pub category: Option<String>,
    /// Only these columns, separated by commas, in this order; by default all.
    #[serde(deserialize_with = "optional_columns")]
    #[param(style = Form, explode = false, min_items = 1, value_type = Option<Vec<String>>)]
    pub columns: Option<Vec<String>>,
}

fn optional_columns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let columns: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    for (nth, name) in columns.iter().enumerate() {
        if columns[..nth].contains(name) {
            return Err(D::Error::custom(format_args!("the column '{name}' is given twice")));
        }
    }
    Ok(Some(columns))
}

//! Exports: their datasets, formats and filters.

mod column;
mod dataset;
mod questions;

use chrono::{DateTime, NaiveDate, Utc};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _};
use utoipa::IntoParams;

use super::changes::{self, Sizes};
use super::checks::{BadField, bad};
use super::prices::{self, PriceChangeSort, PriceDirection, PriceUnit, PricesBy};
use super::products;
use domain::menu::changes::ChangeKind;
use domain::menu::product::ProductId;
use domain::store::{Platform, StoreId};
use domain::{span, store, vocabulary};

pub use column::{Column, Kind};
pub use dataset::Dataset;

/// Trailer of an export, after its last byte: the number of its rows.
pub const ROWS_TRAILER: &str = "x-drover-rows";

/// Filters of times.
const TIMES: [&str; 2] = ["since", "until"];

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

/// Filter of an export; a field that is None does not filter. Each dataset has some of them ([`Dataset::filters`]).
#[derive(Clone, Debug, Default, PartialEq, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    /// Format of the file; by default `csv`.
    #[param(inline)]
    pub format: Option<ExportFormat>,
    /// Crawled then or later. Only changes and histories have times; of `price_changes`, the time whose prices are compared.
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
    /// Name of a city, in any letter case.
    pub city: Option<String>,
    /// The platform of the store.
    pub platform: Option<Platform>,
    /// Name of a brand, in any letter case; of `products` its beginning, as in the search.
    pub brand: Option<String>,
    /// Name of the platform's category, in any letter case, or of a canonical category.
    pub category: Option<String>,
    /// Words of the name and brand, or beginnings of them: the products that the search finds. Only of `products` and
    /// `price_changes`.
    #[serde(deserialize_with = "products::optional_words")]
    #[param(value_type = Option<String>, min_length = 1, max_length = 200)]
    pub q: Option<String>,
    pub in_stock: Option<bool>,
    pub on_special: Option<bool>,
    /// Cents.
    pub min_price: Option<i32>,
    /// Cents; of a change, the price after it.
    pub max_price: Option<i32>,
    /// Maximum price by gram, in millicents (thousandths of a cent): of the option of a product that is cheapest by it, or of the
    /// option that changed, after the change.
    #[param(minimum = 0)]
    pub max_unit_price: Option<i64>,
    /// Only changes of these kinds, separated by commas.
    #[serde(deserialize_with = "changes::kinds")]
    #[param(style = Form, explode = false, min_items = 1, inline, value_type = Option<Vec<ChangeKind>>)]
    pub kind: Option<Vec<ChangeKind>>,
    /// Only changes of the product with this id.
    pub product: Option<ProductId>,
    /// Minimum size of a change of the price, up or down, as a percentage of the old price; other changes are left out.
    #[param(minimum = 0)]
    pub min_percent: Option<f64>,
    /// The same in cents.
    #[param(minimum = 0)]
    pub min_cents: Option<i32>,
    /// Only prices that went this way.
    #[param(inline)]
    pub direction: Option<PriceDirection>,
    /// Order of `price_changes`; by default `percent`.
    #[param(inline)]
    pub sort: Option<PriceChangeSort>,
    /// Rows of `unit_prices`; by default `category`.
    #[param(inline)]
    pub by: Option<PricesBy>,
    /// Unit of `unit_prices`; by default `g`.
    #[param(inline)]
    pub unit: Option<PriceUnit>,
    /// A day of the week of `unit_prices`, by default of the newest one; with `by=week`, of the last one.
    #[serde(deserialize_with = "prices::optional_day")]
    pub week: Option<NaiveDate>,
    /// Only these columns, separated by commas, in this order; by default all.
    #[serde(deserialize_with = "optional_columns")]
    #[param(style = Form, explode = false, min_items = 1, value_type = Option<Vec<String>>)]
    pub columns: Option<Vec<String>>,
}

impl ExportQuery {
    pub fn check(&self, dataset: Dataset) -> Result<(), BadField> {
        if let Some(field) = self.given().find(|field| !dataset.filters().contains(field)) {
            return Err(bad(field, no_filter(dataset, field)));
        }
        if self.since.zip(self.until).is_some_and(|(since, until)| since >= until) {
            return Err(bad("since", "must be before the end of the time span"));
        }
        let ExportQuery { min_percent, min_cents, max_price, max_unit_price, .. } = *self;
        Sizes { min_percent, min_cents, max_price, max_unit_price }.check()
    }

    /// The columns of the file, in their order.
    pub fn columns_of(&self, dataset: Dataset) -> Result<Vec<Column>, BadField> {
        let known = dataset.columns();
        let Some(names) = &self.columns else { return Ok(known.to_vec()) };
        names.iter().map(|name| column(known, name)).collect()
    }

    /// Names of the filters that it has.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let ExportQuery {
            format: _,
            since,
            until,
            store,
            group,
            state,
            city,
            platform,
            brand,
            category,
            q,
            in_stock,
            on_special,
            min_price,
            max_price,
            max_unit_price,
            kind,
            product,
            min_percent,
            min_cents,
            direction,
            sort,
            by,
            unit,
            week,
            columns: _,
        } = self;
        let filters = [
            ("since", since.is_some()),
            ("until", until.is_some()),
            ("store", store.is_some()),
            ("group", group.is_some()),
            ("state", state.is_some()),
            ("city", city.is_some()),
            ("platform", platform.is_some()),
            ("brand", brand.is_some()),
            ("category", category.is_some()),
            ("q", q.is_some()),
            ("in_stock", in_stock.is_some()),
            ("on_special", on_special.is_some()),
            ("min_price", min_price.is_some()),
            ("max_price", max_price.is_some()),
            ("max_unit_price", max_unit_price.is_some()),
            ("kind", kind.is_some()),
            ("product", product.is_some()),
            ("min_percent", min_percent.is_some()),
            ("min_cents", min_cents.is_some()),
            ("direction", direction.is_some()),
            ("sort", sort.is_some()),
            ("by", by.is_some()),
            ("unit", unit.is_some()),
            ("week", week.is_some()),
        ];
        filters.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}

fn no_filter(dataset: Dataset, field: &str) -> String {
    if TIMES.contains(&field) && !dataset.filters().contains(&TIMES[0]) {
        return format!("{dataset} has no times: leave {field} out");
    }
    format!("{dataset} has no such filter: its filters are {}", dataset.filters().join(", "))
}

fn column(known: &[Column], name: &str) -> Result<Column, BadField> {
    known.iter().find(|column| column.name == name).copied().ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|column| column.name).collect();
        bad("columns", format!("unknown column '{name}': the columns are {}", names.join(", ")))
    })
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

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use strum::VariantArray;

    use super::*;

    fn names(columns: &[Column]) -> Vec<&str> {
        columns.iter().map(|column| column.name).collect()
    }

    #[test]
    fn columns_come_in_the_order_in_which_they_are_named() {
        let asked =
            ExportQuery { columns: Some(vec!["gone".to_owned(), "store".to_owned()]), ..ExportQuery::default() };
        assert_eq!(names(&asked.columns_of(Dataset::OptionHistory).unwrap()), ["gone", "store"]);
        let fault = asked.columns_of(Dataset::Stores).unwrap_err().to_string();
        assert!(fault.starts_with("columns: unknown column 'gone': the columns are store_id, store, "), "{fault}");
        assert_eq!(ExportQuery::default().columns_of(Dataset::Stores).unwrap(), Dataset::Stores.columns());
    }

    #[test]
    fn the_columns_of_a_dataset_have_different_names() {
        for dataset in Dataset::VARIANTS {
            let mut names = names(dataset.columns());
            let number = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), number, "{dataset}");
        }
    }

    #[rstest]
    #[case::times(Dataset::Products, "since", "products has no times: leave since out")]
    #[case::other(
        Dataset::Stores,
        "brand",
        "stores has no such filter: its filters are store, group, state, city, platform"
    )]
    #[case::of_changes(Dataset::Options, "kind", "options has no such filter: its filters are ")]
    fn a_filter_that_a_dataset_lacks_is_refused(#[case] dataset: Dataset, #[case] field: &str, #[case] fault: &str) {
        let given = ExportQuery {
            since: (field == "since").then_some(DateTime::UNIX_EPOCH),
            brand: (field == "brand").then(|| "Bud".to_owned()),
            kind: (field == "kind").then(Vec::new),
            ..ExportQuery::default()
        };
        let refused = given.check(dataset).unwrap_err();
        assert!(refused.field == field && refused.fault.starts_with(fault), "{refused}");
    }
}

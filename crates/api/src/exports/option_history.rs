//! The columns of the dataset `option_history`: their names and types, and their values in a row.

use super::super::ApiError;
use db::products::option_history::HistoryRow;
use export::{Column, Kind, Value};

/// A column, and how it is read from a row.
#[derive(Clone, Copy)]
pub struct HistoryColumn {
    pub column: Column,
    pub value: for<'a> fn(&HistoryRow<'a>) -> Value<'a>,
}

macro_rules! columns {
    ($row:ident; $($name:ident: $kind:ident $($nullable:literal)? = $value:expr;)+) => {
        [$(HistoryColumn {
            column: Column { name: stringify!($name), kind: Kind::$kind, is_nullable: false $(|| $nullable)? },
            value: |$row| Value::from($value),
        }),+]
    };
}

/// Columns in the order of a file. New ones are added at the end, and none is renamed: programs read the files.
/// `true`: a value may be unknown.
const COLUMNS: [HistoryColumn; 29] = columns! { row;
    store_id: Int64 = row.product.store_id;
    store: Text = row.product.store.as_str();
    state: Text true = row.product.state.as_deref();
    product_id: Int64 = row.product.id;
    product: Text = row.product.name.as_str();
    brand: Text true = row.product.brand.as_deref();
    category: Text true = row.product.category.as_deref();
    subcategory: Text true = row.product.subcategory.as_deref();
    option_label: Text = row.option_label;
    nth: Int16 = row.nth;
    crawl_id: Int64 = row.crawl_id;
    crawled_at: Timestamp true = Value::Timestamp(row.crawled_at);
    size_mg: Int64 true = row.size_mg;
    size_ml: Float64 true = row.size_ml;
    price_rec: Int32 true = row.price_rec;
    price_med: Int32 true = row.price_med;
    special_price_rec: Int32 true = row.special_price_rec;
    special_price_med: Int32 true = row.special_price_med;
    quantity: Int32 true = row.quantity;
    quantity_censored: Bool = row.quantity_censored;
    is_in_stock: Bool = row.is_in_stock;
    gone: Bool = row.gone;
    rec_per_g: Int64 true = row.rec_per_g;
    med_per_g: Int64 true = row.med_per_g;
    rec_per_ml: Int64 true = row.rec_per_ml;
    med_per_ml: Int64 true = row.med_per_ml;
    rec_per_mg_thc: Int64 true = row.rec_per_mg_thc;
    med_per_mg_thc: Int64 true = row.med_per_mg_thc;
    unit_basis: Text true = row.unit_basis;
};

/// The columns with these names, in this order; None: all.
pub fn columns(names: Option<&[String]>) -> Result<Vec<HistoryColumn>, ApiError> {
    let Some(names) = names else { return Ok(COLUMNS.to_vec()) };
    names.iter().map(|name| named(name)).collect()
}

fn named(name: &str) -> Result<HistoryColumn, ApiError> {
    let found = COLUMNS.iter().find(|column| column.column.name == name).copied();
    found.ok_or_else(|| {
        let known = COLUMNS.map(|column| column.column.name).join(", ");
        ApiError::bad("columns", format!("unknown column '{name}': the columns are {known}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_in_the_order_in_which_they_are_named() {
        let names = |columns: Vec<HistoryColumn>| columns.iter().map(|column| column.column.name).collect::<Vec<_>>();
        let asked = ["gone".to_owned(), "store".to_owned()];
        assert_eq!(names(columns(Some(&asked)).unwrap()), ["gone", "store"]);
        assert_eq!(names(columns(None).unwrap()).len(), COLUMNS.len());
    }

    #[test]
    fn an_unknown_column_is_refused_with_the_known_ones() {
        let fault = columns(Some(&["price".to_owned()])).err().unwrap().to_string();
        assert!(fault.starts_with("columns: unknown column 'price': the columns are store_id, store, "), "{fault}");
    }
}

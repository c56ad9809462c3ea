//! Statements that are made from templates and columns ([`super::columns`](mod@super::columns), [`crate::media::records`]).

use super::columns::copy_statement;
use crate::products::variant_history::VariantChange;
use crate::products::variants::VariantWrite;
use crate::products::{self, ProductWrite};
use domain::menu::product::{Product, ProductId};

/// Each statement with the name of its template, or of its table without one. A test prepares them all.
pub fn generated() -> Vec<(&'static str, String)> {
    let of_columns = [
        ("products/update.sql", products::UPDATE.clone()),
        ("products/variants/update.sql", products::variants::UPDATE.clone()),
        ("COPY store_products", copy_statement::<ProductWrite<'_>>()),
        ("COPY store_product_variants", copy_statement::<VariantWrite<'_>>()),
        ("COPY store_product_variant_history", copy_statement::<VariantChange<'_>>()),
        ("COPY store_product_snapshots", copy_statement::<(ProductId, &Product)>()),
    ];
    of_columns.into_iter().chain(crate::media::records::generated()).collect()
}

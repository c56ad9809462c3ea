//! Crawled data: payloads that were kept, products that were written.

use std::fmt;

use tracing::warn;

use crate::metrics;

/// Writes of one completed run.
#[derive(Clone, Debug, PartialEq)]
pub enum DataWritten {
    /// A payload of that many bytes, compressed; `coverage` is the share 0…1 of the announced products that
    /// it holds.
    Payload {
        bytes: u64,
        coverage: f64,
    },
    Products(ProductChanges),
}

/// Numbers of written products, by result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProductChanges {
    pub new: u64,
    pub changed: u64,
    pub unchanged: u64,
    pub missed: u64,
    pub out_of_stock: u64,
    pub back_in_stock: u64,
}

pub fn data_written(data: &DataWritten) {
    match data {
        DataWritten::Payload { bytes, coverage } => {
            metrics::PAYLOADS.inc();
            metrics::PAYLOAD_BYTES.inc_by(*bytes);
            metrics::COVERAGE.observe(*coverage);
        }
        DataWritten::Products(changes) => products_written(changes),
    }
}

fn products_written(changes: &ProductChanges) {
    let ProductChanges { new, changed, unchanged, missed, out_of_stock, back_in_stock } = *changes;
    for (change, count) in [
        ("new", new),
        ("changed", changed),
        ("unchanged", unchanged),
        ("missed", missed),
        ("out_of_stock", out_of_stock),
        ("back_in_stock", back_in_stock),
    ] {
        metrics::PRODUCTS.with_label_values(&[change]).inc_by(count);
    }
}

/// Changes wait for a later look.
pub fn changes_not_published(error: &dyn fmt::Display) {
    warn!(%error, "Changes of prices and stock cannot be published now, trying again: {error}");
}

/// A rule of changes stays where it is until a look succeeds.
pub fn rule_not_followed(rule: i64, error: &dyn fmt::Display) {
    warn!(rule, %error, "Rule {rule} cannot follow the changes now, trying again: {error}");
}

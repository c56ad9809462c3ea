//! The quality of crawled data: stores whose data is faulty.

use tracing::{info, warn};

use crate::metrics;
use domain::store::StoreId;

pub fn quality_fault_began(store: StoreId, kind: &str, detail: &str) {
    warn!(store, kind, "Store {store}: {detail} ({kind})");
}

pub fn quality_fault_ended(store: StoreId, kind: &str) {
    info!(store, kind, "Store {store} is free of {kind} again");
}

/// `kind` has few values, so it may be a label.
pub fn quality_counted(kind: &str, stores: i64) {
    metrics::QUALITY_FINDINGS.with_label_values(&[kind]).set(stores);
}

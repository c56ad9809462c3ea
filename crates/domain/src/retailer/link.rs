//! `Link`: two stores that are one retailer, and why.

use super::Evidence;
use crate::store::StoreId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The smaller id first. One of the two may belong to a known retailer.
    pub stores: [StoreId; 2],
    /// The strongest first; then, where a person decides, also the differences.
    pub evidence: Vec<Evidence>,
}

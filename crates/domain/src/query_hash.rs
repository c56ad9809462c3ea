//! `QueryHash`: how a platform names a persisted query. A value; it must not know whether the hash works.

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QueryHash {
    pub operation: String,
    /// SHA-256, 64 hex digits.
    pub hash: String,
}

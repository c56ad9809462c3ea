//! Kinds of data that retention removes.

use super::vocabulary::vocabulary;

vocabulary! {
    pub enum RetentionKind {
        /// Ended tasks with their runs, counts by minute, the audit.
        EndedWork,
        /// Payloads with their files, snapshots, history of variants.
        CrawledData,
    }
}

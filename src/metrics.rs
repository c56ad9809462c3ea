//! The names, labels and buckets of the metrics that this process counts by itself.
//!
//! Names begin with `drover_`, units are base units, label sets are closed: never a task id, store, proxy, worker id or URL.

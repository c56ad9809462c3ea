-- products/snapshots/ensure_partitions.sql: creates the missing partitions of this month and the next; returns their
-- number.
SELECT ensure_snapshot_partitions(1);

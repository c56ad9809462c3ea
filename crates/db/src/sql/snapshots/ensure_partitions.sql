-- snapshots/ensure_partitions.sql: makes this month and the next where they are missing; answers with how many it made.
SELECT ensure_snapshot_partitions(1);

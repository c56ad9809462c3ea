-- schema/partitions/count_loose_snapshots.sql: rows from before $1 that no month's partition holds.
SELECT count(*) FROM store_product_snapshots_default WHERE crawled_at < $1;

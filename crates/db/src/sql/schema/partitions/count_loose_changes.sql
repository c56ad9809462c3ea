-- schema/partitions/count_loose_changes.sql: rows from before $1 that no month's partition holds.
SELECT count(*) FROM product_changes_default WHERE crawled_at < $1;

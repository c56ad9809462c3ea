-- schema/partitions/count_loose_history.sql: rows from before $1 that no month's partition holds.
SELECT count(*) FROM store_product_variant_history_default WHERE crawled_at < $1;

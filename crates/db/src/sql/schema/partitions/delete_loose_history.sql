-- schema/partitions/delete_loose_history.sql: deletes rows from before $1 that no month's partition holds. $2 at
-- most
DELETE FROM store_product_variant_history_default
 WHERE ctid = ANY (ARRAY (SELECT ctid FROM store_product_variant_history_default WHERE crawled_at < $1 LIMIT $2));

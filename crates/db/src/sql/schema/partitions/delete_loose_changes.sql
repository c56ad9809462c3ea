-- schema/partitions/delete_loose_changes.sql: deletes rows from before $1 that no month's partition holds. $2 at
-- most
DELETE FROM product_changes_default
 WHERE ctid = ANY (ARRAY (SELECT ctid FROM product_changes_default WHERE crawled_at < $1 LIMIT $2));

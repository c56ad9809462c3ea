-- schema/partitions/delete_old_crawls.sql: deletes notes of whole crawls from before $1. $2 at most
DELETE FROM whole_crawls
 WHERE ctid = ANY (ARRAY (SELECT ctid FROM whole_crawls WHERE crawled_at < $1 LIMIT $2));

-- schema/partitions/count_old_crawls.sql: notes of whole crawls from before $1.
SELECT count(*) FROM whole_crawls WHERE crawled_at < $1;

-- payloads/known.sql: the files of $1 that have a row, or had one that retention deleted.
SELECT storage_path FROM raw_crawl_payloads WHERE storage_path = ANY($1)
UNION ALL
SELECT storage_path FROM payload_removals WHERE storage_path = ANY($1);

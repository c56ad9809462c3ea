-- payloads/known.sql: which of the files $1 have a row.
SELECT storage_path FROM raw_crawl_payloads WHERE storage_path = ANY($1);

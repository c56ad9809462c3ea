-- payloads/newest_paths.sql: the storage paths of the newest payloads, at most $1
SELECT storage_path FROM raw_crawl_payloads ORDER BY id DESC LIMIT $1

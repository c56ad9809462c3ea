-- payloads/replays/keep.sql: the payloads of $1 that still exist, locked against removal until the transaction
-- ends.
SELECT id FROM raw_crawl_payloads WHERE id = ANY ($1) FOR KEY SHARE;

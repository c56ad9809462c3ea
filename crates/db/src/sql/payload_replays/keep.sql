-- payload_replays/keep.sql: which of the payloads $1 are still there. None of them goes until the transaction ends.
SELECT id FROM raw_crawl_payloads WHERE id = ANY ($1) FOR KEY SHARE;

-- payloads/lock.sql: locks the payloads of $1 until the transaction ends, except payloads that another
-- session keeps, such as one that queues their tasks.
SELECT id FROM raw_crawl_payloads WHERE id = ANY ($1) ORDER BY id FOR UPDATE SKIP LOCKED;

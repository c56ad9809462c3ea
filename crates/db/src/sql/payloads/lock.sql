-- payloads/lock.sql: those of the payloads $1 that no other session keeps, such as one that queues their tasks; locked until the
-- transaction ends.
SELECT id FROM raw_crawl_payloads WHERE id = ANY ($1) ORDER BY id FOR UPDATE SKIP LOCKED;

-- payloads/any.sql: whether any payload exists.
SELECT EXISTS (SELECT FROM raw_crawl_payloads);

-- payloads/any.sql: whether there is any payload.
SELECT EXISTS (SELECT FROM raw_crawl_payloads);

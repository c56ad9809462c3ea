-- $1 since
SELECT (SELECT count(*) FROM store_products) AS products,
       (SELECT count(*) FROM store_product_snapshots s JOIN raw_crawl_payloads p ON p.id = s.crawl_id WHERE p.fetched_at >= $1) AS snapshots,
       (SELECT count(*) FROM raw_crawl_payloads WHERE fetched_at >= $1) AS payloads,
       (SELECT coalesce(min(coverage), 0)::double precision FROM raw_crawl_payloads WHERE fetched_at >= $1) AS coverage,
       (SELECT coalesce(sum((detail->>'blocks')::bigint), 0)::bigint FROM task_attempts WHERE claimed_at >= $1) AS blocks,
       extract(epoch FROM now() - $1)::double precision AS seconds

-- demo_report/totals.sql: rows that a crawl wrote. $1 when it began.
SELECT (SELECT count(*) FROM store_products) AS products,
       (SELECT count(*) FROM store_product_snapshots
         -- by the index of block ranges: a demo that runs for hours has millions
         WHERE crawl_id >= (SELECT min(id) FROM raw_crawl_payloads WHERE fetched_at >= $1)) AS snapshots,
       (SELECT count(*) FROM raw_crawl_payloads WHERE fetched_at >= $1) AS payloads,
       (SELECT coalesce(min(coverage), 0)::double precision FROM raw_crawl_payloads WHERE fetched_at >= $1) AS coverage,
       (SELECT coalesce(sum((detail->>'blocks')::bigint), 0)::bigint FROM task_attempts WHERE claimed_at >= $1) AS blocks,
       extract(epoch FROM now() - $1)::double precision AS seconds

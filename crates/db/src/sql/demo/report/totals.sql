-- demo/report/totals.sql: rows that a crawl wrote. $1 when it began, $2 stores that are not counted
WITH fetched AS MATERIALIZED (
  SELECT id, coverage FROM raw_crawl_payloads WHERE fetched_at >= $1 AND dispensary_id <> ALL ($2::bigint[])
)
SELECT (SELECT count(*) FROM store_products WHERE dispensary_id <> ALL ($2)) AS products,
       (SELECT count(*) FROM store_product_snapshots
         -- by the index of block ranges: a demo that runs for hours has millions
         WHERE crawl_id >= (SELECT min(id) FROM fetched) AND crawl_id IN (SELECT id FROM fetched)) AS snapshots,
       (SELECT count(*) FROM fetched) AS payloads,
       (SELECT coalesce(min(coverage), 0)::double precision FROM fetched) AS coverage,
       (SELECT coalesce(sum((detail->>'blocks')::bigint), 0)::bigint FROM task_attempts WHERE claimed_at >= $1) AS blocks,
       extract(epoch FROM now() - $1)::double precision AS seconds
